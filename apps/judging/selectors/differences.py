"""Differences as their judges find them: the pairs of reconciling rounds on which all have graded and differ."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import DateTimeField, Exists, F, IntegerField, OuterRef, Q, QuerySet, Value

from apps.accounts.models import User
from apps.judging.core.differences import Difference, DifferenceState, SecondAnswer
from apps.judging.enums import DecidedBy, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, SecondGrade, SecondLook, UndecidedPair
from apps.judging.selectors.deciding import has_left, is_reconciled_in, undecided, with_judges
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.progress import places_in
from apps.retrieval.models import PoolEntry


class OpenDifference(NamedTuple):
    """A difference that its judges can still settle. `asked`: whose answer is missing, and since when they can give it.

    `blind` have to judge the pair once more first, and are told nothing of it before.
    """

    judges: set[int]
    asked: dict[int, datetime]
    blind: set[int]


class Missing(NamedTuple):
    """The differences that a round still waits for, and whose answers are missing to how many, as one lead may know it.

    A judge of a pair does not learn who the others are: `unnamed` answers are those of others on pairs that this lead
    judged, `own` are theirs.
    """

    pairs: int = 0
    own: int = 0
    unnamed: int = 0
    named: Sequence[tuple[User, int]] = ()


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


FIRST, SECOND, AGAIN = range(3)
"""What a row is about a judge of a difference: a first grade, an answer, or that the pair comes back to them."""


def open_differences(round_: Round) -> list[OpenDifference]:
    """The differences of a round that its judges can still settle, in one statement."""
    if not is_reconciled_in(round_):
        return []
    entries = undecided(round_).filter(with_judges(round_.project, [round_])).values("entry")
    first = live_judgements(round_).filter(entry__in=entries, pass_number=1)
    second = SecondGrade.objects.filter(look__round=round_, look__entry__in=entries)
    again = Seat.objects.filter(round=round_, entry__in=entries, pass_number__gt=1, reserved_for__isnull=False)
    again = again.exclude(state=SeatState.DONE)
    nothing = {"said": Value(None, IntegerField()), "at": Value(None, DateTimeField())}
    parts: list[QuerySet[Any]] = [
        first.annotate(kind=Value(FIRST), pair=F("entry"), judge=F("annotator"), said=F("grade"), at=F("given_at")),
        second.annotate(
            kind=Value(SECOND), pair=F("look__entry"), judge=F("look__judge"), said=F("grade"), at=F("given_at")
        ),
        again.annotate(kind=Value(AGAIN), pair=F("entry"), judge=F("reserved_for"), **nothing),
    ]
    rows = [part.order_by().values_list("kind", "pk", "pair", "judge", "said", "at") for part in parts]
    grades: dict[int, dict[int, int | None]] = defaultdict(dict)
    answers, blind, since = defaultdict(list), defaultdict(set), dict[tuple[int, int], datetime]()
    for kind, _, pair, judge, said, at in sorted(rows[0].union(*rows[1:], all=True), key=itemgetter(0, 1)):
        if kind == FIRST:
            grades[pair][judge] = said
        elif kind == SECOND:
            answers[pair].append(SecondAnswer(judge, said))
        else:
            blind[pair].add(judge)
            continue
        since[pair, kind] = max(at, since.get((pair, kind), at))
    return [
        OpenDifference(set(given), _asked(Difference(given, answers[pair]), blind[pair], pair, since), blind[pair])
        for pair, given in grades.items()
    ]


def _asked(
    difference: Difference, blind: set[int], pair: int, since: Mapping[tuple[int, int], datetime]
) -> dict[int, datetime]:
    """Whose answer is missing: since all had graded, or since another judge changed their grade after their answer."""
    if not difference.answers:
        return dict.fromkeys(difference.first.keys() - blind, since[pair, FIRST])
    return {
        judge: since[pair, SECOND if difference.has_answered(judge) else FIRST]
        for judge in difference.first.keys() - blind
        if difference.state_for(judge) is DifferenceState.YOURS
    }


def missing_in(round_: Round, reader: User) -> Missing:
    """The answers that an open round still waits for, as this lead may know it."""
    pairs = [each for each in open_differences(round_) if reader.pk not in each.blind]
    own = sum(reader.pk in each.asked for each in pairs)
    unnamed = sum(len(each.asked.keys() - {reader.pk}) for each in pairs if reader.pk in each.judges)
    named = Counter(judge for each in pairs if reader.pk not in each.judges for judge in each.asked)
    people = [place.person for place in places_in(round_)] if named else []
    return Missing(len(pairs), own, unnamed, [(each, named[each.pk]) for each in people if named[each.pk]])


def _second_grades(pairs: Iterable[tuple[int, int]]) -> QuerySet[SecondGrade]:
    """In the order in which they were given."""
    rounds, entries = {round_id for round_id, _ in pairs}, {entry for _, entry in pairs}
    given = SecondGrade.objects.filter(look__round__in=rounds, look__entry__in=entries)
    return given.select_related("look").order_by("pk")


def counts_of(differences: Iterable[OwnDifference]) -> Counter[DifferenceState]:
    """How many this judge has settled, and how many wait for them, for others, or for a lead."""
    return Counter(each.state for each in differences)
