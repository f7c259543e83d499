"""What scores are measured against, in words: grades, grades by text, or Q&As by a hit rule."""

from apps.metrics.expected.rules import (
    BLOCK,
    BY_GRADES,
    DOCUMENT,
    EVIDENCE,
    PAGES,
    USUAL_SHARE,
    counts_questions,
    is_by_text,
    parse_hit_rule,
)

RULE_NAMES = {
    BLOCK: "Same passage",
    DOCUMENT: "Same document",
    PAGES: "Overlapping pages",
    EVIDENCE: "Holds the evidence",
}
"""The rules on Q&As, the strictest first."""
BY_ID = "grades"


def rule_name(hit: str) -> str:
    """What pages call a rule, with its parameters where they are not the usual ones: "Same passage", "by text"."""
    if is_by_text(hit):
        share = parse_hit_rule(hit).share
        return "by text" if share == USUAL_SHARE else f"by text, share {share:g}"
    kind, _, parameters = hit.partition("(")
    return f"{RULE_NAMES[kind]} ({parameters}" if parameters else RULE_NAMES[kind]


def basis_words(hit: str) -> str:
    """ "grades", "grades, by text", "Q&As: same passage"."""
    if counts_questions(hit):
        return f"Q&As: {rule_name(hit).lower()}"
    return BY_ID if hit == BY_GRADES else f"{BY_ID}, {rule_name(hit)}"


def measured_words(hit: str) -> str:
    """The same after a measure: "by grades", "by grades, by text", "on Q&As (same passage)"."""
    return f"on Q&As ({rule_name(hit).lower()})" if counts_questions(hit) else f"by {basis_words(hit)}"
