"""Who may do what in judging. Each rule returns the reason against it, or None."""

from apps.accounts.models import Project, User
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import Guideline, Round, Seat
from apps.judging.resolution import PairState, Resolved
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool

CLOSED = "This round is closed. Its grades stand as they are."
OPENING = "This round is still being opened. Its pairs will be there in a moment."


def open_round_refusal(pool: Pool, guideline: Guideline | None, annotators: int) -> str | None:
    """Say why no round can be opened on this pool."""
    if pool.state != PoolState.COMPLETE:
        return "The pool is not complete yet. A round needs all of its pairs."
    if pool.entry_count == 0:
        return "The pool holds no pair, so there is nothing to judge."
    if guideline is None:
        return "There is no guideline yet. Publish one, so that a grade means the same to everybody."
    if annotators == 0:
        return "A round needs at least one annotator."
    return None


def plan_refusal(annotators: int, most_judges: int) -> str | None:
    """Say why a plan can't be filled: nobody gives a pair two judgements."""
    if most_judges > annotators:
        return (
            f"The plan asks for {most_judges} judges on a pair, and {annotators} "
            f"{'was' if annotators == 1 else 'were'} chosen. Nobody judges a pair twice."
        )
    return None


def grading_refusal(round_: Round) -> str | None:
    """Say why nobody can grade in this round now."""
    if round_.state == RoundState.OPENING:
        return OPENING
    if round_.state == RoundState.CLOSED:
        return CLOSED
    return None


def regrade_refusal(round_: Round, *, is_adjudicated: bool) -> str | None:
    """Say why a grade that was given can't be changed any more."""
    if is_adjudicated:
        return "This pair is adjudicated. Your grade stands beside the decision."
    return grading_refusal(round_)


def seat_is_taken(seat: Seat, annotator: User) -> bool:
    """Tell whether somebody else holds or has used this seat."""
    return seat.state != SeatState.OPEN and seat.annotator_id != annotator.pk


def answer_refusal(project: Project, grade: int | None, cant_judge: str) -> str | None:
    """Say why this is neither a grade nor a reason for not giving one."""
    if (grade is None) == (not cant_judge):
        return "A judgement is either a grade or a reason why the pair can't be judged."
    if grade is not None and grade not in project.grades:
        low, high = min(project.grades), max(project.grades)
        return f"{grade} is not on the scale of this project, which goes from {low} to {high}."
    return None


def adjudication_refusal(resolved: Resolved, *, has_judged: bool) -> str | None:
    """Say why this person can't adjudicate this pair."""
    if has_judged:
        return "You judged this pair. A lead who has no part in it decides."
    if resolved.state in (PairState.UNJUDGED, PairState.PARTLY):
        return "Not every judge of this pair has answered yet."
    if resolved.state is PairState.AGREED and not resolved.needs_lead:
        return "The judges of this pair agree. There is nothing to adjudicate."
    return None


def close_refusal(round_: Round) -> str | None:
    """Say why this round can't be closed."""
    if round_.kind == RoundKind.IMPORTED or round_.state == RoundState.CLOSED:
        return "This round is closed already."
    if round_.state == RoundState.OPENING:
        return OPENING
    return None
