"""Reads for a round and its plan: the pairs it covers, the expected pace, and who may judge which query."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import members_of
from apps.common.database.batched_reads import BatchedRead, ListOf, answer_to
from apps.judging.core.eta import TimePerPair, is_too_fast
from apps.judging.core.plan import PROPERTIES, Plan, Preview, Remit, fits
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Judgement, KeptPair, KnownAnswer, PilotDecision, Round, RoundAnnotator, Seat
from apps.judging.selectors.rejudging import KnownGrade, known_pairs
from apps.queries.core.stratified import Candidate
from apps.queries.models import Query
from apps.queries.selectors import frozen_query_ids
from apps.retrieval.core.sampling import SAME
from apps.retrieval.models import Pool, PoolEntry


def plan_of(round_: Round) -> Plan:
    return Plan.from_json(round_.plan, overlap=round_.overlap_share, judges=round_.judges, seed=round_.seed)


def pilot_queries(round_: Round) -> list[int]:
    """The queries of the pilot, by key; none for a round without one."""
    return (round_.plan or {}).get("pilot_queries", [])


def last_entry(round_: Round) -> int | None:
    """The key of the last pair of the pool when it was planned; later pairs are not part of the round."""
    return (round_.plan or {}).get("last_entry")


def seats_at_opening(round_: Round) -> int | None:
    """How many seats were shared when the round opened; None for rounds from before this was stored."""
    return (round_.plan or {}).get("seats")


def even_share(round_: Round, people: int, shared: int | None = None) -> int:
    """How many pairs each person would judge in equal shares, in a round that closed before shares were planned.

    `shared` counts the seats of a round from before that was stored.
    """
    opened_with = seats_at_opening(round_)
    return -(-(shared or 0 if opened_with is None else opened_with) // (people or 1))


def kept_count(round_: Round) -> int:
    """How many pairs of the pool were left out, because their text had been judged or was being judged."""
    return (round_.plan or {}).get("kept", 0)


def undecided_pilot_queries(round_: Round) -> list[int] | None:
    """The queries of an undecided pilot, to which everybody is confined; None without such a pilot."""
    queries = pilot_queries(round_)
    if not queries or PilotDecision.objects.filter(round=round_).exists():
        return None
    return queries


CHECK = "check"
PASSED_OVER = (CHECK, SAME)
FIRST_PASS = 1
SAMPLE = 1_000
ENOUGH = 200
LATEST = 10


class Pace(NamedTuple):
    """The time per pair, in milliseconds, from `low` to `high`; measured, or the usual one."""

    low: float
    high: float
    is_measured: bool

    def words_for(self, judgements: int) -> str:
        """How long so many judgements take all people together, and by which pace; empty for none."""
        time = TimePerPair(self.low, self.high).of(judgements)
        if not time:
            return ""
        return f"{time} at {'the pace measured here' if self.is_measured else f'the usual {self.minutes} a pair'}"

    @property
    def minutes(self) -> str:
        """ "2 to 3 minutes"."""
        return f"{self.low / 60_000:g} to {self.high / 60_000:g} minutes"


USUAL_PACE = Pace(120_000, 180_000, is_measured=False)
"""What is reckoned with until enough pairs were timed: the one place that says so, for pages and the manual."""


def pairs_to_plan(pool: Pool, plan: Plan, *, before: Round | None = None) -> QuerySet[PoolEntry]:
    """The pairs of a pool that a round may judge, in the pool's order, whether or not they have a grade.

    Without those added for checks only, and those for which the same text is judged. With the plan's `only_new` also
    without those that an earlier round of the pool has planned or used as a check; with its `questions` only those of
    the queries of that set. With `before`, the pool as of that round: without
    later pairs and without the round's own checks.
    """
    entries = PoolEntry.objects.filter(Q(sampled__isnull=True) | ~Q(sampled__how__in=PASSED_OVER), pool=pool)
    planned = Seat.objects.filter(entry=OuterRef("pk"), pass_number__lte=1)
    if before is not None:
        known = KnownAnswer.objects.filter(round=before)
        entries = entries.exclude(pk__in=known.values("entry"))
        planned = planned.filter(round__number__lt=before.number)
        if last := last_entry(before):
            entries = entries.filter(pk__lte=last)
    if plan.only_new:
        entries = entries.filter(~Exists(planned))
    if plan.questions:
        entries = entries.filter(query__in=frozen_query_ids(pool.project_id, plan.questions))
    return entries.order_by("pk")


def pairs_of_round(round_: Round) -> QuerySet[PoolEntry]:
    """The pairs that this round judges, in the pool's order, once the pairs that keep their grade are stored.

    They are read in chunks while the round is opened, so judgements elsewhere meanwhile must not change them.
    """
    kept_pairs = KeptPair.objects.filter(round=round_, entry=OuterRef("pk"))
    return pairs_to_plan(round_.pool, plan_of(round_), before=round_).filter(~Exists(kept_pairs))


def keeps_grades(pool: Pool, plan: Plan) -> bool:
    """Whether a round on this pool leaves out judged pairs: not where the pool was made to judge them again."""
    made = pool.plan or {}
    return not (plan.judge_again or "again_under" in made or made.get("how") == "again")


def has_pairs_to_judge() -> Q:
    """Of pools: a round on it would have pairs, as one has no grade yet or the pool was made to judge them again."""
    left = PoolEntry.objects.filter(~Exists(_assigned_seats()), pool=OuterRef("pk"))
    return Q(Exists(left)) | Q(plan__has_key="again_under") | Q(plan__how="again")


def split_by_grade(entries: QuerySet[PoolEntry]) -> tuple[QuerySet[Any], QuerySet[Any]]:
    """The pairs never assigned on this text, and those that were judged or are being judged."""
    annotated = entries.annotate(assigned_in=Subquery(_assigned_seats().order_by("-round__number").values("round")[:1]))
    return annotated.filter(assigned_in=None), annotated.exclude(assigned_in=None)


def _assigned_seats() -> QuerySet[Seat]:
    """The seats, in any round, in which the text of a pair was judged for its query, or still is to be.

    Open seats of closed rounds do not count: nobody will fill them; nor do withdrawn grades. The same text of the same
    block counts on whichever page it is.
    """
    seats = Seat.objects.filter(
        pass_number=FIRST_PASS,
        round__withdrawn_at=None,
        entry__query=OuterRef("query"),
        entry__version__block=OuterRef("version__block"),
        entry__version__text_digest=OuterRef("version__text_digest"),
    )
    return seats.exclude(~Q(state=SeatState.DONE), round__state=RoundState.CLOSED)


class PairCounts(NamedTuple):
    """How many pairs were never assigned on their text, and how many were; of these, those that nobody has judged yet.

    The last wait in a round.
    """

    left: int
    kept: int = 0
    being_judged: int = 0


def _counts_of(entries: QuerySet[PoolEntry]) -> PairCounts:
    """The sizes of both halves of `split_by_grade`, in one statement."""
    assigned = _assigned_seats()
    rows = entries.order_by().annotate(
        is_assigned=Exists(assigned), is_judged=Exists(assigned.filter(state=SeatState.DONE))
    )
    counted = rows.aggregate(
        left=Count("pk", filter=Q(is_assigned=False)),
        kept=Count("pk", filter=Q(is_assigned=True)),
        being_judged=Count("pk", filter=Q(is_assigned=True, is_judged=False)),
    )
    return PairCounts(**counted)


def rounds_of_kept_pairs(round_: Round) -> list[tuple[str, int]]:
    """The rounds that judged the pairs this one left out, by name, latest first, and how many pairs each."""
    if not kept_count(round_):
        return []
    rows = KeptPair.objects.filter(round=round_).values_list("kept_from__number", "kept_from__name")
    return [(name, n) for _, name, n in rows.annotate(n=Count("pk")).order_by("-kept_from__number")]


def pilot_of(pool: Pool, plan: Plan, entries: QuerySet[PoolEntry] | None = None) -> list[Query]:
    """The queries that everybody would judge first: of those with a pair among `entries`, where given."""
    if not plan.pilot:
        return []
    candidates = Query.objects.filter(pk__in=pool.pool_queries.values("query"))
    if entries is not None:
        candidates = candidates.filter(pk__in=entries.order_by().values("query"))
    queries = {query.outside_id: query for query in candidates}
    facts = facts_of(candidates)
    drawn = plan.pilot_of(Candidate(name, tuple(facts[query.pk].values())) for name, query in queries.items())
    return [queries[name] for name in drawn]


def preview_of(pool: Pool, plan: Plan, remits: Mapping[int, Remit | None], known: Sequence[KnownGrade] = ()) -> Preview:
    """The work that a plan means on this pool, for these people with their remits and the lead's own checks."""
    checks = {pair[:2] for pair in [*known_pairs(pool.snapshot, plan.checks, seed=plan.seed), *known]}
    entries = pairs_to_plan(pool, plan)
    if keeps_grades(pool, plan):
        counts = _counts_of(entries)
        entries, _ = split_by_grade(entries)
    else:
        counts = PairCounts(entries.count())
    if checks:
        rows = entries.filter(query__in={query for query, _ in checks}).values_list("pk", "query_id", "version_id")
        checked = [pk for pk, *pair in rows if tuple(pair) in checks]
        entries = entries.exclude(pk__in=checked)
        counts = counts._replace(left=counts.left - len(checked))
    pilot = {query.pk for query in pilot_of(pool, plan, entries)}
    in_pilot = dict(entries.filter(query__in=pilot).order_by().values_list("query").annotate(n=Count("pk")))
    judges = judges_by_query(Query.objects.filter(pk__in=pilot), remits)
    preview = replace(plan, checks=len(checks)).preview(
        counts.left,
        people=len(remits),
        pilot_pairs=sum(in_pilot.values()),
        pilot_seats=sum(n * len(judges[query]) for query, n in in_pilot.items()),
    )
    return preview._replace(kept=counts.kept, being_judged=counts.being_judged)


