"""Who may do what in a review. Each rule returns the reason why not, or None: one sentence for page, API and button."""

from apps.accounts.enums import Role
from apps.review.enums import ABOUT_ENTAILMENT, Category, Choice, Reason
from apps.review.standing import Standing
from apps.review.visibility import Phase, may_write_in_thread
from apps.triples.enums import State
from apps.triples.models import Triple


def _is(triple: Triple) -> str:
    word = State(triple.state).label.lower()
    return f"It is {word}, stale" if triple.is_stale else f"It is {word}"


def _unless_disputed(triple: Triple) -> str | None:
    return None if triple.state == State.DISPUTED else f"{_is(triple)}, not disputed."


def submit_refusal(triple: Triple, standing: Standing, is_writer: bool) -> str | None:
    """Why the open revision may not be submitted by this person, its checks apart. `is_writer`: it is theirs."""
    if not is_writer:
        return "Only who is writing this revision can submit it."
    if triple.is_machine_written and triple.adopted_by_id is None:
        return "A machine wrote it. Somebody must adopt it first."
    if triple.state == State.DRAFT or triple.state == State.DISPUTED or triple.is_stale:
        return None
    return f"{_is(triple)}; there is nothing to submit."


def verdict_refusal(triple: Triple, standing: Standing) -> str | None:
    """Why this person may not answer the current round, or None."""
    if standing.wrote_any:
        return "You wrote it. Nobody reviews what they wrote."
    if standing.seat is None:
        return "You hold no seat in this round."
    if Role.REVIEWER not in standing.roles:
        return "You are no longer a reviewer in this project."
    if triple.state != State.IN_REVIEW or standing.phase is not Phase.OPEN:
        return "The round is closed: both verdicts are in."
    return None


def flag_fault(choice: str, reasons: list[str], category: str, note: str) -> str | None:
    """What is missing in a verdict, whoever gives it, or None."""
    if choice not in Choice.values:
        return "A verdict is “confirm” or “flag”."
    if choice == Choice.CONFIRM:
        return "A confirmation names no reasons." if reasons or category else None
    if not reasons or not set(reasons) <= set(Reason.values):
        return "A flag names at least one of the six reasons."
    if len(set(reasons)) != len(reasons):
        return "A flag names each reason once."
    if category and category not in Category.values:
        return "The kind of entailment is not one of the four."
    about_entailment = bool(ABOUT_ENTAILMENT & set(reasons))
    if about_entailment and not category:
        return "A flag about the answer names its kind of entailment."
    if category and not about_entailment:
        return "A kind of entailment goes with a flag about the answer."
    if Reason.OTHER in reasons and not note.strip():
        return "“Other” needs your words under “Why”."
    return None


def message_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    if may_write_in_thread(is_author=standing.wrote_any, is_flagger=standing.is_flagger):
        return None
    return "Author and flagger write here; the other reviewer reads."


def revise_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    return None if standing.wrote_any else f"Only {triple.author}, who wrote it, can revise it."


def withdraw_flag_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    if standing.is_flagger:
        return None
    return f"Only {standing.flagger}, who raised it, can withdraw it."


def split_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    return None if standing.wrote_any else f"Only {triple.author}, who wrote it, can split it."


def drop_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    return None if standing.wrote_any else f"Only {triple.author}, who wrote it, can drop it."


def adjudicate_refusal(triple: Triple, standing: Standing) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    if standing.wrote_any:
        return "You wrote this triple. A lead who has no part in it decides."
    if standing.reviewed_any:
        return "You reviewed this triple. A lead who has no part in it decides."
    return None if standing.is_lead else "Only a lead who has no part in it can decide."


def repin_refusal(triple: Triple, standing: Standing) -> str | None:
    if triple.state != State.ACCEPTED or not triple.is_stale:
        return f"{_is(triple)}; only a stale triple is pinned again."
    if standing.reviewed_any:
        return "You reviewed this triple. Its author or another lead pins it again."
    if standing.wrote_any or standing.is_lead:
        return None
    return f"Only {triple.author}, who wrote it, or a lead can pin it again."
