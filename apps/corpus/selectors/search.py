"""Live search over the texts of a snapshot: FTS5 on SQLite, full text on PostgreSQL.

It is for people who look for a block; scored runs come from the engines. Versions are indexed when a snapshot is
frozen, or just before. The words people type are data: each is quoted, whatever signs it contains.
"""

import re

from django.db import connection

from apps.corpus.models import Snapshot, SnapshotBlock

MAX_WORDS = 24
LANGUAGE = "english"
_WORD = re.compile(r"\w+")


def search_blocks(snapshot: Snapshot, text: str, *, limit: int = 20) -> list[SnapshotBlock]:
    """The snapshot's best matching entries, best first; a block whose id was typed comes before all.

    Words are joined by "or" and ranked; the last one also matches as a prefix, since it may be incomplete. No words:
    empty.
    """
    words = list(dict.fromkeys(_WORD.findall(text)))[:MAX_WORDS]
    positions = _positions(snapshot, words, limit) if words else []
    entries = snapshot.entries.select_related("version", "block__document")
    named = list(entries.filter(block__outside_id=text.strip())[:1]) if text.strip() else []
    by_position = {entry.position: entry for entry in entries.filter(position__in=positions)}
    ranked = [by_position[position] for position in positions]
    return (named + [entry for entry in ranked if entry not in named])[:limit]


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
