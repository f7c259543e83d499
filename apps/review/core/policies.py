"""The three policies, shown where people decide, and the questions that each reason answers with no."""

from typing import NamedTuple

from apps.review.enums import Category, Reason


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
