"""Undecided pairs: those that a lead can decide, those that their judges can settle, and who can decide the rest."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of, policy
from apps.judging.enums import RoundState
from apps.judging.models import HeldDecision, Judgement, Round, SecondGrade, UndecidedPair
from apps.judging.selectors.pairs import JudgedPair, live_judgements, pairs_where
from apps.judging.selectors.placeholders import live_claims, selves_of
from apps.judging.selectors.plans import plan_of

OWN_DECISIONS = "leads_decide_own"
"""The policy by which a lead may decide a pair that they judged."""


def is_reconciled_in(round_: Round) -> bool:
    """Whether the judges of this round may settle their differences now."""
    return round_.state == RoundState.OPEN and plan_of(round_).reconcile


def with_judges(project: Project, rounds: Iterable[Round]) -> Q:
    """For undecided pairs of these rounds: those that their judges can still settle.

    Not once everybody has answered, nor where a judge has left: nobody waits for somebody who is gone.
    """
    reconciled = [round_.pk for round_ in rounds if is_reconciled_in(round_)]
    if not reconciled:
        return Q(pk__in=[])
    return Q(round__in=reconciled) & ~_HAS_ENDED & ~Q(has_left(project))


_HAS_ENDED = Q(
    Exists(SecondGrade.objects.filter(is_last=True, look__round=OuterRef("round"), look__entry=OuterRef("entry")))
)


def has_left(project: Project) -> Exists:
    """Whether a judge of the pair of the outer row judges in the project no more."""
    answers = Judgement.objects.filter(round=OuterRef("round"), entry=OuterRef("entry"), pass_number=1)
    return Exists(answers.exclude(annotator__in=members_of(project, Role.ANNOTATOR).order_by().values("pk")))


def decided_by_lead(user: User, project: Project, rounds: Iterable[Round]) -> Q:
    """For undecided pairs of these rounds: those that this lead can decide.

    A pair that they judged is another lead's, unless the project lets them decide it. Even then not before the other
    grades may be seen by its judges: once the round is closed, or all have answered the difference.
    """
    free = ~judged_by(user)
    if policy(project, OWN_DECISIONS):
        free |= Q(round__state=RoundState.CLOSED) | _HAS_ENDED
    return free & ~with_judges(project, rounds)


def judged_by(user: User) -> Q:
    """Whether this person has answered the pair of the outer row, under whatever name."""
    mine = Judgement.objects.filter(annotator__in=selves_of(user).values("pk"), pass_number=1)
    return Q(Exists(mine.filter(round=OuterRef("round"), entry=OuterRef("entry"))))


def undecided(round_: Round) -> QuerySet[UndecidedPair]:
    """The pairs whose judges have all answered without settling them, and which have no decision."""
    pairs = UndecidedPair.objects.filter(round=round_)
    return pairs if round_.withdrawn_at is None else pairs.none()


def decidable(round_: Round, user: User) -> QuerySet[UndecidedPair]:
    """The pairs that this lead can decide."""
    return undecided(round_).filter(decided_by_lead(user, round_.project, [round_]))


def adjudicable(round_: Round, user: User) -> list[JudgedPair]:
    """The pairs that this lead can decide, lowest agreement first. None of a round that was withdrawn."""
    pairs = pairs_where(round_, Q(entry__in=decidable(round_, user).values("entry")))
    return sorted(pairs, key=lambda pair: (-pair.spread, pair.entry_id))


def left_to_another_lead(round_: Round, user: User) -> int:
    """How many pairs another lead must decide, because this lead judged them. 0 before the round is closed."""
    return _left(round_, user).count() if round_.state == RoundState.CLOSED else 0


def _left(round_: Round, user: User) -> QuerySet[UndecidedPair]:
    """The undecided pairs that this lead judged, and so can't decide."""
    return undecided(round_).filter(judged_by(user) & ~decided_by_lead(user, round_.project, [round_]))


def own_among(round_: Round, user: User) -> set[int]:
    """The entries of the undecided pairs that this person judged."""
    return set(undecided(round_).filter(judged_by(user)).values_list("entry", flat=True))


def left_to_judges(project: Project, rounds: Iterable[Round]) -> Counter[int]:
    """How many pairs of each of these rounds their judges can still settle, by its key."""
    rows = UndecidedPair.objects.filter(with_judges(project, rounds)).order_by().values_list("round")
    return Counter(dict(rows.annotate(n=Count("pk"))))


class LeadStanding(NamedTuple):
    """How a lead stands to one pair. `may_decide_own`: that they judged it is no reason against it."""

    has_judged: bool
    may_decide_own: bool
    is_with_judges: bool


def standings_of(round_: Round, entries: Collection[int], user: User) -> dict[int, LeadStanding]:
    """How this lead stands to each of these pairs of one round, by the key of its entry."""
    rows = UndecidedPair.objects.filter(round=round_, entry__in=entries)
    waiting = set(rows.filter(with_judges(round_.project, [round_])).values_list("entry", flat=True))
    ended = set(rows.filter(_HAS_ENDED).values_list("entry", flat=True))
    own = Judgement.objects.filter(round=round_, entry__in=entries, annotator__in=selves_of(user).values("pk"))
    judged, may_own = set(own.values_list("entry", flat=True)), policy(round_.project, OWN_DECISIONS)
    is_closed = round_.state == RoundState.CLOSED
    return {
        entry: LeadStanding(entry in judged, may_own and (is_closed or entry in ended), entry in waiting)
        for entry in entries
    }


def held_by_lead(round_: Round, lead: User) -> dict[int, HeldDecision]:
    """The grades that this lead holds for pairs of the round, by the key of the entry, the last one last."""
    rows = HeldDecision.objects.filter(round=round_, lead=lead).order_by("held_at", "pk")
    return {held.entry_id: held for held in rows}


class Deciders(NamedTuple):
    """For some pairs: the names of leads who can decide at least one, and how many pairs nobody can decide."""

    names: list[str]
    stuck: int


def deciders_of_pair(round_: Round, entry_id: int) -> Deciders:
    return _deciders(round_, live_judgements(round_).filter(entry=entry_id))


def deciders_of_left(round_: Round, user: User) -> Deciders:
    """For the undecided pairs that this lead judged."""
    return _deciders(round_, live_judgements(round_).filter(entry__in=_left(round_, user).values("entry")))


def _deciders(round_: Round, judgements: QuerySet[Judgement]) -> Deciders:
    members = dict(live_claims(round_.project).values_list("placeholder", "member"))
    judges = defaultdict(set)
    for entry, annotator in judgements.order_by().values_list("entry", "annotator"):
        judges[entry].add(members.get(annotator, annotator))
    leads = list(members_of(round_.project, Role.LEAD))
    may_own = policy(round_.project, OWN_DECISIONS)
    free = [[lead for lead in leads if may_own or lead.pk not in of_pair] for of_pair in judges.values()]
    able = {lead.pk for each in free for lead in each}
    return Deciders([lead.name for lead in leads if lead.pk in able], sum(not each for each in free))
