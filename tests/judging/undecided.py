"""What the list of undecided pairs has to hold, read from the grades themselves."""

from collections import Counter

from apps.judging.core.resolution import Ruling, resolve
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Adjudication, Judgement, Round, Seat, UndecidedPair


def undecided_by_hand(round_: Round) -> set[int]:
    """The entries of a round whose judges have all answered without settling them, and which have no decision."""
    round_ = Round.objects.get(pk=round_.pk)
    seats = Seat.objects.filter(round=round_, pass_number=1)
    if round_.state == RoundState.CLOSED:
        seats = seats.filter(state=SeatState.DONE)
    planned = Counter(seats.values_list("entry", flat=True))
    given: dict[int, list] = {}
    live = Judgement.objects.filter(round=round_, pass_number=1, superseded_by=None).order_by("pk")
    for entry, grade in live.values_list("entry", "grade"):
        given.setdefault(entry, []).append(grade)
    ruled = dict(Adjudication.objects.filter(round=round_, superseded_by=None).values_list("entry", "grade"))
    return {
        entry
        for entry, answers in given.items()
        if resolve(answers, planned=planned[entry], ruling=Ruling(ruled[entry]) if entry in ruled else None).needs_lead
    }


def undecided_as_kept(round_: Round) -> set[int]:
    return set(UndecidedPair.objects.filter(round=round_).values_list("entry", flat=True))
