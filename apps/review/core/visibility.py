"""What a person may see of a triple and of its verdicts, on pages, endpoints and lists.

Counts and exports take verdicts of closed rounds only; a calibration has its own rule.

Plain values, no database. Selectors compute `RoundPhase` and `Involvement`.

The main rule: until both verdicts of a round are in, nobody sees another's verdict. Leads without a part in the triple
see that somebody answered, never what or when, since they have to know which seat is stuck. While a person reviews a
triple once more in a calibration, every verdict on it is hidden from them, their own included.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from apps.review.enums import CandidateChoice, CandidateStep, Category, Outcome, Reason, VerdictChoice
from apps.triples.core.tokens import content_words
from apps.triples.enums import Step

Span = tuple[int, int]

FEWEST, MOST = 2, 6
FEWEST_WORDS = 2

_SENTENCE_END = re.compile(r"(?<=[.!?…])(?:[”’\"')]*+\s++)++(?=[\[(“‘\"']?[A-Z0-9])|\n+")
_SEAM = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])|\s*;\s+|,\s+and\s+(?:also\s+)?")


class ClaimProposal(NamedTuple):
    question: str
    answer: str


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The spans of the sentences of text[start:end], without white space around them; line ends end one too."""
    end = len(text) if end is None else end
    spans, at = [], start
    for match in [*_SENTENCE_END.finditer(text, start, end), None]:
        stop = match.end() if match else end
        piece = text[at:stop]
        if piece.strip():
            first = at + len(piece) - len(piece.lstrip())
            spans.append((first, first + len(piece.strip())))
        at = stop
    return spans


def _parts(text: str) -> list[str]:
    """The text cut at sentence ends, semicolons and ", and"; a fragment without enough words stays with its part."""
    parts: list[str] = []
    for part in _SEAM.split(" ".join(text.split())):
        if parts and len(part.split()) < FEWEST_WORDS:
            parts[-1] = f"{parts[-1]}, {part}"
        elif part.strip():
            parts.append(part.strip())
    return parts


def _as_sentence(part: str, end: str) -> str:
    bare = part.rstrip(" .;,?!")
    return f"{bare[:1].upper()}{bare[1:]}{end}" if bare else ""


def propose(question: str, answer: str) -> list[ClaimProposal]:
    """Two to six claims: the answer's parts, each with its part of the question, or with the whole of it."""
    answers = [_as_sentence(part, ".") for part in _parts(answer)]
    if len(answers) > MOST:
        answers = [*answers[: MOST - 1], " ".join(answers[MOST - 1 :])]
    parts = [_as_sentence(part, "?") for part in _parts(question)]
    if len(answers) < FEWEST:
        answers += [""] * (FEWEST - len(answers))
    questions = parts if len(parts) == len(answers) else [question.strip()] * len(answers)
    return [ClaimProposal(one, other) for one, other in zip(questions, answers, strict=True)]


def likeliest(claim: str, passages: Sequence[str]) -> int | None:
    """The passage that shares most words with the claim, the first of equals; None when none shares any."""
    wanted = content_words(claim)
    shared = [len(wanted & content_words(passage)) for passage in passages]
    best = max(shared, default=0)
    return shared.index(best) if best else None


class Policy(NamedTuple):
    """`short` is shown next to the choice on the review screen, `text` at the top of a dispute."""

    title: str
    short: str
    text: str


POLICIES: dict[Category, Policy] = {
    Category.NUMERIC: Policy(
        "Policy for numeric precision",
        "The passage’s wording decides, strictly.",
        "The passage’s wording decides, strictly.",
    ),
    Category.SYNONYM: Policy(
        "Policy for a synonym or a tense",
        "Equivalence is accepted.",
        "Equivalence is accepted: other words for the same thing are not a fault.",
    ),
    Category.COMPOUND: Policy(
        "Policy for a compound claim",
        "Split into claims, each with its own passage.",
        "Split it into atomic claims, each with its own passage.",
    ),
    Category.OTHER: Policy(
        "No policy for this kind",
        "No policy: write what and why.",
        "No policy settles this kind. Talk it through, revise, or ask a lead.",
    ),
}

ASPECTS: tuple[str, ...] = ("question", "block", "answer")

ASPECT_OF_REASON: dict[Reason, str] = {
    Reason.UNREALISTIC: "question",
    Reason.WRONG_BLOCK: "block",
    Reason.NOT_ENTAILED: "answer",
    Reason.OVERSTATED: "answer",
    Reason.UNDERSTATED: "answer",
}


def aspects_flagged(reasons: list[str] | tuple[str, ...]) -> dict[str, bool]:
    """Which of the three questions a reviewer answered with no. `other` answers none of them."""
    flagged = {ASPECT_OF_REASON.get(Reason(reason)) for reason in reasons}
    return {aspect: aspect in flagged for aspect in ASPECTS}


VERDICTS_PER_ROUND = 2

STEP_AFTER: dict[Outcome, Step] = {
    Outcome.CONSENSUS: Step.AGREE,
    Outcome.DISPUTE: Step.DISAGREE,
    Outcome.DROP: Step.REJECT,
}


def outcome_of(choices: Sequence[str]) -> Outcome:
    """The outcome of a round from its live verdicts, in any order.

    Fewer than two are pending. Raises ValueError for more than two, which cannot happen.
    """
    if len(choices) > VERDICTS_PER_ROUND:
        raise ValueError(f"A round has two verdicts, not {len(choices)}.")
    if len(choices) < VERDICTS_PER_ROUND:
        return Outcome.PENDING
    flags = sum(VerdictChoice(choice) is VerdictChoice.FLAG for choice in choices)
    return (Outcome.CONSENSUS, Outcome.DISPUTE, Outcome.DROP)[flags]


def candidate_step(choices: Sequence[str]) -> CandidateStep | None:
    """The step that the answers about a candidate block cause, in any order; None while one is missing."""
    if len(choices) > VERDICTS_PER_ROUND:
        raise ValueError(f"A candidate block has two answers, not {len(choices)}.")
    if len(choices) < VERDICTS_PER_ROUND:
        return None
    confirmed = sum(CandidateChoice(choice) is CandidateChoice.CONFIRM for choice in choices)
    return (CandidateStep.REJECT, CandidateStep.DISAGREE, CandidateStep.AGREE)[confirmed]


class RoundPhase(Enum):
    """The phase of one round of a triple."""

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
