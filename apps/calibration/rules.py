"""Who may see and do what in the quality tracker. Each rule returns the reason against it, or None."""

from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.calibration.models import Calibration, CalibrationState
from apps.triples.rules import READERS

PARTICIPANTS = READERS
LEAST_ITEMS = 2


def person_refusal(member: Member, person: int) -> str | None:
    """Why this member may not see the rates of `person`: leads see everybody's, others their own."""
    if member.is_lead or member.user.pk == person:
        return None
    return "A person’s rates are shown to leads and to that person."


def see_refusal(calibration: Calibration, member: Member) -> str | None:
    if calibration.includes(member.user) or member.is_lead:
        return None
    return "Only the two who take part in a calibration and leads can see it."


def open_refusal(member: Member) -> str | None:
    return None if member.is_lead else "Only a lead can open a calibration."


def pair_refusal(subject: User, partner: User, able: frozenset[int]) -> str | None:
    """Why these two cannot have a calibration. `able`: who may review in the project."""
    if subject.pk == partner.pk:
        return "A calibration needs two people. Choose another partner."
    for person in (subject, partner):
        if person.pk not in able:
            return f"{person} is no longer an annotator, reviewer or lead of this project."
    return None


def set_refusal(consensus: int, flagged: int, wanted: int) -> str | None:
    """Why there is no set of past rounds that these two may review once more."""
    available = consensus + flagged
    if available < wanted:
        return (
            f"A calibration needs {wanted} past Q&As that neither of the two wrote or had in a calibration before; "
            f"there {'is' if available == 1 else 'are'} {available}. "
            "Wait until more reviews are finished, or choose another partner."
        )
    if not consensus or not flagged:
        kind = "flagged" if not flagged else "confirmed by both"
        return f"A calibration needs past Q&As that were confirmed and others that were flagged; none was {kind}."
    return None


def answer_refusal(calibration: Calibration, person: User) -> str | None:
    if not calibration.includes(person):
        return "Only the two who take part in a calibration can answer in it."
    if calibration.state == CalibrationState.CLOSED:
        return "The calibration is closed."
    if calibration.state == CalibrationState.ANSWERED:
        return "Both of you have answered everything. Answers can no longer be changed."
    return None


def discuss_refusal(calibration: Calibration, member: Member) -> str | None:
    """Nobody may write before both have answered: a message about an item would reveal an answer."""
    if reason := see_refusal(calibration, member):
        return reason
    if calibration.is_open:
        return "The discussion opens when both have answered everything."
    return "The calibration is closed." if calibration.is_closed else None


def close_refusal(calibration: Calibration, member: Member) -> str | None:
    """A lead without a part in it may close it at any time, the two themselves once both have answered.

    A lead is responsible for the follow-up, and must be able to close one that nobody answers, since it hides verdicts.
    The two may close it when they are done: nothing in the gold set depends on it.
    """
    if calibration.is_closed:
        return "The calibration is closed."
    if calibration.includes(member.user):
        return "You can close it when both have answered everything." if calibration.is_open else None
    return None if member.is_lead else "Only a lead or one of the two who take part can close it."
