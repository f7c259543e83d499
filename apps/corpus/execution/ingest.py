"""Compares a file's blocks with a corpus, and imports them. Works in chunks, never row by row."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection

from apps.common.database.bulk import chunks
from apps.common.database.prepared import Writes
from apps.common.database.scratch import FirstLines, Scratch
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import ImportPlan, until_broken
from apps.corpus.core.passage_ids import BlockDigests, metadata_digest
from apps.corpus.enums import ImportMode
from apps.corpus.formats.rows import BlockRow, digests_of
from apps.corpus.models import Block, BlockVersion, Corpus, Document

CHUNK = 2_000
WORDS = ["new", "changed", "unchanged", "gone"]
VERSION_COLUMNS = (
    "id", "block_id", "digest", "text_digest", "metadata_digest", "title", "section_path", "page_start", "page_end",
    "text", "metadata", "created_at", "redaction_reason",
)  # fmt: skip
Progress = Callable[[int], None]


class KnownBlock(NamedTuple):
    """A block of the corpus: its keys, and the digest of its current text, None when it was removed."""

    pk: int
    document_id: str
    document_title: str
    digest: str | None
    metadata_digest: str | None


class BlockChange(NamedTuple):
    row: BlockRow
    digests: BlockDigests
    metadata_digest: str
    known: KnownBlock | None
    word: str

    @property
    def name(self) -> tuple[str, str]:
        """What distinguishes this version of a block from its others."""
        return self.digests.version, self.metadata_digest

    @property
    def keeps_its_words(self) -> bool:
        """Whether only ungraded content has changed: metadata, or the document's title."""
        return self.word == "changed" and self.known is not None and self.known.digest == self.digests.version


def plan_blocks(
    *,
    corpus: Corpus | None,
    rows: Iterable[BlockRow],
    source: TableFile,
    errors: ErrorList,
    mode: str,
    progress: Progress = lambda done: None,
) -> ImportPlan:
    """The plan of importing these rows; writes nothing. `corpus` is None for a new one."""
    plan, mistakes = ImportPlan(WORDS), ErrorList()

    def gone() -> int:
        if corpus is None or mode != ImportMode.REPLACE:
            return 0
        current = Block.objects.filter(corpus=corpus, current__isnull=False)
        return current.count() - plan.counts["changed"] - plan.counts["unchanged"]

    for _ in _counted(plan, corpus, _compared(corpus, rows, source, errors, mistakes), gone):
        progress(plan.rows)
    errors.absorb(mistakes)
    plan.take_errors(errors)
    return plan


