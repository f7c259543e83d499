"""What a person may see of a triple and of its verdicts, on pages, endpoints and lists.

Counts and exports take verdicts of closed rounds only; a calibration has its own rule.

Plain values, no database. Selectors compute `RoundPhase` and `Involvement`.

The main rule: until both verdicts of a round are in, nobody sees another's verdict. Leads without a part in the triple
see that somebody answered, never what or when, since they have to know which seat is stuck. While a person reviews a
triple once more in a calibration, every verdict on it is hidden from them, their own included.
"""

from enum import Enum
from typing import NamedTuple


class RoundPhase(Enum):
    WRITING = "writing"  # not submitted: there are no verdicts
    OPEN = "open"  # at least one verdict is missing
    CLOSED = "closed"  # both verdicts are in


class Involvement(Enum):
    """A person's part in the triple, or else their role in the project. The first that applies counts."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    LEAD = "lead"
    BYSTANDER = "bystander"  # an annotator or reviewer without a part in it
    VIEWER = "viewer"  # reads releases only


class Sight(NamedTuple):
    """What one person may see of one round of one triple."""

    wording: bool  # question, answer, evidence
    own_verdict: bool
    other_verdicts: bool  # choice, reasons, note, and their time
    reviewer_names: bool
    who_answered: bool  # that a seat has answered, not what or when
    thread: bool


NOTHING = Sight(
    wording=False, own_verdict=False, other_verdicts=False, reviewer_names=False, who_answered=False, thread=False
)


def sight(part: Involvement, phase: RoundPhase, *, blinded: bool = False) -> Sight:
    """`part`'s view of a round in `phase`. Another's verdict always needs a closed round.

    `blinded`: the person is reviewing the triple blindly once more, and has not answered yet.
    """
    if part is Involvement.VIEWER:
        return NOTHING
    if phase is RoundPhase.WRITING:
        return NOTHING._replace(wording=part in (Involvement.AUTHOR, Involvement.LEAD))
    if blinded:
        return NOTHING._replace(wording=True)
    closed = phase is RoundPhase.CLOSED
    return Sight(
        wording=True,
        own_verdict=part is Involvement.REVIEWER,
        other_verdicts=closed,
        reviewer_names=closed or part is Involvement.LEAD,
        who_answered=closed or part is Involvement.LEAD,
        thread=closed and part is not Involvement.BYSTANDER,
    )


def sees_answers_to_warnings(part: Involvement, phase: RoundPhase, *, blinded: bool = False) -> bool:
    """Whether `part` may see the warnings of checks, and the author's reasons why they are no fault.

    Reviewers judge the wording, not the author's defence of it: they, leads or not, see it when the round has closed;
    the same holds for a second review in a calibration.
    """
    if blinded or not sight(part, phase).wording:
        return False
    return phase is RoundPhase.CLOSED or part in (Involvement.AUTHOR, Involvement.LEAD)


def may_write_in_thread(*, is_author: bool, is_flagger: bool) -> bool:
    """Author and flagger write; the reviewer who confirmed reads."""
    return is_author or is_flagger


class CandidatePart(Enum):
    """A person's part in a candidate block. The first that applies counts."""

    PROPOSER = "proposer"
    REVIEWER = "reviewer"  # has answered, or may answer while it is open
    AUTHOR = "author"
    LEAD = "lead"
    BYSTANDER = "bystander"
    VIEWER = "viewer"


class CandidateSight(NamedTuple):
    """What one person may see of a candidate block."""

    passage: bool
    own_answer: bool
    answers: bool  # both, with their people and notes
    proposer: bool
    origin: bool  # the evaluation, and with it system and rank


def candidate_sight(part: CandidatePart, *, is_answered: bool, is_closed: bool) -> CandidateSight:
    """`is_answered`: both answers are in. `is_closed`: it is added or not.

    Nobody sees an answer but their own before both are in, not even that there is one. Who may answer learns neither
    who proposed it nor where it was found, and a lead who decides learns where only afterwards: a high rank must not
    count as a reason.
    """
    known = part is not CandidatePart.VIEWER
    return CandidateSight(
        passage=known,
        own_answer=part is CandidatePart.REVIEWER,
        answers=known and is_answered,
        proposer=part is CandidatePart.PROPOSER or (known and is_closed),
        origin=part is CandidatePart.PROPOSER or (part is CandidatePart.LEAD and is_closed),
    )
