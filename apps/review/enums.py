"""Verdicts and reasons with their policies, the outcome of two verdicts, and the steps of candidate blocks."""

from enum import Enum
from typing import NamedTuple

from django.db.models import TextChoices


class VerdictChoice(TextChoices):
    CONFIRM = "confirm", "Confirm"
    FLAG = "flag", "Flag"


class Reason(TextChoices):
    UNREALISTIC = "unrealistic", "Question unrealistic"
    WRONG_BLOCK = "wrong_block", "Wrong passage"
    NOT_ENTAILED = "not_entailed", "Answer not entailed"
    OVERSTATED = "overstated", "Answer overstated"
    UNDERSTATED = "understated", "Answer understated"
    OTHER = "other", "Other"


class Category(TextChoices):
    NUMERIC = "numeric", "Numeric precision"
    SYNONYM = "synonym", "Synonym or tense"
    COMPOUND = "compound", "Compound claim"
    OTHER = "other", "Other"


class Outcome(TextChoices):
    PENDING = "pending", "Open"
    CONSENSUS = "consensus", "Both confirm"
    DISPUTE = "dispute", "One confirms, one flags"
    DROP = "drop", "Both flag"


class ResolutionKind(TextChoices):
    CONSENSUS = "consensus", "Consensus"
    REVISED = "revised", "Revised"
    POLICY = "policy", "Policy"
    ADJUDICATED = "adjudicated", "Adjudicated"
    SPLIT = "split", "Split"
    DROPPED = "dropped", "Dropped"
    ELSEWHERE = "elsewhere", "Reviewed elsewhere"


ABOUT_ENTAILMENT = frozenset({Reason.NOT_ENTAILED, Reason.OVERSTATED, Reason.UNDERSTATED})

REASON_HELP = {
    Reason.UNREALISTIC: "Nobody would ask this, or not in these words",
    Reason.WRONG_BLOCK: "The evidence is not what answers it",
    Reason.NOT_ENTAILED: "The passage does not say it",
    Reason.OVERSTATED: "It says more than the passage does",
    Reason.UNDERSTATED: "It leaves out a condition that matters",
    Reason.OTHER: "In your own words, below",
}

REASON_KEYS = dict(zip(Reason, "123456", strict=True))
CATEGORY_KEYS = dict(zip(Category, "7890", strict=True))


class Decision(Enum):
    ACCEPT = "accept"
    RETURN = "return"
    DROP = "drop"


class RateSide(TextChoices):
    """Whose rate it is: flags received as an author, or given as a reviewer."""

    AUTHOR = "author", "as an author"
    REVIEWER = "reviewer", "as a reviewer"


class CandidateState(TextChoices):
    """A passage that somebody holds for right as well, on its way into a Q&A or not."""

    OPEN = "open", "Two reviewers are asked"
    DISPUTED = "disputed", "A lead decides"
    CONFIRMED = "confirmed", "Added"
    REJECTED = "rejected", "Not added"
    WITHDRAWN = "withdrawn", "Withdrawn"


class CandidateStep(TextChoices):
    AGREE = "agree", "Both confirm"
    DISAGREE = "disagree", "One confirms, one rejects"
    REJECT = "reject", "Both reject"
    WITHDRAW = "withdraw", "Withdraw"
    DECIDE_ADD = "decide_add", "Decide: add it"
    DECIDE_REJECT = "decide_reject", "Decide: do not add it"


class CandidateChoice(TextChoices):
    CONFIRM = "confirm", "Also right"
    REJECT = "reject", "Not right"


class NoteKind(TextChoices):
    """What somebody found who read a miss, where it is not a passage that is right as well."""

    WRONG = "wrong", "The returned passage is wrong"
    UNCLEAR = "unclear", "The question is unclear"


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


NOTICES = {
    "review.seat": ("Q&As are ready for your review.", "review:queue"),
    "review.reminder": ("Q&As still need your review.", "review:queue"),
    "review.seat_gone": ("Q&As no longer need your review. They were assigned to somebody else.", "review:queue"),
    "review.accepted": ("Q&As of yours are accepted: both reviewers confirmed them.", "triples:mine"),
    "review.dropped": ("Q&As of yours are dropped: both reviewers flagged them.", "triples:mine"),
    "review.disputed": ("Q&As are disputed: one reviewer flagged, the other confirmed.", "review:queue"),
    "review.message": ("messages were written to you in disputes.", "review:queue"),
    "review.settled": ("disputes were settled.", "triples:list"),
    "review.revised": ("Q&As went to review in a new revision.", "triples:list"),
    "review.adjudicated": ("disputes were decided by a lead.", "triples:list"),
    "review.escalated": ("Q&As have waited for too long.", "review:board"),
}
"""Kinds of notifications of which several are one line: what follows their number, and the page that lists them."""


class BulkKind(TextChoices):
    """What a lead may do to many Q&As at once."""

    RE_PIN = "re_pin", "Re-pin"
    ASSIGN = "assign", "Assign reviewers"
    DESCRIBE = "describe", "Source or domain"
    RETIRE = "retire", "Retire"
    CHECK = "check", "Check drafts"
    SUBMIT = "submit", "Submit"


class ItemState(TextChoices):
    """What became of one Q&A of a bulk step. `left` and `kept` have a reason: not done, and not undone."""

    PLANNED = "planned", "planned"
    DONE = "done", "done"
    LEFT = "left", "left out"
    UNDONE = "undone", "undone"
    KEPT = "kept", "kept"
