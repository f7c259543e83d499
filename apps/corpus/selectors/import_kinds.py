"""The kinds of imports, each registered by the layer `imports` of its app, and the columns remembered for tables."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from django.http import Http404

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.digests import digest_of_lines
from apps.common.discovery import load_layers
from apps.common.files.anytable import in_utf8, is_packed_table
from apps.common.files.filekinds import ZIP_STARTS
from apps.common.files.linefiles import Extent, is_within
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.import_plans import ColumnRole, Fix, ImportPlan, TableChoice, propose_columns
from apps.corpus.models import Corpus, Import, RememberedColumns, Snapshot
from apps.jobs.enums import PASSING_UPLOADS


class SettledChoice(NamedTuple):
    """The choice that counts, and whether it is that of an earlier table."""

    choice: TableChoice
    is_remembered: bool


def headings_digest(headings: Sequence[str]) -> str:
    """What two tables with the same headings, in any order, have in common."""
    return digest_of_lines(sorted(heading.casefold() for heading in headings))


def are_remembered(project: Project, kind: str, headings: Sequence[str]) -> bool:
    """Whether an earlier table had these headings, and its columns were remembered."""
    digest = headings_digest(headings)
    return RememberedColumns.objects.filter(project=project, kind=kind, headings=digest).exists()


def settled_choice(
    project: Project,
    kind: str,
    roles: Sequence[ColumnRole],
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    options: Mapping[str, Any],
    *,
    known: Mapping[str, str] = MappingProxyType({}),
    is_headless: bool = False,
) -> SettledChoice:
    """The choice in the options where it is for these headings, else the remembered one, else a proposal.

    A choice for some of the headings goes before what the form of the file says of them (`known`), and both before what
    is proposed for the others. Of those no role is proposed a second time, and none of several columns beside the one
    that excludes it.
    """
    given = TableChoice.from_json(options.get("table") or {})
    if set(given.columns) == set(headings):
        return SettledChoice(_in_order(given, headings), is_remembered=False)
    stored = RememberedColumns.objects.filter(project=project, kind=kind, headings=headings_digest(headings)).first()
    if stored and not given.columns and set((earlier := TableChoice.from_json(stored.choice)).columns) == set(headings):
        choice = replace(earlier, sheet=given.sheet, answers=())
        return SettledChoice(_in_order(choice, headings), is_remembered=True)
    proposed = propose_columns(roles, headings, rows, is_headless=is_headless)
    many = {role.name for role in roles if role.is_many}
    excluded_by = {role.name: role.not_with if role.is_many else role.name for role in roles}
    chosen = {role for role in given.columns.values() if role not in many}
    named = {heading: role for heading, role in known.items() if role not in chosen} | dict(given.columns)
    named = {heading: role for heading, role in named.items() if heading in proposed}
    taken = {*named.values()} - {""}
    free = {heading: "" if excluded_by.get(role) in taken else role for heading, role in proposed.items()}
    return SettledChoice(replace(given, columns=free | named), is_remembered=False)


def _in_order(choice: TableChoice, headings: Sequence[str]) -> TableChoice:
    """The choice with its columns in the order of the table, which a database may not keep."""
    return replace(choice, columns={heading: choice.columns[heading] for heading in headings})


Progress = Callable[[int], None]
READ_AT_ONCE = Extent(4_000_000, 50_000)
WORKBOOK_AT_ONCE_BYTES = 500_000
ZIP_AT_ONCE_BYTES = 100_000


class FormatExample(NamedTuple):
    """An example of a file format: its name, a sentence, a few lines."""

    name: str
    words: str
    sample: str


class SampleFile(NamedTuple):
    """A file to download and try: its name in `static/samples`, and what it is.

    `to_begin` marks those that fit together, for a project with nothing of its own.
    """

    name: str
    words: str
    to_begin: bool = False

    @property
    def path(self) -> str:
        return f"samples/{self.name}"


class FileToImport(NamedTuple):
    """A file, the project that it goes into, and the options of its form."""

    project: Project
    source: TableFile
    options: dict[str, Any]

    def in_utf8(self) -> "FileToImport":
        """The same, of text in UTF-16."""
        return self._replace(source=in_utf8(self.source))


class ImportKind:
    """How one kind of file is previewed and applied.

    `preview` writes nothing. `apply` runs inside a transaction and raises InputErrors when the file has mistakes. Both
    read the file from its beginning, so that the file is applied and not the preview; `apply` takes what `prepared`
    made of it before the transaction, where that still `fits`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    one: ClassVar[str]
    many: ClassVar[str]
    on_pages: ClassVar[str] = ""
    """The noun on pages, singular and plural, where it differs from that of commands and files: "passage,passages"."""
    section: ClassVar[str]
    examples: ClassVar[tuple[FormatExample, ...]] = ()
    samples: ClassVar[tuple[SampleFile, ...]] = ()
    roles: ClassVar[tuple[str, ...]] = (Role.LEAD,)
    undoing: ClassVar[str]
    """What undoing an import does, as a sentence."""
    undone_until: ClassVar[str]
    """Until when an import can be undone, in words."""
    undone: ClassVar[str]
    """What has become of what an undone import had changed, as a sentence."""
    form_class: ClassVar[type[Any]]
    """A subclass of `corpus.forms.ImportForm`."""

    columns_page: ClassVar[str] = "corpus/import_columns.html"
    """The template of the page on which the columns of a table are chosen."""
    beside_columns: ClassVar[tuple[str, ...]] = ()
    """The options of `form_class` that stand on that page too. To change them is no reason to read the file again."""

    @property
    def keeps_file(self) -> bool:
        """Whether the uploaded file stays as evidence, and is not deleted with its last attempt, applied or not."""
        return self.name not in PASSING_UPLOADS

    @property
    def contents(self) -> str:
        """What files of this kind hold, in the words of the pages: "documents", "Q&As"."""
        return self.title.removeprefix("Import ")

    def preview(self, file: FileToImport, progress: Progress) -> ImportPlan:
        raise NotImplementedError

    @contextmanager
    def prepared(self, file: FileToImport, *, actor: User, at: datetime) -> Iterator[Any]:
        """What can be made of the file before the transaction that applies it; None for what is small or quick.

        On SQLite, where nobody else writes during that transaction, so that it is short.
        """
        yield None

    def page_context(self, item: Import) -> dict[str, Any]:
        """What the page of the columns shows beside the table."""
        return {}

    def fits(self, project: Project, options: dict[str, Any], prepared: Any) -> bool:
        """Whether what was prepared would be the same now."""
        return True

    def still_fitting(self, project: Project, options: dict[str, Any], prepared: Any) -> Any:
        """What was prepared, or None when it does not fit any more. Ask in the transaction, before it writes."""
        return prepared if prepared is not None and self.fits(project, options, prepared) else None

    def apply(self, file: FileToImport, *, actor: User, at: datetime, prepared: Any = None) -> ImportPlan:
        raise NotImplementedError

    def fixes(self, source: TableFile, options: dict[str, Any]) -> list[Fix]:
        """Other options for a file that has mistakes when read with these. The source is at its beginning."""
        return []

    def is_read_at_once(self, path: Path, name: str, options: dict[str, Any]) -> bool:
        """Whether an upload with this name is small enough to read in the request; a packed table grows."""
        with open_source(path, name=name) as source:
            most = None
            if not source.is_gzip and is_packed_table(source):
                most = WORKBOOK_AT_ONCE_BYTES
            elif not source.is_gzip and source.head(4) in ZIP_STARTS:
                most = ZIP_AT_ONCE_BYTES
        return is_within(path, READ_AT_ONCE) and (most is None or path.stat().st_size <= most)

    def before(self, project: Project, options: dict[str, Any], prepared: Any = None) -> Any:
        """What an import is about to change, for `remember`. None for kinds that find it by themselves."""
        return None

    def remember(self, item: Import, before: Any) -> None:
        """Store what an import that was just applied has changed, so that it can be undone."""

    def undo_refusal(self, item: Import) -> str | None:
        """Why an applied import cannot be undone; the usual reason is that something rests on it."""
        raise NotImplementedError

    def undo(self, item: Import, *, actor: User, at: datetime) -> None:
        """Put back what an import has changed, in the caller's transaction. Raises ImportRefused."""
        raise NotImplementedError

    def untouched(self, item: Import) -> int:
        """How many of what an applied import made nobody has touched, where they can be taken back without the rest."""
        return 0

    def undo_untouched(self, item: Import, *, actor: User, at: datetime) -> int:
        """Take those back, in the caller's transaction; returns how many stay. Raises ImportRefused."""
        raise NotImplementedError

    def what_became(self, item: Import) -> str:
        """What has become of what an undone import had changed."""
        return self.undone

    @property
    def forms(self) -> str:
        """The noun, singular and plural, for templates: "query,queries"."""
        return self.on_pages or f"{self.one},{self.many}"

    def target(self, project: Project, options: dict[str, Any]) -> str:
        """The target of the import in words: "the corpus Handbook"."""
        return project.name

    def earlier(self, project: Project, options: dict[str, Any]) -> Snapshot | None:
        """The snapshot whose next edition the import would make; None for most kinds."""
        return None

    def edition_of(self, item: Import) -> Corpus | None:
        """The corpus of which an applied import made a new edition that is not frozen yet; None for most kinds."""
        return None

    def done_url(self, item: Import) -> str:
        """The page to show after the import."""
        raise NotImplementedError


_kinds: dict[str, ImportKind] = {}


def register(kind: type[ImportKind]) -> type[ImportKind]:
    _kinds[kind.name] = kind()
    return kind


def kind_named(name: str) -> ImportKind:
    """The kind, or Http404: the name comes from a URL."""
    _load_all()
    if name not in _kinds:
        raise Http404("No such kind of import.")
    return _kinds[name]


@cache
def _load_all() -> None:
    load_layers("imports")
