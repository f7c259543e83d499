"""Check that the question has words of its own."""

from collections import defaultdict
from collections.abc import Sequence

from apps.triples.core.checks.check import PASS, STOP, WARN, Check, counted
from apps.triples.core.tokens import words

COPIED_SHARE_STOP = 0.8


def longest_common_run(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest run of tokens in both, in the same order without a gap. Empty: 0."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, token in enumerate(other):
        places[token].append(index)
    best = 0
    before: dict[int, int] = {}
    for token in one:
        before = {index: before.get(index - 1, 0) + 1 for index in places.get(token, ())}
        best = max(best, *before.values(), 0)
    return best


def check_copied(question: str, text: str, limit: int) -> Check:
    """The question has its own words: its longest run of words shared with the block is at most `limit`.

    A run that makes up 80 % of the question or more stops; a shorter one over the limit warns.
    """
    tokens = words(question)
    run = longest_common_run(tokens, words(text))
    measured = f"longest copied run {run} of {counted(len(tokens), 'word')} (limit {limit})"
    if run <= limit:
        return Check(PASS, "copied", f"Your own words: {measured}.")
    share = run / len(tokens)
    detail = f"L{measured[1:]}, {share:.0%} of the question."
    if share >= COPIED_SHARE_STOP:
        return Check(STOP, "copied", "The question copies the passage.", detail=detail)
    return Check(WARN, "copied", "Part of the question is copied from the passage.", detail=detail)
