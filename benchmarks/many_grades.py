"""A project with very many judged pairs, written in bulk: what exports and freezes are measured on."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
AT_ONCE = 5_000


def places_of(project: Any, blocks: int) -> list[Any]:
    """The blocks of a new snapshot of the project's corpus, in order."""
    from tests.triples.factories import make_snapshot

    texts = {f"b{n:04}": f"The passage number {n} of the benchmark. " * 5 for n in range(blocks)}
    snapshot = make_snapshot(project, texts, corpus=project.corpora.first())
    return list(snapshot.entries.select_related("block", "snapshot").order_by("position"))


def queries_of(bench: Any, count: int) -> list[Any]:
    from apps.queries.models import Query
    from tests.factories import AT

    return Query.objects.bulk_create(
        Query(project=bench.project, outside_id=f"L{n:06}", text=f"query {n}", created_by=bench.lead, created_at=AT)
        for n in range(count)
    )


def judge(bench: Any, pairs: Sequence[tuple[int, Any]]) -> None:
    """A seat and a judgement of each person of the round for each query and block; one in ten has a note."""
    from apps.judging.models import Judgement, Seat
    from apps.retrieval.models import PoolEntry
    from tests.factories import AT

    people = list(bench.round.annotators.values_list("annotator", flat=True))
    entries = PoolEntry.objects.bulk_create(
        PoolEntry(pool=bench.pool, query_id=query, version_id=place.version_id) for query, place in pairs
    )
    seats = Seat.objects.bulk_create(
        Seat(round=bench.round, entry=entry, query_id=entry.query_id, number=n, state="done", annotator_id=person)
        for entry in entries
        for n, person in enumerate(people, start=1)
    )
    Judgement.objects.bulk_create(
        Judgement(
            round=bench.round,
            seat=seat,
            entry_id=seat.entry_id,
            annotator_id=seat.annotator_id,
            grade=seat.entry_id % 4,
            note="names the hour" if seat.pk % 10 == 0 else "",
            active_ms=8_000,
            away_ms=0,
            idempotency_key=f"bench-{seat.pk}",
            given_at=AT,
        )
        for seat in seats
    )


def chunks(pairs: Iterator[T]) -> Iterator[list[T]]:
    while chunk := list(islice(pairs, AT_ONCE)):
        yield chunk
