"""Live search over the texts of a snapshot: FTS5 on SQLite, full text on PostgreSQL.

It serves people who look for a block; runs that are scored come from the engines. Versions enter the index when
a snapshot is frozen, or just before. The words people type are data: they are quoted one by one, whatever signs
stand among them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection

from apps.corpus.models import Block, BlockVersion, Corpus, Snapshot, SnapshotBlock

MAX_WORDS = 24
PART = 5_000
MAX_INDEXED = 400_000
LANGUAGE = "english"
_WORD = re.compile(r"\w+")


class Part(NamedTuple):
    """Some blocks of a corpus that are current, by their keys: from `first` to `last`, `blocks` in number."""

    corpus_id: int
    first: int
    last: int
    blocks: int


def parts_of(corpus: Corpus) -> Iterator[Part]:
    """All that is current in the corpus, part by part, in the order of keys: the same parts while nobody imports."""
    keys = Block.objects.filter(corpus=corpus, current__isnull=False).order_by("pk").values_list("pk", flat=True)
    last = 0
    while part := list(keys.filter(pk__gt=last)[:PART]):
        last = part[-1]
        yield Part(corpus.pk, part[0], last, len(part))


def index_part(part: Part) -> None:
    """Put those texts of a part that are not yet in the index there. Call in a transaction."""
    missing = (
        "SELECT b.current_id FROM corpus_block b"
        " LEFT JOIN corpus_searched s ON s.version_id = b.current_id"
        " WHERE b.corpus_id = %s AND b.id BETWEEN %s AND %s AND b.current_id IS NOT NULL AND s.version_id IS NULL"
    )
    _index(missing, [part.corpus_id, part.first, part.last])


def index_snapshot(snapshot: Snapshot) -> None:
    """Put the snapshot's versions that are not yet in the index there. Call in the freeze's transaction."""
    missing = (
        "SELECT e.version_id FROM corpus_snapshotblock e"
        " LEFT JOIN corpus_searched s ON s.version_id = e.version_id"
        " WHERE e.snapshot_id = %s AND s.version_id IS NULL"
    )
    _index(missing, [snapshot.pk])


def _index(missing: str, named: list[int]) -> None:
    """Take in the versions that the statement `missing` finds."""
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
    """Take a version out of the index, before its text is redacted: FTS5 needs the words it forgets."""
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


def search_blocks(snapshot: Snapshot, text: str, *, limit: int = 20) -> list[SnapshotBlock]:
    """The snapshot's entries that fit best, best first; a block whose id was typed comes before all.

    Words are joined by "or" and ranked; the last one also counts as a beginning, since it may still be typed. No
    words: nothing.
    """
    words = list(dict.fromkeys(_WORD.findall(text)))[:MAX_WORDS]
    positions = _positions(snapshot, words, limit) if words else []
    entries = snapshot.entries.select_related("version", "block__document")
    named = list(entries.filter(block__outside_id=text.strip())[:1]) if text.strip() else []
    by_position = {entry.position: entry for entry in entries.filter(position__in=positions)}
    found = [by_position[position] for position in positions]
    return (named + [entry for entry in found if entry not in named])[:limit]


def _positions(snapshot: Snapshot, words: list[str], limit: int) -> list[int]:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            quoted = [f"'{word}'" for word in words]
            quoted[-1] += ":*"
            cursor.execute(
                "SELECT e.position FROM corpus_searched s JOIN corpus_snapshotblock e"
                " ON e.version_id = s.version_id, to_tsquery(%s, %s) q"
                " WHERE s.words @@ q AND e.snapshot_id = %s"
                " ORDER BY ts_rank_cd(s.words, q, 1) + ts_rank(s.words, q, 1) DESC, e.position LIMIT %s",
                [LANGUAGE, " | ".join(quoted), snapshot.pk, limit],
            )
        else:
            quoted = [f'"{word}"' for word in words]
            quoted[-1] += " *"
            cursor.execute(
                "SELECT e.position FROM corpus_search JOIN corpus_snapshotblock e"
                " ON e.version_id = corpus_search.rowid"
                " WHERE corpus_search MATCH %s AND e.snapshot_id = %s"
                " ORDER BY bm25(corpus_search, 4.0, 1.0), e.position LIMIT %s",
                [" OR ".join(quoted), snapshot.pk, limit],
            )
        return [row[0] for row in cursor.fetchall()]
