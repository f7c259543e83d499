"""Compares a file's blocks with a corpus, and imports them. Works in chunks, never row by row."""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from apps.common.database.ahead import ahead
from apps.common.database.bulk import any_of, chunks, insert_rows, reserve_ids
from apps.common.database.scratch import FirstLines, Scratch
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.corpus.core.digests import BlockDigests, metadata_digest
from apps.corpus.core.import_plans import ImportPlan, until_broken
from apps.corpus.enums import ImportMode
from apps.corpus.formats import BlockRow
from apps.corpus.formats.rows import digests_of
from apps.corpus.models import Block, BlockVersion, Corpus, Document

CHUNK = 2_000
Progress = Callable[[int], None]


class KnownBlock(NamedTuple):
    """A block of the corpus: its keys, and the digest of its current text, None when it was removed."""

    pk: int
    document_id: str
    document_title: str
    digest: str | None
    metadata_digest: str | None


class DigestedRow(NamedTuple):
    row: BlockRow
    digests: BlockDigests
    metadata_digest: str


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
    plan = ImportPlan(["new", "changed", "unchanged", "gone"])
    still_present = wordless = 0
    mistakes = ErrorList()
    for chunk in _compared(corpus, _digested(rows, errors), source, mistakes):
        for change in chunk:
            still_present += change.known is not None and change.known.digest is not None
            wordless += change.keeps_its_words
            plan.add(change.word, change.row.block_id, change.row.title, change.row.text)
        progress(plan.rows)
    if corpus is not None and mode == ImportMode.REPLACE:
        current = Block.objects.filter(corpus=corpus, current__isnull=False)
        plan.counts["gone"] = current.count() - still_present
    _note_wordless(plan, wordless)
    errors.absorb(mistakes)
    plan.take_errors(errors)
    return plan


def take_blocks(
    *,
    corpus: Corpus,
    rows: Iterable[BlockRow],
    source: TableFile,
    errors: ErrorList,
    mode: str,
    at: datetime,
) -> ImportPlan:
    """Write the rows into a corpus that the caller has locked, and return the changes. Call in a transaction.

    Mistakes are only counted: the caller checks the plan's errors and rolls back.
    """
    plan = ImportPlan(["new", "changed", "unchanged", "gone"])
    current = Scratch("CREATE TABLE current (block INTEGER PRIMARY KEY);")
    blocks = Block.objects.filter(corpus=corpus, current__isnull=False).values_list("pk")
    current.write("INSERT INTO current VALUES (?)", blocks.iterator(CHUNK))
    wordless = 0
    mistakes = ErrorList()
    parts = _digested(rows, errors)
    if connection.vendor == "postgresql":  # whose server works meanwhile; with SQLite the threads slow each other
        parts = ahead(parts)
    for chunk in _compared(corpus, parts, source, mistakes):
        for change in chunk:
            wordless += change.keeps_its_words
            plan.add(change.word, change.row.block_id, change.row.title, change.row.text)
        known = [(change.known.pk,) for change in chunk if change.known is not None]
        current.write("DELETE FROM current WHERE block = ?", known)
        if not (errors or mistakes):
            _write(corpus, chunk, at)
    if mode == ImportMode.REPLACE:
        plan.counts["gone"] = current.value("SELECT COUNT(*) FROM current")
        for gone in chunks(current.read("SELECT block FROM current ORDER BY block"), CHUNK):
            Block.objects.filter(pk__in=[block for (block,) in gone]).update(current=None)
    _note_wordless(plan, wordless)
    errors.absorb(mistakes)
    plan.take_errors(errors)
    return plan


def _note_wordless(plan: ImportPlan, count: int) -> None:
    if count:
        have = "1 changed passage has" if count == 1 else f"{count:,} changed passages have"
        plan.notes.append(f"{have} the same words and place as before: only metadata or a document's title differs.")


def _digested(rows: Iterable[BlockRow], errors: ErrorList) -> Iterator[list[DigestedRow]]:
    """The rows in parts: what needs no database, and takes most of the time."""
    for chunk in chunks(until_broken(rows, errors), CHUNK):
        yield [DigestedRow(row, digests_of(row), metadata_digest(row.metadata)) for row in chunk]


def _compared(
    corpus: Corpus | None, chunks_of_rows: Iterable[list[DigestedRow]], source: TableFile, errors: ErrorList
) -> Iterator[list[BlockChange]]:
    first_lines = FirstLines()
    has_blocks = corpus is not None and corpus.blocks.exists()
    for chunk in chunks_of_rows:
        doubled = first_lines.take([(row.block_id, row.line) for row, _, _ in chunk])
        known = _known_blocks(corpus, [row.block_id for row, _, _ in chunk]) if corpus and has_blocks else {}
        changes = []
        for place, one in enumerate(chunk):
            try:
                if place in doubled:
                    raise _twice(one.row, doubled[place], source)
                changes.append(_compare(one, known.get(one.row.block_id), source))
            except InputError as error:
                errors.add(error)
        yield changes


