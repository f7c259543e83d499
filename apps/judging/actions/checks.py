"""Adding pairs with a known grade to a round as its checks."""

from collections.abc import Sequence

from apps.judging.models import KnownAnswer, Round
from apps.judging.selectors.known import KnownGrade
from apps.judging.selectors.plans import CHECK
from apps.retrieval.models import Pool, PoolEntry


def entries_for(pool: Pool, known: Sequence[KnownGrade]) -> list[PoolEntry]:
    """The pool's entries for these known pairs; a pair that no run returned is added for the check alone.

    The caller has locked the pool's row.
    """
    entries = {pair_of(entry): entry for entry in _entries(pool, known)}
    new = [pair for pair in known if pair[:2] not in entries]
    sampled = {"how": CHECK}
    PoolEntry.objects.bulk_create(
        PoolEntry(pool=pool, query_id=pair.query_id, version_id=pair.version_id, sampled=sampled) for pair in new
    )
    if new:
        pool.entry_count = PoolEntry.objects.filter(pool=pool).count()
        pool.save(update_fields=["entry_count"])
        entries = {pair_of(entry): entry for entry in _entries(pool, known)}
    return [entries[pair[:2]] for pair in known]


def take_up(round_: Round, entries: Sequence[PoolEntry], known: Sequence[KnownGrade]) -> None:
    """Store the known grades of the round's checks."""
    KnownAnswer.objects.bulk_create(
        KnownAnswer(round=round_, entry=entry, grade=pair.grade, origin=pair.origin)
        for entry, pair in zip(entries, known, strict=True)
    )


def pair_of(entry: PoolEntry) -> tuple[int, int]:
    """The query and the text of an entry."""
    return entry.query_id, entry.version_id


def _entries(pool: Pool, known: Sequence[KnownGrade]) -> list[PoolEntry]:
    wanted = {pair[:2] for pair in known}
    rows = PoolEntry.objects.filter(pool=pool, query__in={query for query, _ in wanted})
    rows = rows.filter(version__in={version for _, version in wanted})
    return [entry for entry in rows if pair_of(entry) in wanted]
