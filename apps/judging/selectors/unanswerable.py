"""Queries that nothing in a snapshot may answer: candidates, the votes on them, and what they rest on.

A query is a candidate once every pair that a pool of the snapshot has of it is judged, nobody is asked about one any
more, and nobody graded one relevant, unless a lead decided otherwise.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from apps.accounts.models import Project, User
from apps.corpus.models import Snapshot, SnapshotBlock
from apps.judging.core.unanswerable import LEAD, Basis, Evidence, Sample, Vote, are_void, state_of
from apps.judging.enums import AbsenceState, RoundState, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, UnanswerableVote, UndecidedPair
from apps.queries.models import Query
from apps.retrieval.core.sampling import ALL, RANDOM, SAME, plan_of
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool, PoolEntry, PoolQuery, PoolRun
from apps.retrieval.selectors.pools import RELEVANT_FROM, pools_in

LISTED = (
    AbsenceState.DIFFERENT,
    AbsenceState.FALLEN,
    AbsenceState.OPEN,
    AbsenceState.NOT_DEEP,
    AbsenceState.ANSWERED,
    AbsenceState.BEING_JUDGED,
    AbsenceState.CONFIRMED,
)
"""The order in which a lead finds them: what needs somebody first."""
GLYPHS = {
    AbsenceState.DIFFERENT: "disagreed",
    AbsenceState.FALLEN: "failed",
    AbsenceState.OPEN: "open",
    AbsenceState.NOT_DEEP: "unjudged",
    AbsenceState.ANSWERED: "closed",
    AbsenceState.BEING_JUDGED: "partly_judged",
    AbsenceState.CONFIRMED: "agreed",
}
TOLD = {AbsenceState.DIFFERENT, AbsenceState.CONFIRMED, AbsenceState.ANSWERED, AbsenceState.FALLEN}
"""The states in which votes are told: nobody is asked for another one."""


class VotedQuery(NamedTuple):
    """A candidate, or a query with votes. `votes` are those of its last attempt, and `attempt` its number.

    `is_void`: these votes count no more, and the next begin another attempt. `relevant_by` graded a passage relevant
    last; None where nobody did.
    """

    query: Query
    state: AbsenceState
    basis: Basis
    votes: list[UnanswerableVote]
    attempt: int
    is_void: bool
    relevant_by: User | None = None

    @property
    def live(self) -> list[UnanswerableVote]:
        """The votes that count."""
        return [] if self.is_void else self.votes

    def has_voted(self, person: User) -> bool:
        return any(vote.person_id == person.pk for vote in self.live)

    @property
    def next_attempt(self) -> int:
        return self.attempt + 1 if self.is_void else self.attempt

    @property
    def is_decided(self) -> bool:
        """Whether a lead has decided."""
        return any(vote.number == LEAD for vote in self.live)

    @property
    def is_told(self) -> bool:
        """Whether names and votes may be told: nobody is asked for one any more."""
        return self.state in TOLD

    @property
    def glyph(self) -> str:
        """The state, among those of pairs, that is drawn alike."""
        return GLYPHS[self.state]

    @property
    def told(self) -> list[UnanswerableVote]:
        """The votes, once they may be told."""
        return self.votes if self.is_told else []

    @property
    def why_fallen(self) -> str:
        """What made the votes fall, and by whom."""
        return f"A passage was graded relevant, last by {self.relevant_by}." if self.relevant_by else ""


def _in_force(snapshot: Snapshot) -> QuerySet[Round]:
    return Round.objects.in_force().filter(pool__snapshot__corpus=snapshot.corpus_id)


def _pools(snapshot: Snapshot) -> list[Pool]:
    pools = pools_in(snapshot.corpus.project).filter(snapshot=snapshot, state=PoolState.COMPLETE)
    return list(pools.order_by("pk"))


def _in_snapshot(snapshot: Snapshot) -> Exists:
    """Whether the text of the outer pair is in the snapshot."""
    same = SnapshotBlock.objects.filter(snapshot=snapshot, block=OuterRef("entry__version__block"))
    return Exists(same.filter(version__text_digest=OuterRef("entry__version__text_digest")))


def _overruled() -> Exists:
    """Whether a lead, or its judges together, set the outer pair below the relevant grades."""
    ruled = Adjudication.objects.filter(round=OuterRef("round"), entry=OuterRef("entry"), superseded_by=None)
    return Exists(ruled.filter(grade__lt=RELEVANT_FROM))


class _Graded(NamedTuple):
    """By query: which have a relevant passage, when one was last graded so, and which are not settled yet."""

    relevant: set[int]
    last: dict[int, datetime]
    unsettled: set[int]


def _graded(snapshot: Snapshot, only: Collection[int] | None, pools: Collection[Pool]) -> _Graded:
    rounds, queries = _in_force(snapshot).values("pk"), _among("entry__query", only)
    on_texts = Q(_in_snapshot(snapshot)) & Q(round__in=rounds) & queries
    given = Judgement.objects.filter(on_texts, pass_number__gte=1, grade__gte=RELEVANT_FROM)
    ruled = Adjudication.objects.filter(on_texts, grade__gte=RELEVANT_FROM)
    relevant: set[int] = set()
    last: dict[int, datetime] = {}
    for rows, counts in ((given, Q(~_overruled(), superseded_by=None)), (ruled, Q(superseded_by=None))):
        by_query = rows.order_by().values("entry__query").annotate(at=Max("given_at"), n=Count("pk", filter=counts))
        for query, at, n in by_query.values_list("entry__query", "at", "n"):
            last[query] = max(at, last.get(query, at))
            if n:
                relevant.add(query)
    undecided = UndecidedPair.objects.filter(queries, round__in=rounds)
    seats = Seat.objects.filter(queries, round__in=rounds).exclude(state=SeatState.DONE)
    seats = seats.exclude(round__state=RoundState.CLOSED)
    answered = Judgement.objects.filter(
        round__in=rounds,
        superseded_by=None,
        grade__isnull=False,
        entry__query=OuterRef("query"),
        entry__version__block=OuterRef("version__block"),
        entry__version__text_digest=OuterRef("version__text_digest"),
    )
    entries = PoolEntry.objects.filter(_among("query", only), ~Exists(answered), pool__in=pools)
    entries = entries.filter(Q(sampled=None) | ~Q(sampled__how=SAME))
    names = (undecided, "entry__query"), (seats, "entry__query"), (entries, "query")
    first, *others = (rows.order_by().values_list(name, flat=True) for rows, name in names)
    return _Graded(relevant, last, set(first.union(*others)))


def _among(name: str, only: Collection[int] | None) -> Q:
    return Q() if only is None else Q(**{f"{name}__in": list(only)})


def bases_of(snapshot: Snapshot, pools: Collection[Pool], queries: Collection[int]) -> dict[int, Basis]:
    """What was judged for each of these queries, whose pairs are all judged: the deepest pool, and the best sample."""
    blocks = snapshot.block_count
    entries = PoolEntry.objects.filter(pool__in=pools, query__in=queries).order_by()
    judged = dict(entries.values_list("query").annotate(n=Count("version", distinct=True)))
    systems = _systems_of(pools)
    depths: dict[int, tuple[int, int]] = {}
    by_key = {pool.pk: pool for pool in pools}
    covered = PoolQuery.objects.filter(pool__in=by_key, query__in=queries).values_list("pool", "query")
    for pool, query in covered:
        if systems.get(pool) and not plan_of(by_key[pool].plan).has_budget:
            depths[query] = max(depths.get(query, (0, 0)), (by_key[pool].depth, systems[pool]))
    samples = _samples_of(blocks, entries) if any(plan_of(pool.plan).has_samples for pool in pools) else {}
    found = {}
    for query in queries:
        depth, number = depths.get(query, (0, 0))
        options = [Basis(blocks, judged.get(query, 0), depth, number, each) for each in samples.get(query, ((),))]
        found[query] = min(options, key=lambda one: blocks if one.missed_at_most is None else one.missed_at_most)
    return found


def _systems_of(pools: Collection[Pool]) -> dict[int, int]:
    rows = PoolRun.objects.filter(pool__in=pools).order_by().values_list("pool")
    return dict(rows.annotate(n=Count("run__system", distinct=True)))


def _samples_of(blocks: int, entries: QuerySet[PoolEntry]) -> dict[int, list[tuple[Sample, ...]]]:
    """By query the random samples of each pool that has some, one for each stratum.

    The stratum `all` has every block that is not otherwise in the pool. The size of another is what its blocks were
    drawn with; where it was drawn twice with another probability, it is left out, as its size is not known.
    """
    drawn: dict[tuple[int, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    random = entries.filter(sampled__how=RANDOM, found_by=[])
    for pool, query, how in random.values_list("pool", "query", "sampled"):
        drawn[query, pool][how["stratum"]].append(how["p"])  # type: ignore[index]
    counted = entries.values_list("pool", "query").annotate(n=Count("pk"))
    inside = {(pool, query): n for pool, query, n in counted}
    found: dict[int, list[tuple[Sample, ...]]] = defaultdict(list)
    for (query, pool), strata in drawn.items():
        rest = blocks - inside[pool, query] + sum(map(len, strata.values()))
        sizes = {
            name: rest if name == ALL else round(len(chances) / chances[0]) if len(set(chances)) == 1 else 0
            for name, chances in strata.items()
        }
        if all(sizes.values()):
            found[query].append(tuple(Sample(len(strata[name]), size) for name, size in sorted(sizes.items())))
    return found


def voted_queries(snapshot: Snapshot, only: Collection[int] | None = None) -> list[VotedQuery]:
    """The candidates of a snapshot, and the queries with votes on it, by state and outside id; of `only` these."""
    pools = _pools(snapshot)
    known = Query.objects.filter(project=snapshot.corpus.project_id, retired_at=None)
    queries = known.filter(
        _among("pk", only), pk__in=PoolQuery.objects.filter(pool__in=pools).values("query")
    ).in_bulk()
    graded = _graded(snapshot, only, pools)
    votes = _votes_on(snapshot, only)
    kept = {pk for pk in queries if pk in votes or (pk not in graded.relevant and pk not in graded.unsettled)}
    bases = bases_of(snapshot, pools, kept)
    found = []
    for pk in sorted(kept, key=lambda pk: queries[pk].outside_id):
        query, last = queries[pk], votes.get(pk, [])
        plain = [Vote(vote.number, vote.is_nothing, vote.given_at) for vote in last]
        is_relevant, is_settled = pk in graded.relevant, pk not in graded.unsettled
        evidence = Evidence(is_settled, is_relevant, graded.last.get(pk), bool(bases[pk].kind))
        if (state := state_of(plain, evidence)) is None:
            continue
        attempt = last[0].attempt if last else 1
        is_void = bool(last) and are_void(plain, evidence)
        found.append(VotedQuery(query, state, bases[pk], last, attempt, is_void))
    fallen = [each.query.pk for each in found if each.state is AbsenceState.FALLEN]
    by = _relevant_by(snapshot, fallen) if fallen else {}
    found = [each._replace(relevant_by=by.get(each.query.pk)) for each in found]
    return sorted(found, key=lambda each: LISTED.index(each.state))


def _votes_on(snapshot: Snapshot, only: Collection[int] | None) -> dict[int, list[UnanswerableVote]]:
    """The votes of the last attempt on each query, in the order of their numbers."""
    rows = UnanswerableVote.objects.filter(_among("query", only), snapshot=snapshot)
    rows = rows.select_related("person", "passage__block")
    found: dict[int, list[UnanswerableVote]] = {}
    for vote in rows.order_by("query", "attempt", "number"):
        before = found.get(vote.query_id, [])
        found[vote.query_id] = [*before, vote] if before and before[0].attempt == vote.attempt else [vote]
    return found


def _relevant_by(snapshot: Snapshot, queries: Collection[int]) -> dict[int, User]:
    """Who last graded a passage of each of these queries relevant."""
    rows = Judgement.objects.filter(
        _in_snapshot(snapshot),
        round__in=_in_force(snapshot).values("pk"),
        entry__query__in=queries,
        grade__gte=RELEVANT_FROM,
        pass_number__gte=1,
    )
    rows = rows.order_by("given_at", "pk").select_related("annotator", "entry")
    return {row.entry.query_id: row.annotator for row in rows}


def to_vote_on(every: Collection[VotedQuery], person: User) -> list[VotedQuery]:
    """Those that this person can vote on now."""
    return [each for each in every if each.state is AbsenceState.OPEN and not each.has_voted(person)]


def snapshots_with_pools(project: Project) -> list[Snapshot]:
    """The snapshots that have a complete pool, newest first."""
    pools = pools_in(project).filter(state=PoolState.COMPLETE).order_by()
    rows = Snapshot.objects.filter(pk__in=pools.values("snapshot")).select_related("corpus__project")
    return list(rows.order_by("-frozen_at", "-pk"))


def confirmed_on(snapshot: Snapshot) -> Mapping[int, dict[str, Any]]:
    """By query what a version says of each that is confirmed: how far people looked, and how it was settled."""
    if not UnanswerableVote.objects.filter(snapshot=snapshot).exists():
        return {}
    return {
        each.query.pk: each.basis.as_json | {"resolution": "adjudicated" if each.live[0].number == 0 else "unanimous"}
        for each in voted_queries(snapshot)
        if each.state is AbsenceState.CONFIRMED
    }
