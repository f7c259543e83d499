"""Reads an upload of documents file by file, stores what was read, and cuts it into the rows of an import.

What was read of an uploaded file is stored beside it, until the import is discarded or a week has passed: another
recipe, and the import itself, need no second reading.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO, Any, NamedTuple

from django.conf import settings

from apps.common.errors import InputError, InputErrors
from apps.common.files.faults import ErrorList, fault
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.cutting import Passage, passages_of, words_in
from apps.corpus.core.document_tally import CutPassage, DocumentTally
from apps.corpus.core.documents import DEFAULT, Document, ReadingNote, Recipe, TableColumns, UnreadFile, recipe_of
from apps.corpus.core.import_plans import named_columns
from apps.corpus.core.outlines import outline_of
from apps.corpus.core.passage_ids import document_id, page_address
from apps.corpus.formats import document_readings
from apps.corpus.formats.document_readings import ReadCommit, ReadFile, as_line
from apps.corpus.formats.documents import DAMAGED, SourceFile, Unreadable
from apps.corpus.formats.documents.recognition import (
    HEAD_BYTES,
    ZIP,
    ending_of,
    recognise,
    text_ending,
    unread_reason,
)
from apps.corpus.formats.documents.records import SAID
from apps.corpus.formats.documents.registry import KINDS
from apps.corpus.formats.packages.unpacking import LIMITS, open_package
from apps.corpus.formats.rows import BlockRow
from apps.jobs.actions.uploads import FOLDER

log = logging.getLogger(__name__)

AUTO = "auto"
READING = ".reading"
"""The ending of a stored reading, the same as that of runs: whoever tidies up finds both."""
AT_ONCE_FILES = 200
AT_ONCE_BYTES = 2_000_000
AT_ONCE_SLOW = 3
SLOW_ENDINGS = frozenset({"pdf", "docx", "xlsx", "parquet"})
AT_ONCE_RST = 100_000
"""Bytes beside reStructuredText, which takes a second for 50,000 letters and holds the whole process meanwhile."""
AT_ONCE_READING = 700_000
"""Bytes of a stored reading: about 3 MB of text, which are cut in a second."""
IN_MEMORY = 8_000_000
MAY_BE_TEXT = "opencontrol"
"""The kind whose reader refuses most files of its ending: YAML is read as text where a person asks for it."""
NO_TEXT = "no text of its own"
TO_READ = frozenset({"markdown", "html", "rst", "asciidoc", "pdf", "docx"})
"""Kinds that only people read: none of them is a list or a table."""
SAME_ID = "same id as another file"
WHICH_TEXT = "each of these columns may be the text; say which one is"
PARTLY = "read without records whose id another record has"
ENDING = re.compile(r"[a-z0-9_+-]{1,20}")
MOST_ENDINGS = 200
"""Letters of a list of endings, as the corpus stores it."""
Progress = Callable[[int], None]


class Choices(NamedTuple):
    """How a person wants an upload read: the kind of its files, or "auto", and the address of their site.

    `also_text` lists the endings of files that are read as text where no reader knows them: "toml,yaml". `first_row`
    says what that of a table is, and `columns` what its columns are ("Inhalt=text,Nr=id"), where the person said so.
    """

    kind: str = AUTO
    base_url: str = ""
    also_text: str = ""
    first_row: str = ""
    columns: str = ""

    @classmethod
    def in_options(cls, options: Mapping[str, Any]) -> "Choices":
        rest = (options.get(name, "") for name in cls._fields[1:])
        return cls(options["format"], *rest)

    def reads_as_text(self, ending: str) -> bool:
        return bool(ending) and ending in self.also_text.split(",")

    def basis(self, path: Path) -> dict[str, str]:
        """What a stored reading of a file depends on. An upload has a name of its own and is never written again."""
        return {**self._asdict(), "file": f"{path.name} {path.stat().st_size}"}


def reading_path(upload: Path) -> Path:
    """The path of the stored reading of an uploaded file."""
    return upload.with_suffix(READING)


def kind_of(source: TableFile) -> str:
    """The kind of a file that is looked at before it is read; of one packed by gzip, its beginning is."""
    if source.is_gzip:
        return recognise(source.name.removesuffix(".gz"), BytesIO(source.head(HEAD_BYTES)))
    with source.seekable(LIMITS.file_bytes) as stream:
        return recognise(source.name, stream)


def refuse_document(source: TableFile, what: str) -> None:
    """Raise InputError for a document where a list or a table is imported; `what` is in the list."""
    try:
        kind = kind_of(source)
    except InputError:  # damaged, which its reader says
        return
    if kind in TO_READ:
        title = KINDS[kind].title
        raise source.error(
            None,
            "",
            "",
            f"this is a document ({title}), not a list of {what}; import it under Documents, or say its form",
        )


def is_archive(source: TableFile) -> bool:
    """Whether a file is several files packed as one, a folder for example."""
    return not source.is_gzip and kind_of(source) == ZIP


def is_read_at_once(path: Path, name: str, choices: Choices) -> bool:
    """Whether an upload is small enough to read, or what was read to cut again, in the request: by what is in it."""
    stored = reading_path(path)
    if document_readings.is_stored(stored, choices.basis(path)):
        return stored.stat().st_size <= AT_ONCE_READING
    try:
        with open_package(path, name) as package:
            slow = sum(ending_of(each) in SLOW_ENDINGS for each in package.paths)
            has_rst = any(ending_of(each) == "rst" for each in package.paths)
            few = len(package.paths) <= AT_ONCE_FILES and slow <= AT_ONCE_SLOW
            return few and package.bytes <= (AT_ONCE_RST if has_rst else AT_ONCE_BYTES)
    except InputError:
        return True  # reading it says what is wrong


@contextmanager
def documents_in(
    source: TableFile, choices: Choices, progress: Progress = lambda files: None
) -> Iterator[Iterator[document_readings.Item]]:
    """What is in a file: of an upload from its stored reading, which is made when there is none.

    A file elsewhere is read into a temporary one. `progress` gets the number of files read.
    """
    path = _path_of(source)
    basis = choices.basis(path)
    with TemporaryDirectory(prefix="karat-") as folder:
        is_upload = path.is_relative_to(Path(settings.MEDIA_ROOT) / FOLDER)
        stored = reading_path(path) if is_upload else Path(folder) / "documents"
        if not document_readings.is_stored(stored, basis):
            document_readings.store(stored, _lines(path, source.name, choices, progress), basis)
        yield document_readings.items(stored)


def _path_of(source: TableFile) -> Path:
    if source.path is None:
        raise source.error(None, "", "", "documents are read from a file on disk")
    return source.path


def _lines(path: Path, name: str, choices: Choices, progress: Progress) -> Iterator[bytes]:
    with open_package(path, name) as package:
        if package.commit:
            yield as_line(ReadCommit(package.commit))
        for number, file in enumerate(package.files(), start=1):
            if isinstance(file, UnreadFile):
                yield as_line(file)
            else:
                yield from _file_lines(file, choices)
            progress(number)
        yield from map(as_line, package.hidden())


def _file_lines(file: SourceFile, choices: Choices) -> Iterator[bytes]:
    """The lines of one file, all or none: what a reader has made is let go when it fails."""
    head = file.stream.read(HEAD_BYTES)
    file.stream.seek(0)
    kind = recognise(file.path, file.stream) if choices.kind == AUTO else choices.kind
    ending = text_ending(file.path, head) if choices.kind == AUTO and kind in {"", MAY_BE_TEXT} else ""
    if choices.reads_as_text(ending) and kind == "":
        kind = "text"
    if kind not in KINDS:
        yield as_line(UnreadFile(file.path, unread_reason(file.path, head), ending))
        return
    address = page_address(choices.base_url, file.path) if choices.base_url else ""
    said = named_columns(choices.columns, SAID)
    file = file._replace(address=address, first_row=choices.first_row, columns=said)
    with SpooledTemporaryFile(max_size=IN_MEMORY) as lines:
        try:
            try:
                _write_read(file, kind, lines)
            except Unreadable:
                if kind != MAY_BE_TEXT or not choices.reads_as_text(ending):
                    raise
                kind = "text"
                file.stream.seek(0)
                _write_read(file, kind, lines)
        except Unreadable as reason:
            yield as_line(UnreadFile(file.path, reason.reason, ending))
        except InputError as error:
            yield as_line(error)
        except InputErrors as errors:
            yield from map(as_line, errors.errors)
        except Exception:
            log.exception("A reader failed on a file of kind %s.", kind)
            yield as_line(UnreadFile(file.path, DAMAGED))
        else:
            yield as_line(ReadFile(file.path, kind))
            lines.seek(0)
            yield from lines


def _write_read(file: SourceFile, kind: str, lines: IO[bytes]) -> None:
    """Write what the reader makes of a file, in place of anything there."""
    lines.seek(0)
    lines.truncate()
    for item in KINDS[kind].read(file):
        lines.write(as_line(item))


class DocumentRows:
    """The rows of an upload of documents, cut by a recipe. After they are taken, `tally` has the figures.

    `recipe` is "" when every file brings its own passages, so that there was nothing to cut.
    """

    def __init__(
        self,
        items: Iterator[document_readings.Item],
        recipe: Recipe,
        base_url: str,
        name: str,
        errors: ErrorList,
        *,
        beside: Iterable[Recipe] = (),
    ) -> None:
        """`beside` are recipes whose passages are counted too."""
        self.beside: Counter[str] = Counter()
        self._beside = [each for each in beside if each != recipe]
        self.tally = DocumentTally()
        self.commit = ""
        self._items = items
        self._recipe = recipe
        self._base_url = base_url
        self._name = name
        self._errors = errors
        self._documents: set[str] = set()
        self._is_cut = False
        self._left_out = self._is_asked = False

    @property
    def recipe(self) -> str:
        return str(self._recipe) if self._is_cut else ""

    def __iter__(self) -> Iterator[BlockRow]:
        file: ReadFile | None = None
        rows = 0
        for item in self._items:
            if isinstance(item, ReadFile):
                self._close(file, rows)
                file, rows, self._left_out, self._is_asked = item, 0, False, False
            elif isinstance(item, TableColumns):
                self._is_asked = self._take_columns(item)
            elif isinstance(item, Document | BlockRow):
                assert file is not None
                for row in self._rows(item, file.kind):
                    rows += 1
                    yield row
            else:
                self._note(item)
        self._close(file, rows)
        if not self.tally.files_read and not self._errors:
            self._errors.add(fault(self._name, None, "", "", self._nothing()))

    def notes(self) -> list[str]:
        """What a person should know of how it was read."""
        notes = [f"Git commit {self.commit}."] if self.commit else []
        for words, number in (+self.tally.notes).most_common():
            notes.append(f"{plural(number, 'file')} {words}.")
        return notes

    def as_json(self) -> dict[str, Any]:
        titles = {name: kind.title for name, kind in KINDS.items()}
        counts = {**self.beside, str(self._recipe): self.tally.passages}
        return {"recipe": self.recipe, "recipe_counts": counts, "commit": self.commit, **self.tally.as_json(titles)}

    def _note(self, item: document_readings.Item) -> None:
        if isinstance(item, UnreadFile):
            self.tally.add_unread(*item)
        elif isinstance(item, ReadingNote):
            self.tally.notes[item.words] += 1
        elif isinstance(item, ReadCommit):
            self.commit = item.commit
        elif isinstance(item, InputError):
            self._errors.add(item)

    def _take_columns(self, table: TableColumns) -> bool:
        """Keep what the columns were taken for; whether it has to be asked, which is a mistake until it is said."""
        self.tally.add_columns(table)
        if not table.rivals:
            self.tally.notes[table.words] += 1
        else:
            columns = ", ".join([table.roles["text"], *table.rivals])
            self._errors.add(fault(table.path, None, "text", columns, WHICH_TEXT))
        return bool(table.rivals)

    def _close(self, file: ReadFile | None, rows: int) -> None:
        """Count a file when all its rows have been taken."""
        if file is None or self._is_asked:
            return
        if rows:
            self.tally.add_file(file.kind)
            self.tally.notes[PARTLY] += self._left_out
        else:
            self.tally.add_unread(file.path, SAME_ID if self._left_out else NO_TEXT)

    def _rows(self, item: Document | BlockRow, kind: str) -> Iterator[BlockRow]:
        if isinstance(item, BlockRow):
            self.tally.add_passage(_as_counted(item, kind))
            self.beside.update(map(str, self._beside))
            yield item
            return
        name = document_id(item.path)
        if name in self._documents:
            self._left_out = True
            return
        self._documents.add(name)
        self._is_cut = True
        if item.note:
            self.tally.notes[item.note] += 1
        units = outline_of(item)
        for recipe in self._beside:
            self.beside[str(recipe)] += sum(1 for _ in passages_of(item, recipe, units))
        for passage in passages_of(item, self._recipe, units):
            row = _row(item, name, passage, self._base_url)
            self.tally.add_passage(_as_counted(row, kind, passage))
            yield row

    def _nothing(self) -> str:
        if not self.tally.files_unread:
            return "there is no file in it"
        return f"none of its files can be read ({self.tally.unread_words()})"


def endings_in(written: str) -> str:
    """A list of file endings as it is stored, sorted: "toml,yaml" of ".yaml, toml". Raises ValueError."""
    endings = {each.strip().lstrip(".").lower() for each in written.split(",") if each.strip()}
    for ending in sorted(endings):
        if not ENDING.fullmatch(ending):
            raise ValueError(f"{ending or 'This'} is not the ending of a file's name, such as yaml or toml.")
    if len(found := ",".join(sorted(endings))) > MOST_ENDINGS:
        raise ValueError("These are too many endings. Read all files as text instead.")
    return found


def recipe_in(options: Mapping[str, Any]) -> Recipe:
    """The recipe of an import's options; the usual one where they are older than recipes."""
    return recipe_of(options.get("recipe") or str(DEFAULT))


def _row(document: Document, name: str, passage: Passage, base_url: str) -> BlockRow:
    anchor = f"page={passage.page_start}" if document.page_starts else passage.anchor
    address = {"url": page_address(base_url, document.path, anchor)} if base_url else {}
    return BlockRow(
        line=0,
        block_id=passage.passage_id,
        document_id=name,
        title=passage.title,
        text=passage.text,
        section_path=passage.section_path,
        page_start=passage.page_start,
        page_end=passage.page_end,
        metadata=document.metadata | address,
        document_title=document.title,
    )


def _as_counted(row: BlockRow, kind: str, passage: Passage | None = None) -> CutPassage:
    return CutPassage(
        row.block_id,
        row.document_id,
        row.title,
        row.section_path,
        row.text,
        row.page_start,
        row.page_end,
        kind,
        words_in(row.text),
        passage is not None and passage.has_table,
        passage is not None and passage.has_code,
        passage is None,
    )