def facts_of(queries: QuerySet[Query]) -> dict[int, dict[str, str]]:
    """The properties of each query that a remit can name, by key."""
    fields = ("domain", "query_type", "difficulty", "source__slug")
    rows = queries.values_list("pk", *fields)
    return {pk: {name: value or "" for name, value in zip(PROPERTIES, values, strict=True)} for pk, *values in rows}


def query_in_remit(remit: Remit | None) -> Q:
    """The same as `core.plan.fits`, for the database: a condition on rows that have a query."""
    condition = Q()
    for name, allowed in (remit or {}).items():
        field = "source__slug" if name == "source" else name
        condition &= Q(**{f"query__{field}__in": allowed})
    return condition


IN_SQL = {
    "domain": "q.domain",
    "query_type": "q.query_type",
    "difficulty": "q.difficulty",
    "source": "(SELECT o.slug FROM queries_source o WHERE o.id = q.source_id)",
}


def remit_in_sql(remit: Remit | None) -> tuple[str, dict[str, str]]:
    """The same in SQL, as a condition on a query `q`, and its values."""
    conditions, values = ["TRUE"], dict[str, str]()
    for name, allowed in (remit or {}).items():
        named = {f"{name}_{place}": value for place, value in enumerate(allowed)}
        conditions.append(f"{IN_SQL[name]} IN ({', '.join(f'%({each})s' for each in named)})")
        values |= named
    return " AND ".join(conditions), values