class BlockIntake:
    """The rows of a file on their way into a corpus: compared with it as it is when they are read, then stored.

    With writes that are prepared, `read` needs no transaction; `store` always does, with the corpus locked. Nothing is
    written of a file with mistakes.
    """

    def __init__(self, corpus: Corpus, writes: Writes, *, mode: str, at: datetime) -> None:
        self.corpus = corpus
        self.plan = ImportPlan(WORDS)
        self._writes = writes
        self._mode = mode
        self._made_at = BlockVersion._meta.get_field("created_at").get_db_prep_save(at, connection)
        self._current = Scratch("CREATE TABLE current (block INTEGER PRIMARY KEY);")
        self._documents = Documents(corpus)

    def read(self, rows: Iterable[BlockRow], source: TableFile, errors: ErrorList) -> None:
        """Compare all rows, and write or prepare what changes."""
        blocks = Block.objects.filter(corpus=self.corpus, current__isnull=False).values_list("pk")
        self._current.write("INSERT INTO current VALUES (?)", blocks.iterator(CHUNK))
        mistakes = ErrorList()
        parts = _compared(self.corpus, rows, source, errors, mistakes, self._documents)
        for part in _counted(self.plan, self.corpus, parts, self._gone):
            known = [(change.known.pk,) for change in part if change.known is not None]
            self._current.write("DELETE FROM current WHERE block = ?", known)
            if not (errors or mistakes):
                self._write(part)
                self._writes.check()
        errors.absorb(mistakes)
        self.plan.take_errors(errors)

    def _gone(self) -> int:
        return self._current.value("SELECT COUNT(*) FROM current") if self._mode == ImportMode.REPLACE else 0

    def is_valid(self) -> bool:
        """Whether what was prepared may still be written, so far as keys go."""
        return self._writes.is_valid()

    def store(self) -> None:
        """Make the writes, and remove the blocks that a file of the whole corpus does not contain."""
        self._writes.make()
        if self._mode == ImportMode.REPLACE:
            for gone in chunks(self._current.read("SELECT block FROM current ORDER BY block"), CHUNK):
                Block.objects.filter(pk__in=[block for (block,) in gone]).update(current=None)

    def _write(self, changes: list[BlockChange]) -> None:
        documents = self._documents.keys_of([change.row for change in changes], self._writes)
        altered = [change for change in changes if change.word != "unchanged"]
        self._repoint([change for change in altered if change.known is not None])
        self._insert([change for change in altered if change.known is None], documents)

    def _insert(self, changes: list[BlockChange], documents: dict[str, int]) -> None:
        """Insert new blocks with their first versions. Foreign keys are checked afterwards: the order is free."""
        block_ids = self._writes.reserve(Block, len(changes))
        version_ids = self._writes.reserve(BlockVersion, len(changes))
        self._writes.insert(
            Block,
            ["id", "corpus_id", "document_id", "outside_id", "current_id"],
            [
                (block, self.corpus.pk, documents[change.row.document_id], change.row.block_id, version)
                for block, version, change in zip(block_ids, version_ids, changes, strict=True)
            ],
        )
        self._insert_versions(zip(version_ids, block_ids, changes, strict=True))

    def _repoint(self, changes: list[BlockChange]) -> None:
        """Set the current version of known blocks: an earlier one when the text is the same, else a new one."""
        wanted = {change.known.pk: change for change in changes if change.known is not None}
        if not wanted:
            return
        earlier = {
            (block, (digest, facts)): version
            for version, block, digest, facts in BlockVersion.objects.filter(
                block__in=list(wanted), digest__in=[change.digests.version for change in changes]
            ).values_list("pk", "block_id", "digest", "metadata_digest")
        }
        fresh = [block for block, change in wanted.items() if (block, change.name) not in earlier]
        version_ids = dict(zip(fresh, self._writes.reserve(BlockVersion, len(fresh)), strict=True))
        self._insert_versions([(version_ids[block], block, wanted[block]) for block in fresh])
        self._writes.update(
            "UPDATE corpus_block SET current_id = %s WHERE id = %s",
            [(version_ids.get(block) or earlier[block, change.name], block) for block, change in wanted.items()],
        )

    def _insert_versions(self, versions: Iterable[tuple[int, int, BlockChange]]) -> None:
        self._writes.insert(
            BlockVersion,
            VERSION_COLUMNS,
            [_version(version, block, change, self._made_at) for version, block, change in versions],
        )


class Documents:
    """The documents that an import has met: their keys and titles as they will be after what it has written so far."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._met = Scratch("CREATE TABLE met (outside_id TEXT PRIMARY KEY, document INTEGER, title TEXT);")
        self._has_stored = Document.objects.filter(corpus=corpus).exists()

    def met(self, names: Iterable[str]) -> dict[str, tuple[int, str]]:
        """Key and title, by outside id, of those of these documents that were met."""
        rows = self._met.read(
            "SELECT outside_id, document, title FROM met WHERE outside_id IN (SELECT value FROM json_each(?))",
            [json.dumps([*names])],
        )
        return {outside_id: (document, title) for outside_id, document, title in rows}

    def keys_of(self, rows: list[BlockRow], writes: Writes) -> dict[str, int]:
        """Keys of the rows' documents by outside id. Creates missing ones and updates given titles."""
        titles: dict[str, str] = {}
        for row in rows:
            titles[row.document_id] = row.document_title or titles.get(row.document_id, "")
        known = self.met(titles)
        known |= self._stored([outside_id for outside_id in titles if outside_id not in known])
        renamed = {
            outside_id: (document, titles[outside_id])
            for outside_id, (document, title) in known.items()
            if titles[outside_id] not in {"", title}
        }
        missing = [outside_id for outside_id in titles if outside_id not in known]
        made = dict(zip(missing, writes.reserve(Document, len(missing)), strict=True))
        writes.update(
            "UPDATE corpus_document SET title = %s WHERE id = %s",
            [(title, document) for document, title in renamed.values()],
        )
        writes.insert(
            Document,
            ["id", "corpus_id", "outside_id", "title"],
            [(document, self._corpus.pk, outside_id, titles[outside_id]) for outside_id, document in made.items()],
        )
        new = {outside_id: (document, titles[outside_id]) for outside_id, document in made.items()}
        known |= renamed | new
        self._met.write(
            "INSERT OR REPLACE INTO met VALUES (?, ?, ?)", ((name, *found) for name, found in known.items())
        )
        return {outside_id: document for outside_id, (document, _) in known.items()}

    def _stored(self, names: list[str]) -> dict[str, tuple[int, str]]:
        if not names or not self._has_stored:
            return {}
        documents = Document.objects.filter(corpus=self._corpus, outside_id__in=names)
        rows = documents.values_list("outside_id", "pk", "title")
        return {outside_id: (document, title) for outside_id, document, title in rows}


