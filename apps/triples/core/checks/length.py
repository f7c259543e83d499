"""Check that the answer contains no more than its evidence supports."""

from apps.triples.core.checks.check import PASS, WARN, Check, counted
from apps.triples.core.tokens import content_words

WORDS_BEYOND_EVIDENCE = 3


def check_longer(question: str, answer: str, evidence: str) -> Check:
    """The answer contains no more than its evidence supports.

    Counted are the answer's different content words that are not in the question: to repeat a passage takes about as
    many as the passage has, and a few to join them (three). More than that is a claim that is not marked. A short
    answer in other words than the evidence's is left to the reviewers.
    """
    own = content_words(answer) - content_words(question)
    carried = content_words(evidence)
    measured = f"Answer: {counted(len(own), 'content word')} beyond the question’s; evidence: {len(carried)}."
    if len(own) > len(carried) + WORDS_BEYOND_EVIDENCE:
        return Check(WARN, "longer", "The answer says more than its evidence.", detail=measured)
    return Check(PASS, "longer", "The answer says no more than its evidence.")
