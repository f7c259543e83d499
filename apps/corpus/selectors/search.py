"""Live search over the texts of snapshots: FTS5 on SQLite, full text on PostgreSQL.

It is for people who look for a block; scored runs come from the engines. Versions are indexed when a snapshot is
frozen, or just before. The words people type are data: each is quoted, whatever signs it contains.
"""

import re
from collections.abc import Iterable

from django.db import connection
from django.db.models import OuterRef, QuerySet, Subquery

from apps.accounts.models import Project
from apps.corpus.models import Snapshot, SnapshotBlock

MAX_WORDS = 24
LANGUAGE = "english"
_WORD = re.compile(r"\w+")


def search_blocks(snapshot: Snapshot, text: str, *, limit: int = 20) -> list[SnapshotBlock]:
    """The snapshot's best matching entries, best first; a block whose id was typed comes before all.

    Words are joined by "or" and ranked; the last one also matches as a prefix, since it may be incomplete. No words:
    empty.
    """
    ranked = _ranked([snapshot.pk], text, limit)
    named = list(_entries().filter(snapshot=snapshot, block__outside_id=text.strip())[:1]) if text.strip() else []
    return (named + [entry for entry in ranked if entry not in named])[:limit]


def search_latest(project: Project, text: str, *, limit: int) -> list[SnapshotBlock]:
    """The best matching entries in the newest snapshot of each corpus of the project, best first."""
    return _ranked(_newest(project), text, limit)


def words_found(project: Project, words: Iterable[str]) -> set[str]:
    """Those of the words that a passage of a newest snapshot has, or another word that begins with one."""
    snapshots = _newest(project)
    return {word for word in words if snapshots and _keys(snapshots, [word], 1)}


def latest_snapshots(project: Project) -> QuerySet[Snapshot]:
    """The newest snapshot of each corpus of the project."""
    newest = Snapshot.objects.filter(corpus=OuterRef("corpus")).order_by("-number").values("pk")[:1]
    return Snapshot.objects.filter(corpus__project=project, pk=Subquery(newest))


def _newest(project: Project) -> list[int]:
    return list(latest_snapshots(project).values_list("pk", flat=True))


def _entries() -> QuerySet[SnapshotBlock]:
    return SnapshotBlock.objects.select_related("version", "block__document")


def _ranked(snapshots: list[int], text: str, limit: int) -> list[SnapshotBlock]:
    words = list(dict.fromkeys(_WORD.findall(text)))[:MAX_WORDS]
    if not words or not snapshots:
        return []
    keys = _keys(snapshots, words, limit)
    entries = _entries().in_bulk(keys)
    return [entries[key] for key in keys]


def _keys(snapshots: list[int], words: list[str], limit: int) -> list[int]:
    places = ", ".join(["%s"] * len(snapshots))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            quoted = [f"'{word}'" for word in words]
            quoted[-1] += ":*"
            cursor.execute(
                "SELECT e.id FROM corpus_searched s JOIN corpus_snapshotblock e"
                " ON e.version_id = s.version_id, to_tsquery(%s, %s) q"
                f" WHERE s.words @@ q AND e.snapshot_id IN ({places})"
                " ORDER BY ts_rank_cd(s.words, q, 1) + ts_rank(s.words, q, 1) DESC, e.position, e.id LIMIT %s",
                [LANGUAGE, " | ".join(quoted), *snapshots, limit],
            )
        else:
            quoted = [f'"{word}"' for word in words]
            quoted[-1] += " *"
            cursor.execute(
                "SELECT e.id FROM corpus_search JOIN corpus_snapshotblock e"
                " ON e.version_id = corpus_search.rowid"
                f" WHERE corpus_search MATCH %s AND e.snapshot_id IN ({places})"
                " ORDER BY bm25(corpus_search, 4.0, 1.0), e.position, e.id LIMIT %s",
                [" OR ".join(quoted), *snapshots, limit],
            )
        return [row[0] for row in cursor.fetchall()]