def _known_blocks(corpus: Corpus, ids: list[str]) -> dict[str, KnownBlock]:
    blocks = Block.objects.filter(corpus=corpus, outside_id__in=any_of(ids))
    columns = blocks.values_list(
        "outside_id", "pk", "document__outside_id", "document__title", "current__digest", "current__metadata_digest"
    )
    return {
        outside_id: KnownBlock(pk, document, title, digest, facts)
        for outside_id, pk, document, title, digest, facts in columns
    }


def _twice(row: BlockRow, first: int, source: TableFile) -> InputError:
    message = "the block is in the file twice" + (f", first in line {first}" if first else "")
    return source.error(row.line, "block_id", row.block_id, message)


def _compare(one: DigestedRow, known: KnownBlock | None, source: TableFile) -> BlockChange:
    row, digests, facts = one
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


def _write(corpus: Corpus, changes: list[BlockChange], at: datetime) -> None:
    documents = _documents(corpus, [change.row for change in changes])
    altered = [change for change in changes if change.word != "unchanged"]
    _insert([change for change in altered if change.known is None], corpus, documents, at)
    _repoint([change for change in altered if change.known is not None], at)


def _documents(corpus: Corpus, rows: list[BlockRow]) -> dict[str, int]:
    """Keys of the rows' documents by outside id. Creates missing ones and updates given titles."""
    titles: dict[str, str] = {}
    for row in rows:
        titles[row.document_id] = row.document_title or titles.get(row.document_id, "")
    documents = Document.objects.filter(corpus=corpus, outside_id__in=any_of(titles))
    keys = {}
    for pk, outside_id, title in documents.values_list("pk", "outside_id", "title"):
        keys[outside_id] = pk
        if titles[outside_id] and titles[outside_id] != title:
            Document.objects.filter(pk=pk).update(title=titles[outside_id])
    missing = [outside_id for outside_id in titles if outside_id not in keys]
    made = list(zip(reserve_ids(Document, len(missing)), missing, strict=True))
    insert_rows(
        Document,
        ["id", "corpus_id", "outside_id", "title"],
        [(pk, corpus.pk, outside_id, titles[outside_id]) for pk, outside_id in made],
    )
    return keys | {outside_id: pk for pk, outside_id in made}


def _insert(changes: list[BlockChange], corpus: Corpus, documents: dict[str, int], at: datetime) -> None:
    """Insert new blocks with their first versions. Foreign keys are checked at the commit, so the order is free."""
    block_ids = reserve_ids(Block, len(changes))
    version_ids = reserve_ids(BlockVersion, len(changes))
    insert_rows(
        Block,
        ["id", "corpus_id", "document_id", "outside_id", "current_id"],
        [
            (block, corpus.pk, documents[change.row.document_id], change.row.block_id, version)
            for block, version, change in zip(block_ids, version_ids, changes, strict=True)
        ],
    )
    _insert_versions(zip(version_ids, block_ids, changes, strict=True), at)


def _repoint(changes: list[BlockChange], at: datetime) -> None:
    """Set the current version of known blocks: an earlier one when the text is the same, else a new one."""
    wanted = {change.known.pk: change for change in changes if change.known is not None}
    earlier = {
        (block, (digest, facts)): version
        for version, block, digest, facts in BlockVersion.objects.filter(
            block__in=list(wanted), digest__in=[change.digests.version for change in changes]
        ).values_list("pk", "block_id", "digest", "metadata_digest")
    }
    fresh = [block for block, change in wanted.items() if (block, change.name) not in earlier]
    version_ids = dict(zip(fresh, reserve_ids(BlockVersion, len(fresh)), strict=True))
    _insert_versions([(version_ids[block], block, wanted[block]) for block in fresh], at)
    pairs = [(version_ids.get(block) or earlier[block, change.name], block) for block, change in wanted.items()]
    with connection.cursor() as cursor:
        cursor.executemany("UPDATE corpus_block SET current_id = %s WHERE id = %s", pairs)


def _insert_versions(versions: Iterable[tuple[int, int, BlockChange]], at: datetime) -> None:
    made_at = BlockVersion._meta.get_field("created_at").get_db_prep_save(at, connection)
    insert_rows(
        BlockVersion,
        [
            "id",
            "block_id",
            "digest",
            "text_digest",
            "metadata_digest",
            "title",
            "section_path",
            "page_start",
            "page_end",
            "text",
            "metadata",
            "created_at",
            "redaction_reason",
        ],
        [
            (
                version,
                block,
                change.digests.version,
                change.digests.text,
                change.metadata_digest,
                change.row.title,
                json.dumps(change.row.section_path) if change.row.section_path else "[]",
                change.row.page_start,
                change.row.page_end,
                change.row.text,
                json.dumps(change.row.metadata) if change.row.metadata else "{}",
                made_at,
                "",
            )
            for version, block, change in versions
        ],
    )
