"""Differences as their judges find them: the pairs of reconciling rounds on which all have graded and differ."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.accounts.models import User
from apps.judging.core.differences import Difference, DifferenceState, SecondAnswer
from apps.judging.enums import DecidedBy, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, SecondGrade, SecondLook, UndecidedPair
from apps.judging.selectors.deciding import has_left, is_reconciled_in
from apps.retrieval.models import PoolEntry


class OwnDifference(NamedTuple):
    """A pair on which this judge and others differ. `has_left`: another judge of it judges here no more."""

    round: Round
    entry_id: int
    judge_id: int
    judgements: Sequence[Judgement]
    second: Sequence[SecondGrade]
    decision: Adjudication | None
    has_left: bool

    @property
    def difference(self) -> Difference:
        first = {judgement.annotator_id: judgement.grade for judgement in self.judgements}
        return Difference(first, [SecondAnswer(each.look.judge_id, each.grade) for each in self.second])

    @property
    def state(self) -> DifferenceState:
        """How this judge finds it."""
        if self.decision is not None:
            by_judges = self.decision.decided_by == DecidedBy.JUDGES
            return DifferenceState.RECONCILED if by_judges else DifferenceState.LEFT_TO_LEAD
        if self.has_left or not is_reconciled_in(self.round):
            return DifferenceState.LEFT_TO_LEAD
        return self.difference.state_for(self.judge_id)

    @property
    def own(self) -> Judgement:
        """This judge's first answer."""
        return next(judgement for judgement in self.judgements if judgement.annotator_id == self.judge_id)

    @property
    def others(self) -> list[Judgement]:
        """The first answers of the others, by number of their seat."""
        return [judgement for judgement in self.judgements if judgement.annotator_id != self.judge_id]

    def answer_of(self, judge_id: int) -> SecondGrade | None:
        """What a judge answered last."""
        return next((each for each in reversed(self.second) if each.look.judge_id == judge_id), None)


def differences_of(judge: User, rounds: Iterable[Round], entry: PoolEntry | None = None) -> list[OwnDifference]:
    """The differences on pairs that this person judged in these rounds, by round and entry; or that on one pair.

    Also those that have ended, unless a lead decided one that they never looked at. A pair that they still have to
    judge again, blindly, is not among them before they have. Constant statements.
    """
    known = {round_.pk: round_ for round_ in rounds}
    reconciled = [pk for pk, round_ in known.items() if is_reconciled_in(round_)]
    rows: list[QuerySet[Any]] = [
        SecondLook.objects.filter(judge=judge, round__in=known),
        Adjudication.objects.filter(_judged_first(judge), decided_by=DecidedBy.JUDGES, round__in=known),
        UndecidedPair.objects.filter(_judged_first(judge), ~_still_to_judge(judge), round__in=reconciled),
    ]
    rows = [each if entry is None else each.filter(entry=entry) for each in rows]
    keys = [each.order_by().values_list("round", "entry") for each in rows]
    found = set(keys[0].union(*keys[1:]))
    if not found:
        return []
    of_found = Q(round__in={round_id for round_id, _ in found}, entry__in={pk for _, pk in found})
    first, second, decisions = defaultdict(list), defaultdict(list), {}
    answers = Judgement.objects.filter(of_found, pass_number=1, superseded_by=None).order_by("seat__number")
    for judgement in answers:
        first[judgement.round_id, judgement.entry_id].append(judgement)
    for given in _second_grades(found):
        second[given.look.round_id, given.look.entry_id].append(given)
    for decision in Adjudication.objects.filter(of_found, superseded_by=None):
        decisions[decision.round_id, decision.entry_id] = decision
    still = UndecidedPair.objects.filter(of_found).annotate(left=has_left(known[next(iter(known))].project))
    undecided = {(row.round_id, row.entry_id): row.left for row in still}
    return [
        OwnDifference(
            known[key[0]], key[1], judge.pk, first[key], second[key], decisions.get(key), undecided.get(key, False)
        )
        for key in sorted(found)
        if key in undecided or key in decisions
    ]


def _judged_first(judge: User) -> Q:
    mine = Judgement.objects.filter(annotator=judge, pass_number=1)
    return Q(Exists(mine.filter(round=OuterRef("round"), entry=OuterRef("entry"))))


def _still_to_judge(judge: User) -> Q:
    """Whether the pair comes back to them, blindly: another's grade would tell them what to answer."""
    seats = Seat.objects.filter(reserved_for=judge, pass_number__gt=1).exclude(state=SeatState.DONE)
    return Q(Exists(seats.filter(round=OuterRef("round"), entry=OuterRef("entry"))))


def _second_grades(pairs: Iterable[tuple[int, int]]) -> QuerySet[SecondGrade]:
    """In the order in which they were given."""
    rounds, entries = {round_id for round_id, _ in pairs}, {entry for _, entry in pairs}
    given = SecondGrade.objects.filter(look__round__in=rounds, look__entry__in=entries)
    return given.select_related("look").order_by("pk")


def counts_of(differences: Iterable[OwnDifference]) -> Counter[DifferenceState]:
    """How many this judge has settled, and how many wait for them, for others, or for a lead."""
    return Counter(each.state for each in differences)
