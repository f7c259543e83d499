"""What a person may see of a triple, decided once: pages, endpoints, counts and lists all ask here.

Plain values only. `RoundPhase` and `Involvement` are worked out by the selectors; this module knows no database.

The rule that matters: until both verdicts of a round are in, nobody sees what another said. That somebody answered
at all, never what or when, is shown to leads without a part in the triple, who have to know which seat is stuck. While
a person reviews a triple once more in a calibration, every verdict on it is hidden from them, their own included.
"""

from enum import Enum
from typing import NamedTuple


class RoundPhase(Enum):
    """Where one round of a triple stands."""

    WRITING = "writing"  # not submitted: there are no verdicts
    OPEN = "open"  # at least one verdict is missing
    CLOSED = "closed"  # both verdicts are in


class Involvement(Enum):
    """What a person did to the triple, or else may do in the project. The first that applies counts."""

    AUTHOR = "author"
    REVIEWER = "reviewer"
    LEAD = "lead"
    BYSTANDER = "bystander"  # an annotator or reviewer without a part in it
    VIEWER = "viewer"  # reads releases only


class Sight(NamedTuple):
    """What one person may see of one round of one triple."""

    wording: bool  # question, answer, evidence
    own_verdict: bool
    other_verdicts: bool  # choice, reasons, note, and the time they were given
    reviewer_names: bool
    who_answered: bool  # that a seat has answered, not what or when
    thread: bool


NOTHING = Sight(
    wording=False, own_verdict=False, other_verdicts=False, reviewer_names=False, who_answered=False, thread=False
)


def sight(part: Involvement, phase: RoundPhase, *, blinded: bool = False) -> Sight:
    """What `part` may see of a round in `phase`. A verdict that is not one's own needs a closed round, always.

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
    """Whether `part` may see what the checks warned of, and why the author finds it all right.

    Reviewers judge the wording, not the author's defence of it: to them, leads or not, it is shown when the round has
    closed, and the same goes for who reviews once more.
    """
    if blinded or not sight(part, phase).wording:
        return False
    return phase is RoundPhase.CLOSED or part in (Involvement.AUTHOR, Involvement.LEAD)


def may_write_in_thread(*, is_author: bool, is_flagger: bool) -> bool:
    """Author and flagger write; the reviewer who confirmed reads."""
    return is_author or is_flagger
