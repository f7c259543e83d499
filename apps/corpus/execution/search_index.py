"""Building the search index of a corpus, part by part, and of a snapshot."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection

from apps.corpus.models import Block, BlockVersion, Corpus, Snapshot
from apps.corpus.selectors.search import LANGUAGE

PART = 5_000


MAX_INDEXED = 400_000


class BlockRange(NamedTuple):
    """A range of a corpus's current blocks: keys from `first` to `last`, `blocks` in number."""

    corpus_id: int
    first: int
    last: int
    blocks: int


def parts_of(corpus: Corpus) -> Iterator[BlockRange]:
    """The current blocks of the corpus in parts, in the order of keys: the same parts until the next import."""
    keys = Block.objects.filter(corpus=corpus, current__isnull=False).order_by("pk").values_list("pk", flat=True)
    last = 0
    while part := list(keys.filter(pk__gt=last)[:PART]):
        last = part[-1]
        yield BlockRange(corpus.pk, part[0], last, len(part))


def index_part(part: BlockRange) -> None:
    """Add the part's texts that are missing in the index. Call in a transaction."""
    missing = (
        "SELECT b.current_id FROM corpus_block b"
        " LEFT JOIN corpus_searched s ON s.version_id = b.current_id"
        " WHERE b.corpus_id = %s AND b.id BETWEEN %s AND %s AND b.current_id IS NOT NULL AND s.version_id IS NULL"
    )
    _index(missing, [part.corpus_id, part.first, part.last])


def index_snapshot(snapshot: Snapshot) -> None:
    """Add the snapshot's versions that are missing in the index. Call in the freeze's transaction."""
    missing = (
        "SELECT e.version_id FROM corpus_snapshotblock e"
        " LEFT JOIN corpus_searched s ON s.version_id = e.version_id"
        " WHERE e.snapshot_id = %s AND s.version_id IS NULL"
    )
    _index(missing, [snapshot.pk])


def index_everything() -> None:
    """Index all texts that can be searched: current ones, and those of snapshots."""
    for corpus in Corpus.objects.order_by("pk"):
        for part in parts_of(corpus):
            index_part(part)
    for snapshot in Snapshot.objects.order_by("pk"):
        index_snapshot(snapshot)


def _index(missing: str, named: list[int]) -> None:
    """Index the versions that the statement `missing` selects."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            words = (
                f"setweight(to_tsvector('{LANGUAGE}', left(v.title, {MAX_INDEXED})), 'A')"
                f" || to_tsvector('{LANGUAGE}', left(v.text, {MAX_INDEXED}))"
            )
            cursor.execute(
                f"INSERT INTO corpus_searched (version_id, words) SELECT v.id, {words}"
                f" FROM corpus_blockversion v WHERE v.id IN ({missing})",
                named,
            )
            return
        cursor.execute(
            "INSERT INTO corpus_search (rowid, title, text) SELECT v.id, v.title, v.text"
            f" FROM corpus_blockversion v WHERE v.id IN ({missing})",
            named,
        )
        cursor.execute(f"INSERT INTO corpus_searched (version_id) {missing}", named)


def forget_version(version: BlockVersion) -> None:
    """Remove a version from the index, before its text is redacted: FTS5 needs the words to remove them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM corpus_searched WHERE version_id = %s", [version.pk])
        if cursor.fetchone() is None:
            return
        if connection.vendor == "sqlite":
            cursor.execute(
                "INSERT INTO corpus_search (corpus_search, rowid, title, text) VALUES ('delete', %s, %s, %s)",
                [version.pk, version.title, version.text],
            )
        cursor.execute("DELETE FROM corpus_searched WHERE version_id = %s", [version.pk])


def forget_versions(project_id: int, first: int, last: int) -> None:
    """Remove the project's versions with keys from `first` to `last` from the index, before they are deleted."""
    versions = (
        "SELECT v.id FROM corpus_blockversion v JOIN corpus_block b ON b.id = v.block_id"
        " JOIN corpus_corpus c ON c.id = b.corpus_id JOIN corpus_searched s ON s.version_id = v.id"
        " WHERE c.project_id = %s AND v.id BETWEEN %s AND %s"
    )
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(
                "INSERT INTO corpus_search (corpus_search, rowid, title, text)"
                f" SELECT 'delete', id, title, text FROM corpus_blockversion WHERE id IN ({versions})",
                [project_id, first, last],
            )
        cursor.execute(f"DELETE FROM corpus_searched WHERE version_id IN ({versions})", [project_id, first, last])
