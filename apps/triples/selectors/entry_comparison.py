"""Comparison of a file's entries with a project's triples, in chunks."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.common.database.bulk import chunks
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile as File
from apps.corpus.core.import_plans import until_broken
from apps.corpus.models import Corpus, Import, Snapshot, SnapshotBlock
from apps.queries.enums import Difficulty
from apps.queries.models import Query, Source
from apps.triples.core.evidence import spans_of
from apps.triples.enums import ENDED, State
from apps.triples.formats import EntryRecord
from apps.triples.formats.entry import EntryBlock, Evidence
from apps.triples.models import ImportedEntry, Triple
from apps.triples.selectors.draft_checks import BlockChoice, digest_of_choices, digest_of_revision
from apps.triples.selectors.triples import WITH_BLOCKS, newest_snapshot

CHUNK = 500
IMPORT_KIND = "triples"
NEW, CANDIDATE, UNCHANGED = "new drafts", "new candidates", "unchanged"
OWN_ID = re.compile(r"T-(\d{4,7})\Z")


class Pinned(NamedTuple):
    """A block in a snapshot."""

    version_id: int
    document_id: str
    pages: tuple[int, int] | None
    text: str


class ForAll(NamedTuple):
    """What is said of all entries of a file at once. It counts where an entry does not say it itself."""

    author: str = ""
    source: str = ""
    domain: str = ""
    difficulty: str = ""


class EntryChange(NamedTuple):
    """One entry compared with the project. The fields after `word` are those of its draft.

    `author` is the member who wrote it, or else the name of somebody outside; "" where nobody is named.
    """

    word: str
    row: EntryRecord
    snapshot: Snapshot
    blocks: tuple[BlockChoice, ...]
    digest: str
    author: User | str = ""
    source_id: int | None = None
    query_id: int | None = None
    domain: str = ""
    difficulty: str = ""


class AuthorsNamed:
    """The members of a project by the names and addresses that files give them."""

    def __init__(self, project: Project) -> None:
        self._members: dict[str, list[User]] = {}
        for member in members_of(project):
            for name in {member.name.strip().casefold(), member.email.casefold()}:
                self._members.setdefault(name, []).append(member)

    def find(self, name: str) -> User | str:
        """The member, or the name of somebody outside as it stands. Raises ValueError for a name that two have."""
        found = self._members.get(name.casefold(), [])
        if len(found) > 1:
            raise ValueError(f"{len(found)} members have this name; give the e-mail address instead")
        return found[0] if found else name


class EntryComparison:
    """The entries of one file against one project.

    `corpus` is used for entries that name no snapshot of the project. `machine` names what wrote every entry of the
    file; "" leaves it to the entries, and so does `for_all` with what it leaves empty.
    """

    def __init__(
        self,
        *,
        project: Project,
        file: File,
        errors: ErrorList,
        corpus: Corpus | None = None,
        machine: str = "",
        for_all: ForAll = ForAll(),  # noqa: B008 - a value that nobody changes
    ) -> None:
        self.project = project
        self.file = file
        self.errors = errors
        self.machine = machine
        self.corpus = corpus
        self.for_all = for_all
        self.authors = AuthorsNamed(project)
        self.newest = newest_snapshot(project, corpus.pk if corpus else None)
        self.sources = dict(Source.objects.filter(project=project).values_list("slug", "pk"))
        self.questions_seen = _questions_by_hash(project)
        self.foreign = _foreign_ids(project)
        self.first_lines: dict[str, int] = {}
        self._snapshot_named = lru_cache(maxsize=64)(self._find_snapshot)

    def changes(self, rows: Iterable[EntryRecord]) -> Iterator[list[EntryChange]]:
        for chunk in chunks(until_broken(rows, self.errors), CHUNK):
            loaded = _Chunk(self, chunk)
            compared = []
            for row in chunk:
                try:
                    compared.append(loaded.change(row))
                except InputError as error:
                    self.errors.add(error)
            yield loaded.marked_unchanged(compared)

    def snapshot_of(self, row: EntryRecord) -> Snapshot:
        """The snapshot that the entry names, or else the newest one of its corpus."""
        entry = row.entry
        snapshot = self._snapshot_named(entry.snapshot, "" if self.corpus else entry.corpus) or self.newest
        if snapshot is None:
            raise self.wrong(row, "snapshot", entry.snapshot, "no snapshot is frozen yet; freeze one first")
        return snapshot

    def _find_snapshot(self, digest: str, corpus: str) -> Snapshot | None:
        known = Snapshot.objects.filter(corpus__project=self.project).select_related("corpus")
        if self.corpus is not None:
            known = known.filter(corpus=self.corpus)
        if digest and (snapshot := known.filter(digest=digest).order_by("pk").first()):
            return snapshot
        return known.filter(corpus__slug=corpus).order_by("-frozen_at", "-pk").first() if corpus else None

    def wrong(self, row: EntryRecord, field: str, value: object, message: str) -> InputError:
        line = row.record.lines.get(field, row.record.line)
        return self.file.error(line, field, value, message)

    def warn(self, row: EntryRecord, field: str, value: object, message: str) -> None:
        self.errors.warn(self.wrong(row, field, value, message))

    def refuse_twice(self, row: EntryRecord, key: str, field: str, what: str) -> None:
        first = self.first_lines.setdefault(key, row.record.line)
        if first != row.record.line:
            raise self.wrong(row, field, row.entry.id, f"{what} is in the file twice, first in line {first}")


def _questions_by_hash(project: Project) -> dict[bytes, int]:
    """The number of a live triple by its question, hashed to eight bytes: there may be very many."""
    live = Triple.objects.filter(project=project).exclude(state__in=ENDED)
    rows = live.order_by("-number").values_list("number", "current__question").iterator(chunk_size=5_000)
    return {_folded(question or ""): number for number, question in rows}


def _folded(question: str) -> bytes:
    words = " ".join(question.casefold().split())
    return blake2b(words.encode(), digest_size=8).digest()


def _foreign_ids(project: Project) -> dict[str, int]:
    """The number of each triple imported under an id that is not Karat's, by that id."""
    rows = _imported_in(project).filter(claims__has_key="id")
    columns = rows.values_list("claims__id", "triple__number").iterator(chunk_size=5_000)
    return {outside: number for outside, number in columns if not OWN_ID.match(outside)}


