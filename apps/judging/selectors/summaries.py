"""Summaries of the rounds of a project, each with its seats counted."""

from typing import NamedTuple

from django.db.models import Count, QuerySet

from apps.accounts.models import Project
from apps.judging.enums import RoundState, SeatState
from apps.judging.models import Round, RoundAnnotator, Seat
from apps.judging.selectors.progress import fixed_seat_count


class RoundSummary(NamedTuple):
    """A round in the list, with its seats counted."""

    round: Round
    planned: int
    done: int
    people: int

    @property
    def is_full(self) -> bool:
        """Whether every planned grade of an open round is given, so that a lead can close it."""
        return self.round.state == RoundState.OPEN and 0 < self.planned <= self.done


def round_summaries(project: Project) -> list[RoundSummary]:
    """Every round of the project, withdrawn ones too, newest first, in a fixed number of statements."""
    rounds = list(Round.objects.filter(project=project).select_related("pool", "guideline").order_by("-number"))
    seats = Seat.objects.filter(round__in=rounds)
    fixed = {round_.pk: fixed_seat_count(round_) for round_ in rounds}
    every = _by_round(seats.filter(round__in=[pk for pk, number in fixed.items() if number is None]))
    reserved = _by_round(seats.filter(reserved_for__isnull=False))
    done = _by_round(seats.filter(state=SeatState.DONE))
    people = _by_round(RoundAnnotator.objects.filter(round__in=rounds))
    planned = {pk: every.get(pk, 0) if number is None else number + reserved.get(pk, 0) for pk, number in fixed.items()}
    return [
        RoundSummary(round_, planned[round_.pk], done.get(round_.pk, 0), people.get(round_.pk, 0)) for round_ in rounds
    ]


def _by_round(rows: QuerySet) -> dict[int, int]:
    return dict(rows.values_list("round").annotate(n=Count("pk")).order_by())