def _has_common_documents(corpus: Corpus | None, changes: list[BlockChange]) -> bool:
    """Whether a document of these rows is in the corpus already. Ask before they are written."""
    if any(change.known for change in changes):
        return True
    names = {change.row.document_id for change in changes}
    return corpus is not None and Document.objects.filter(corpus=corpus, outside_id__in=names).exists()


def _counted(
    plan: ImportPlan, corpus: Corpus | None, parts: Iterable[list[BlockChange]], gone: Callable[[], int]
) -> Iterator[list[BlockChange]]:
    """The parts, each counted in the plan before it is written, and in the end the blocks that are `gone`."""
    wordless, has_common = 0, False
    for part in parts:
        has_common = has_common or _has_common_documents(corpus, part)
        for change in part:
            wordless += change.keeps_its_words
            plan.add(change.word, change.row.block_id, change.row.title, change.row.text)
        yield part
    plan.counts["gone"] = gone()
    plan.removes_all = bool(plan.rows and plan.counts["gone"]) and not has_common
    if wordless:
        have = plural(wordless, "changed passage has", "changed passages have")
        plan.notes.append(f"{have} the same words and place as before: only metadata or a document's title differs.")


def _compared(
    corpus: Corpus | None,
    rows: Iterable[BlockRow],
    source: TableFile,
    errors: ErrorList,
    mistakes: ErrorList,
    documents: Documents | None = None,
) -> Iterator[list[BlockChange]]:
    """The rows in parts, each compared with the corpus. `errors` are of reading them, `mistakes` of comparing."""
    has_blocks = corpus is not None and corpus.blocks.exists()
    first_lines = FirstLines()
    for part in chunks(until_broken(rows, errors), CHUNK):
        doubled = first_lines.take([(row.block_id, row.line) for row in part])
        known = _known_blocks(corpus, [row.block_id for row in part]) if corpus and has_blocks else {}
        if documents is not None:
            known = _retitled(known, documents)
        changes = []
        for place, row in enumerate(part):
            try:
                if place in doubled:
                    raise _twice(row, doubled[place], source)
                changes.append(_compare(row, known.get(row.block_id), source))
            except InputError as error:
                mistakes.add(error)
        yield changes


def _known_blocks(corpus: Corpus, ids: list[str]) -> dict[str, KnownBlock]:
    blocks = Block.objects.filter(corpus=corpus, outside_id__in=ids)
    columns = blocks.values_list(
        "outside_id", "pk", "document__outside_id", "document__title", "current__digest", "current__metadata_digest"
    )
    return {
        outside_id: KnownBlock(pk, document, title, digest, facts)
        for outside_id, pk, document, title, digest, facts in columns
    }


def _retitled(known: dict[str, KnownBlock], documents: Documents) -> dict[str, KnownBlock]:
    """The blocks with the titles that their documents have by now."""
    met = documents.met({block.document_id for block in known.values()}) if known else {}
    return {
        name: block._replace(document_title=met[block.document_id][1]) if block.document_id in met else block
        for name, block in known.items()
    }


def _twice(row: BlockRow, first: int, source: TableFile) -> InputError:
    message = "the block is in the file twice" + (f", first in line {first}" if first else "")
    return source.error(row.line, "block_id", row.block_id, message)


def _compare(row: BlockRow, known: KnownBlock | None, source: TableFile) -> BlockChange:
    digests, facts = digests_of(row), metadata_digest(row.metadata)
    if known is None:
        return BlockChange(row, digests, facts, None, "new")
    if known.document_id != row.document_id:
        message = f"the block belongs to document {known.document_id} for good; give it another id to move it"
        raise source.error(row.line, "document_id", row.document_id, message)
    if known.digest is None:
        return BlockChange(row, digests, facts, known, "new")
    is_same = (known.digest, known.metadata_digest) == (digests.version, facts)
    is_renamed = row.document_title not in {"", known.document_title}
    return BlockChange(row, digests, facts, known, "unchanged" if is_same and not is_renamed else "changed")


@lru_cache(maxsize=1_024)  # the passages of a section follow each other
def _json_of(section_path: tuple[str, ...]) -> str:
    return json.dumps(section_path)


def _version(version: int, block: int, change: BlockChange, made_at: Any) -> tuple[Any, ...]:
    row = change.row
    return (
        version,
        block,
        change.digests.version,
        change.digests.text,
        change.metadata_digest,
        row.title,
        _json_of(row.section_path) if row.section_path else "[]",
        row.page_start,
        row.page_end,
        row.text,
        json.dumps(row.metadata) if row.metadata else "{}",
        made_at,
        "",
    )
