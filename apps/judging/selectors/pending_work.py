"""Open work in judging: a person's pairs to grade, a lead's pairs to adjudicate, and what waits in a corpus."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Min, Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.database.batched_reads import BatchedRead
from apps.corpus.models import Corpus
from apps.corpus.selectors.corpora import TextKey
from apps.judging.core.differences import DifferenceState
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Judgement, Round, Seat, UndecidedPair
from apps.judging.selectors.deciding import decided_by_lead, is_reconciled_in, with_judges
from apps.judging.selectors.differences import differences_of
from apps.judging.selectors.my_progress import what_is_left_of
from apps.judging.selectors.progress import known_rounds
from apps.retrieval.models import PoolEntry

ROWS = 5_000


class WaitingIn(NamedTuple):
    """The round in which a pair waits."""

    round_id: int
    name: str


class PooledIn(NamedTuple):
    """The pool of an edition that has a pair."""

    pool_id: int
    name: str


def pairs_of_editions(corpus: Corpus) -> dict[tuple[int, TextKey], PooledIn]:
    """The latest pool of changed and new passages that has each query and text, judged or not."""
    entries = PoolEntry.objects.filter(pool__snapshot__corpus=corpus, pool__plan__how="edition").order_by("pool", "pk")
    rows = entries.values_list("query_id", "version__block_id", "version__text_digest", "pool_id", "pool__name")
    return {
        (query, TextKey(block, digest)): PooledIn(pool_id, name)
        for query, block, digest, pool_id, name in rows.iterator(chunk_size=ROWS)
    }


def waiting_pairs(corpus: Corpus) -> dict[tuple[int, TextKey], WaitingIn]:
    """The latest open round of each query and text that still has no answer there."""
    seats = Seat.objects.filter(round__pool__snapshot__corpus=corpus, pass_number=1)
    seats = seats.exclude(state=SeatState.DONE).exclude(round__state=RoundState.CLOSED).order_by("round__number")
    rows = seats.values_list(
        "query_id", "entry__version__block_id", "entry__version__text_digest", "round_id", "round__name"
    )
    return {
        (query, TextKey(block, digest)): WaitingIn(round_id, name)
        for query, block, digest, round_id, name in rows.iterator(chunk_size=ROWS)
    }


class JudgingWork(NamedTuple):
    """A person's open work in a project. `left` are pairs they judged, which another lead decides.

    `to_grade` are pairs of their own shares. `help_round` is a round in which their share is done, and `to_help` are
    pairs of others that they may judge as well. `full_round` is an open round in which every planned grade is given, so
    that it can be closed; where its judges still settle differences it is `settling_round`, with so many `settling`.
    `to_reconcile` are pairs on which they and others differ, and which wait for their answer.
    """

    to_grade: int
    grade_round: Round | None
    to_adjudicate: int
    adjudicate_round: Round | None
    adjudicate_since: datetime | None
    left: int
    left_round: Round | None
    full_round: Round | None = None
    to_help: int = 0
    help_round: Round | None = None
    to_reconcile: int = 0
    reconcile_round: Round | None = None
    settling: int = 0
    settling_round: Round | None = None


class Undecided(NamedTuple):
    """The undecided pairs of a round: `others` a lead can decide, `own` not, since they judged them.

    Those that their judges can still settle are in neither but in `with_judges`. `oldest` is a judgement's key.
    """

    round: Round
    own: int = 0
    others: int = 0
    oldest: int | None = None
    with_judges: int = 0


def what_waits_for(user: User, project: Project, roles: frozenset[str]) -> BatchedRead[JudgingWork]:
    """A person's open work: pairs to grade in open rounds, and for leads pairs to adjudicate, rounds to close."""
    rounds = known_rounds(project, user)
    own = [each.round for each in rounds if each.is_asked and each.can_be_judged] if Role.ANNOTATOR in roles else []
    undecided = undecided_in(project, user) if Role.LEAD in roles else []
    to_adjudicate = [row for row in undecided if row.others]
    # While a round is open, how many of one's pairs are undecided would reveal others' answers.
    to_others = [row for row in undecided if row.own and row.round.state == RoundState.CLOSED]
    full = [each.round for each in rounds if each.can_be_closed] if Role.LEAD in roles else []
    settling = Counter({row.round.pk: row.with_judges for row in undecided})
    oldest = min((row.oldest for row in to_adjudicate if row.oldest), default=None)
    left, differing = what_is_left_of(own, user), waiting_differences(own, user)
    since = Judgement.objects.filter(pk=oldest).values("given_at") if oldest else None

    def read(found: Mapping[str, Any]) -> JudgingWork:
        progress = left.read(found)
        past = [round_ for round_ in own if progress[round_.pk].is_past]
        return JudgingWork(
            sum(each.to_go for each in progress.values()),
            next((round_ for round_ in own if progress[round_.pk].to_go), None),
            sum(row.others for row in to_adjudicate),
            next((row.round for row in to_adjudicate), None),
            found.get("since"),
            sum(row.own for row in to_others),
            next((row.round for row in to_others), None),
            next((round_ for round_ in full if not settling[round_.pk]), None),
            sum(progress[round_.pk].beyond for round_ in past),
            next(iter(past), None),
            differing.total(),
            next((round_ for round_ in own if differing[round_.pk]), None),
            sum(settling[round_.pk] for round_ in full),
            next((round_ for round_ in full if settling[round_.pk]), None),
        )

    return BatchedRead({**left.asks, "since": Subquery(since)} if since is not None else left.asks, read)


def waiting_differences(rounds: Sequence[Round], user: User) -> Counter[int]:
    """How many of each round wait for this person's answer, by its key, in the order of the rounds.

    Nothing is read where no round lets judges settle them.
    """
    reconciled = [round_ for round_ in rounds if is_reconciled_in(round_)]
    found = differences_of(user, reconciled) if reconciled else []
    return Counter(each.round.pk for each in found if each.state is DifferenceState.YOURS)


def undecided_in(project: Project, user: User | None = None) -> list[Undecided]:
    """The rounds with undecided pairs, oldest first, counted in one statement."""
    rounds = {each.round.pk: each.round for each in known_rounds(project, user) if each.may_need_a_lead}
    if not rounds:
        return []
    waits = with_judges(project, rounds.values())
    theirs = decided_by_lead(user, project, rounds.values()) if user else ~waits
    pairs = UndecidedPair.objects.filter(round__in=rounds).order_by()
    counted = pairs.values("round").annotate(
        own=Count("pk", filter=~theirs & ~waits),
        others=Count("pk", filter=theirs),
        since=Min("oldest", filter=theirs),
        waiting=Count("pk", filter=waits),
    )
    columns = ("round", "own", "others", "since", "waiting")
    found = {pk: Undecided(rounds[pk], *numbers) for pk, *numbers in counted.values_list(*columns)}
    return [found[pk] for pk in rounds if pk in found]
