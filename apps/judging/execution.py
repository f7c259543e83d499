"""The slow work of judging: giving every pair of a round its seats."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice

from apps.accounts.models import User
from apps.audit.actions import record
from apps.jobs.context import JobContext
from apps.jobs.registry import job_kind
from apps.judging.enums import RoundState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.order import seeded_number
from apps.judging.plan import Plan
from apps.retrieval.models import PoolEntry

CHUNK = 5_000
ROWS = 500


def plan_of(round_: Round) -> Plan:
    """Read the round's plan back from its row."""
    return Plan(overlap=round_.overlap_share, judges=round_.judges, seed=round_.seed)


@job_kind("judging.open_round", title="Open a judging round")
def open_round_job(ctx: JobContext) -> dict | None:
    """Create the seats of a large round, a chunk of pairs at a time, and open it."""
    round_ = Round.objects.select_related("pool").get(pk=ctx.params["round_id"])
    counts = seat_counts(round_)
    for start in range(0, len(counts), CHUNK):
        with ctx.chunk(f"pairs:{start}") as fresh:
            if fresh:
                create_seats(round_, counts, start, start + CHUNK)
        ctx.progress(min(start + CHUNK, len(counts)), len(counts), "pairs")
    with ctx.finish() as result:
        finish_opening(round_, actor=ctx.actor, at=ctx.at)
        result.update(round=round_.pk, pairs=len(counts), seats=sum(counts))
    return None


def seat_counts(round_: Round) -> list[int]:
    """Plan the number of seats of each pair of the pool, in the order of the entries' keys."""
    pairs = PoolEntry.objects.filter(pool_id=round_.pool_id).order_by("pk")
    ids = pairs.values_list("query__outside_id", "version__block__outside_id")
    return plan_of(round_).seats(ids.iterator(chunk_size=CHUNK))


def create_seats(round_: Round, counts: list[int], start: int = 0, end: int | None = None) -> None:
    """Write exactly the planned seats of the pairs in [start, end) of the pool."""
    entries = PoolEntry.objects.filter(pool_id=round_.pool_id).order_by("pk").values_list("pk", "query_id")
    rows = iter(entries[start:end].iterator(chunk_size=CHUNK))
    seats = _seats(round_, rows, counts, start)
    while batch := list(islice(seats, ROWS)):
        Seat.objects.bulk_create(batch)


def _seats(round_: Round, rows: Iterator[tuple[int, int]], counts: list[int], start: int) -> Iterator[Seat]:
    for position, (entry_id, query_id) in enumerate(rows, start):
        for number in range(1, counts[position] + 1):
            yield Seat(round=round_, entry_id=entry_id, query_id=query_id, number=number)


def finish_opening(round_: Round, *, actor: User | None, at: datetime) -> None:
    """Give everybody a query to start from, and open the round."""
    queries = list(Seat.objects.filter(round=round_).order_by("query_id").values_list("query_id", flat=True).distinct())
    for place in RoundAnnotator.objects.filter(round=round_):
        place.cursor = first_query(queries, round_.seed, place.annotator_id)
        place.save(update_fields=["cursor"])
    round_.state = RoundState.OPEN
    round_.opened_at = at
    round_.save(update_fields=["state", "opened_at"])
    record(
        project=round_.project,
        actor=actor,
        action="round.opened",
        obj=round_,
        before={"state": RoundState.OPENING},
        after={"state": RoundState.OPEN, "judgements": Seat.objects.filter(round=round_).count()},
        at=at,
    )


def first_query(queries: list[int], seed: int, annotator_id: int) -> int:
    """Choose where a person begins, so that not everybody meets at the same query; 0 for no queries."""
    if not queries:
        return 0
    return queries[seeded_number(seed, "start", annotator_id) % len(queries)]
