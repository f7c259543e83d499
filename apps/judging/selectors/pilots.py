"""Agreement over some queries of a round, and the state of its pilot."""

from typing import NamedTuple

from apps.judging.enums import RoundState, SeatState
from apps.judging.models import NOT_RETIRED, Judgement, PilotDecision, Round, Seat
from apps.judging.selectors.round_plan import pilot_queries, plan_of
from apps.metrics.agreement.alpha_values import ordinal_alpha

UNFILLED = (SeatState.OPEN, SeatState.LEASED)


class PilotProgress(NamedTuple):
    """The pilot of a round: its size, its progress, its ordinal α so far, and its decision."""

    queries: int
    planned: int
    done: int
    alpha: float | None
    bar: float
    decision: PilotDecision | None
    is_waiting: bool

    @property
    def is_judged(self) -> bool:
        """Whether every seat of the pilot is done."""
        return self.done == self.planned


def answers_over(round_: Round, queries: list[int]) -> dict[int, list[int | None]]:
    """The answers in force on each judged pair of these queries, None for "can't judge"."""
    seats = Seat.objects.filter(round=round_, query__in=queries, pass_number=1, state=SeatState.DONE)
    judgements = Judgement.objects.filter(seat__in=seats, superseded_by=None)
    answers: dict[int, list[int | None]] = {}
    for entry_id, grade in judgements.values_list("entry_id", "grade"):
        answers.setdefault(entry_id, []).append(grade)
    return answers


def alpha_over(round_: Round, queries: list[int]) -> float | None:
    """Ordinal α over the grades in force on the pairs of these queries; None where it is undefined."""
    return ordinal_alpha(answers_over(round_, queries).values())


def is_filled(round_: Round, queries: list[int]) -> bool:
    """Whether no first grade is missing on these queries."""
    seats = Seat.objects.filter(NOT_RETIRED, round=round_, query__in=queries, pass_number=1)
    return not seats.filter(state__in=UNFILLED).exists()


def pilot_progress(round_: Round) -> PilotProgress | None:
    """The progress of the pilot of this round; None for a round without one."""
    queries = pilot_queries(round_)
    if not queries:
        return None
    seats = Seat.objects.filter(round=round_, query__in=queries, pass_number=1)
    decision = PilotDecision.objects.filter(round=round_).select_related("decided_by").first()
    return PilotProgress(
        queries=len(queries),
        planned=seats.count(),
        done=seats.filter(state=SeatState.DONE).count(),
        alpha=decision.alpha if decision else alpha_over(round_, queries),
        bar=plan_of(round_).pilot_bar,
        decision=decision,
        is_waiting=decision is None and round_.state == RoundState.OPEN,
    )
