"""Jobs of judging: creating the seats of a round."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.database.bulk import insert_rows
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.judging.core.plan import Remit, Shares, fits, seat_number, seeded_number
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import KeptPair, KnownAnswer, Round, RoundAnnotator, Seat
from apps.judging.selectors.plans import (
    FIRST_PASS,
    facts_of,
    judges_by_query,
    keeps_grades,
    pairs_of_round,
    pairs_to_plan,
    pilot_queries,
    plan_of,
    split_by_grade,
)
from apps.queries.models import Query

CHUNK = 5_000
ROWS = 500
SEAT_COLUMNS = ("round_id", "entry_id", "query_id", "number", "pass_number", "state", "meant_for_id")
KEPT_COLUMNS = ("round_id", "entry_id", "kept_from_id")


@job_kind("judging.open_round", title="Open a judging round", page=("judging:round", "round_id"))
def open_round_job(ctx: JobContext) -> dict | None:
    """Create the seats of a large round, a chunk of pairs at a time, and open it."""
    round_ = Round.objects.select_related("pool").get(pk=ctx.params["round_id"])
    with ctx.chunk("kept") as fresh:
        if fresh:
            keep_judged_pairs(round_)
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


def keep_judged_pairs(round_: Round) -> None:
    """Store which pairs this round assigns to nobody, because they were judged or are being judged elsewhere."""
    plan = plan_of(round_)
    if not keeps_grades(round_.pool, plan):
        return
    _, judged = split_by_grade(pairs_to_plan(round_.pool, plan, before=round_))
    # Read before writing: no other statement can run during a COPY.
    rows: Any = judged.values_list("pk", "assigned_in")
    insert_rows(KeptPair, KEPT_COLUMNS, [(round_.pk, entry, origin) for entry, origin in rows])


def seat_counts(round_: Round) -> list[int]:
    """The number of seats of each pair of the round, in the order of the entries' keys."""
    ids = pairs_of_round(round_).values_list("query__outside_id", "version__block__outside_id")
    return plan_of(round_).seats(ids.iterator(chunk_size=CHUNK), _judges_of_pilot(round_))


def _judges_of_pilot(round_: Round) -> dict[str, int]:
    """How many people judge each query of the pilot, by its outside id."""
    queries = Query.objects.filter(pk__in=pilot_queries(round_))
    outside = dict(queries.values_list("pk", "outside_id"))
    return {outside[pk]: len(people) for pk, people in judges_by_query(queries, _remits(round_)).items()}


def _remits(round_: Round) -> dict[int, Remit | None]:
    return dict(RoundAnnotator.objects.filter(round=round_).values_list("annotator", "only"))


def create_seats(round_: Round, counts: list[int], start: int = 0, end: int | None = None) -> None:
    """Store exactly the planned seats of the pairs in [start, end) of the round."""
    entries = pairs_of_round(round_).values_list("pk", "query_id")
    # Read before writing: no other statement can run during a COPY.
    rows = list(entries[start:end])
    remits, of_share = _remits(round_), shares_of(round_)
    judges = judges_by_query(Query.objects.filter(pk__in={query for _, query in rows}), remits)
    shares = Shares(remits, seed=round_.seed, left=sum(counts) - sum(of_share.values()), before=of_share)
    insert_rows(Seat, SEAT_COLUMNS, list(_seats(round_, rows, counts[start:end], shares, judges)))


def shares_of(round_: Round) -> dict[int, int]:
    """How many seats are in the share of each person, by key."""
    meant = Seat.objects.filter(round=round_, meant_for__isnull=False).order_by()
    return dict(meant.values_list("meant_for").annotate(n=Count("pk")))


def _seats(
    round_: Round,
    rows: Iterable[tuple[int, int]],
    counts: Iterable[int],
    shares: Shares,
    judges: Mapping[int, list[int]],
) -> Iterator[tuple[int, int, int, int, int, str, int]]:
    for (entry_id, query_id), count in zip(rows, counts, strict=True):
        for number, person in enumerate(shares.judges_of(query_id, entry_id, count, judges[query_id]), 1):
            yield round_.pk, entry_id, query_id, number, FIRST_PASS, SeatState.OPEN.value, person


def create_checks(round_: Round, shares: Mapping[int, int]) -> None:
    """Reserve the known pairs for everybody who may judge them, spread over their share."""
    known = KnownAnswer.objects.filter(round=round_).order_by("entry")
    query_of: dict[int, int] = dict(known.values_list("entry_id", "entry__query_id"))
    if not query_of:
        return
    facts = facts_of(Query.objects.filter(pk__in=query_of.values()))
    remits = _remits(round_)
    seats = []
    for place, (person, remit) in enumerate(sorted(remits.items()), 1):
        own = [entry for entry, query in query_of.items() if fits(remit, facts[query])]
        for entry, due in plan_of(round_).checks_after(own, person, shares.get(person, 0)).items():
            number, query = seat_number(0, place), query_of[entry]
            seats.append(
                Seat(
                    round=round_, entry_id=entry, query_id=query, number=number, pass_number=0,
                    reserved_for_id=person, due_after=due,
                )
            )  # fmt: skip
    Seat.objects.bulk_create(seats, batch_size=ROWS)


def finish_opening(round_: Round, *, actor: User | None, at: datetime) -> None:
    """Give everybody their first query, their share and their checks, and open the round."""
    queries = list(Seat.objects.filter(round=round_).order_by("query_id").values_list("query_id", flat=True).distinct())
    shared = Seat.objects.filter(round=round_).count()
    shares = shares_of(round_)
    create_checks(round_, shares)
    for place in RoundAnnotator.objects.filter(round=round_):
        place.cursor = first_query(queries, round_.seed, place.annotator_id)
        place.share = shares.get(place.annotator_id, 0)
        place.save(update_fields=["cursor", "share"])
    round_.state = RoundState.OPEN
    round_.opened_at = at
    kept_pairs = KeptPair.objects.filter(round=round_).count()
    round_.plan = {**(round_.plan or {}), "seats": shared, "kept": kept_pairs}
    round_.save(update_fields=["state", "opened_at", "plan"])
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
    """The query at which a person begins, different for different people; 0 for no queries."""
    if not queries:
        return 0
    return queries[seeded_number(seed, "start", annotator_id) % len(queries)]