def judges_by_query(queries: QuerySet[Query], remits: Mapping[int, Remit | None]) -> dict[int, list[int]]:
    """For each query, the keys of the people whose remit includes it."""
    facts = facts_of(queries)
    return {pk: [person for person, remit in remits.items() if fits(remit, of_query)] for pk, of_query in facts.items()}


def judges_left(round_: Round, query_id: int) -> int:
    """How many people of the round still judge in its project and may judge this query."""
    able = members_of(round_.project, Role.ANNOTATOR).order_by()
    places = RoundAnnotator.objects.filter(round=round_, annotator__in=able).values_list("annotator", "only")
    return len(judges_by_query(Query.objects.filter(pk=query_id), dict(places))[query_id])


def pace_of(project: Project) -> Pace:
    """The median time of a pair in the project's latest rounds, when at least 200 were timed; else the usual one.

    Also the usual one where the median is too fast for pairs that were read.
    """
    return answer_to(project, pace_question(project))


def words_for(project: Project, judgements: int) -> str:
    """How long so many judgements take in this project; empty for none."""
    return pace_of(project).words_for(judgements)


def pace_question(project: Project) -> BatchedRead[Pace]:
    """The same for pages that ask for more in one statement."""
    latest = Round.objects.filter(project=project, kind=RoundKind.JUDGING).order_by("-number").values("pk")
    timed = Judgement.objects.filter(active_ms__isnull=False).order_by("entry").values_list("active_ms")
    asks = {
        f"round{place}": ListOf(timed.filter(round=Subquery(latest[place : place + 1]))[:SAMPLE])
        for place in range(LATEST)
    }

    def read(found: Mapping[str, Any]) -> Pace:
        times: list[int] = []
        for name in asks:
            times += [ms for (ms,) in found[name]]
            if len(times) >= ENOUGH:
                middle = median(times)
                return USUAL_PACE if is_too_fast(middle, 1) else Pace(middle, middle, is_measured=True)
        return USUAL_PACE

    return BatchedRead(asks, read)