def _imported_in(project: Project) -> QuerySet[ImportedEntry]:
    """The entries imported into a project, without those that went with an import that was undone."""
    undone = Import.objects.filter(
        project=project,
        kind=IMPORT_KIND,
        undone_at__isnull=False,
        applied_by=OuterRef("imported_by"),
        applied_at=OuterRef("imported_at"),
    )
    here = ~Exists(undone) | ~Q(triple__state=State.WITHDRAWN)
    return ImportedEntry.objects.filter(here, triple__project=project)


class _Chunk:
    """A few hundred rows with everything needed to compare them, read at once."""

    def __init__(self, whole: EntryComparison, rows: list[EntryRecord]) -> None:
        self.whole = whole
        self.project = whole.project
        self.pinned = self._pinned(rows)
        ids = {row.entry.query_id for row in rows if row.entry.query_id}
        queries = Query.objects.filter(project=self.project, outside_id__in=ids) if ids else Query.objects.none()
        self.queries = dict(queries.values_list("outside_id", "pk"))

    def _pinned(self, rows: list[EntryRecord]) -> dict[tuple[int, str], Pinned]:
        """The blocks that the rows name, by snapshot and id. A row without a snapshot is rejected by `change`."""
        wanted: dict[int, set[str]] = {}
        for row in rows:
            try:
                snapshot = self.whole.snapshot_of(row)
            except InputError:
                continue
            wanted.setdefault(snapshot.pk, set()).update(block.block_id for block in row.entry.blocks)
        blocks = {}
        for snapshot_id, ids in wanted.items():
            entries = SnapshotBlock.objects.filter(snapshot=snapshot_id, block__outside_id__in=ids)
            for outside, version, document, first, last, text in entries.values_list(
                "block__outside_id",
                "version_id",
                "block__document__outside_id",
                "version__page_start",
                "version__page_end",
                "version__text",
            ):
                pages = None if first is None else (first, last or first)
                blocks[snapshot_id, outside] = Pinned(version, document, pages, text)
        return blocks

    def change(self, row: EntryRecord) -> EntryChange:
        """The entry as a new draft. Raises InputError for what the project does not have."""
        entry, whole = row.entry, self.whole
        if entry.id:
            whole.refuse_twice(row, f"id {entry.id}", "id", "this id")
        snapshot = whole.snapshot_of(row)
        if entry.snapshot and snapshot.digest != entry.snapshot:
            message = (
                f"this snapshot does not exist here; the entry is pinned to {snapshot.corpus.name} {snapshot.name}"
            )
            whole.warn(row, "snapshot.digest", entry.snapshot, message)
        paths = [f"expected_blocks[{place}]" for place in range(1, len(entry.blocks) + 1)]
        if "expected_blocks" not in row.record.values:
            paths = ["expected_block"]
        choices = tuple(
            self._choice(row, block, path, snapshot) for block, path in zip(entry.blocks, paths, strict=True)
        )
        digest = digest_of_choices(
            entry.question,
            entry.expected_answer,
            entry.match,
            (
                (block.block_id, self.pinned[snapshot.pk, block.block_id].text, choice.spans)
                for block, choice in zip(entry.blocks, choices, strict=True)
            ),
        )
        whole.refuse_twice(row, digest, "question", "this entry")
        is_machine = bool(whole.machine) or entry.is_machine_written
        return EntryChange(
            word=CANDIDATE if is_machine else NEW,
            row=row,
            snapshot=snapshot,
            blocks=choices,
            digest=digest,
            source_id=self._source(row),
            query_id=self._query(row),
            domain=entry.domain or whole.for_all.domain,
            difficulty=entry.difficulty or whole.for_all.difficulty,
        )

    def _author(self, row: EntryRecord) -> User | str:
        name = row.entry.added_by or self.whole.for_all.author
        try:
            return self.whole.authors.find(name) if name else ""
        except ValueError as reason:
            field = "metadata.added_by" if row.entry.added_by else ""
            raise self.whole.wrong(row, field, name, str(reason)) from None

    def _choice(self, row: EntryRecord, block: EntryBlock, path: str, snapshot: Snapshot) -> BlockChoice:
        whole = self.whole
        pinned = self.pinned.get((snapshot.pk, block.block_id))
        if pinned is None:
            message = f"no passage has this id in {snapshot.corpus.name} {snapshot.name}"
            raise whole.wrong(row, f"{path}.block_id", block.block_id, message)
        if block.document_id and block.document_id != pinned.document_id:
            message = f"the passage {block.block_id} belongs to the document {pinned.document_id}"
            raise whole.wrong(row, f"{path}.document_id", block.document_id, message)
        if block.pages is not None and block.pages != pinned.pages:
            pages = f"{pinned.pages[0]} to {pinned.pages[1]}" if pinned.pages else "unknown"
            message = f"the pages of {block.block_id} are {pages} here"
            whole.warn(row, f"{path}.page_range", f"{block.pages[0]} to {block.pages[1]}", message)
        spans = tuple(
            self._span(row, passage, f"{path}.evidence[{place}]", block, pinned)
            for place, passage in enumerate(block.evidence, start=1)
        )
        return BlockChoice(pinned.version_id, spans)

    def _span(
        self, row: EntryRecord, passage: Evidence, path: str, block: EntryBlock, pinned: Pinned
    ) -> tuple[int, int]:
        if passage.start is not None and pinned.text[passage.start : passage.end] == passage.text:
            return passage.start, passage.start + len(passage.text)
        [span] = spans_of(pinned.text, [passage.text])
        if span is None:
            message = f"this evidence is not in the text of {block.block_id}"
            raise self.whole.wrong(row, path, passage.text, message)
        if passage.start is not None:
            message = f"this evidence is elsewhere in the text of {block.block_id}, from character {span[0]} on"
            self.whole.warn(row, f"{path}.start", passage.start, message)
        return span

    def _source(self, row: EntryRecord) -> int | None:
        entry, known = row.entry, self.whole.sources
        if entry.difficulty and entry.difficulty not in Difficulty.values:
            message = f"unknown difficulty; known are {', '.join(Difficulty.values)}"
            raise self.whole.wrong(row, "metadata.difficulty", entry.difficulty, message)
        if entry.source and entry.source not in known:
            message = f"no source has this name; there are: {', '.join(sorted(known)) or 'none yet'}"
            raise self.whole.wrong(row, "metadata.source", entry.source, message)
        return known.get(entry.source or self.whole.for_all.source)

    def _query(self, row: EntryRecord) -> int | None:
        wanted = row.entry.query_id
        if wanted and wanted not in self.queries:
            raise self.whole.wrong(row, "query_id", wanted, "no query of this project has this id")
        return self.queries.get(wanted)

    def marked_unchanged(self, changes: list[EntryChange]) -> list[EntryChange]:
        """The changes, with those marked as unchanged that were imported before or whose wording a live triple has.

        A new one also gets its author.
        """
        digests = {change.digest for change in changes}
        before = _imported_in(self.project).filter(digest__in=digests)
        existing = set(before.values_list("digest", flat=True)) | self._worded_alike(changes)
        marked = []
        for change in changes:
            if change.digest in existing:
                marked.append(change._replace(word=UNCHANGED))
                continue
            try:
                self._notice(change)
                marked.append(change._replace(author=self._author(change.row)) if change.word == NEW else change)
            except InputError as error:
                self.whole.errors.add(error)
        return marked

    def _worded_alike(self, changes: list[EntryChange]) -> set[str]:
        questions_seen = self.whole.questions_seen
        folded = (_folded(change.row.entry.question) for change in changes)
        numbers = {questions_seen[question] for question in folded if question in questions_seen}
        if not numbers:
            return set()
        triples = Triple.objects.filter(project=self.project, number__in=numbers)
        return {
            digest_of_revision(triple.revision)
            for triple in triples.select_related("current").prefetch_related(WITH_BLOCKS)
        }

    def _notice(self, change: EntryChange) -> None:
        """Add warnings about a new entry, and reject an id that has another wording here."""
        row, entry, whole = change.row, change.row.entry, self.whole
        if entry.id in whole.foreign:
            known = f"T-{whole.foreign[entry.id]:04d} was imported under this id with another wording"
            message = f"{known}; give the entry another id, or none"
            raise whole.wrong(row, "id", entry.id, message)
        folded = _folded(entry.question)
        if folded in whole.questions_seen:
            whole.warn(row, "question", entry.question, f"T-{whole.questions_seen[folded]:04d} has the same question")
            return
        first = whole.first_lines.setdefault(f"questions_seen {folded.hex()}", row.record.line)
        if first != row.record.line:
            whole.warn(row, "question", entry.question, f"the entry in line {first} has the same question")
