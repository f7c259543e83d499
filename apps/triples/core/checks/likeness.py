"""Similarity of two questions, and a check for near duplicates."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from rapidfuzz.distance import Indel

from apps.triples.core.checks.check import PASS, WARN, Check
from apps.triples.core.tokens import content_words, words


class Other(NamedTuple):
    """Another question of the project."""

    ref: str
    question: str
    state: str = ""


def likeness(one: str, other: str) -> float:
    """Similarity of two questions, 0 to 1: the mean of shared content words (Dice) and of letters in the same order.

    Two questions with the same words and the same spelling give 1; an empty one gives 0.
    """
    left, right = content_words(one), content_words(other)
    if not left or not right:
        return 0.0
    spelling = Indel.normalized_similarity(" ".join(words(one)), " ".join(words(other)))
    return (_dice(left, right) + spelling) / 2


def _dice(left: frozenset[str], right: frozenset[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def probe_words(question: str, limit: float) -> list[str]:
    """Content words of which every question at least as similar as `limit` has one or more.

    Such a question shares at least the Dice coefficient 2 · limit − 1 = d of its content words. Of n words it then has
    n · d / (2 − d) or more, so of any n − need + 1 of them at least one (prefix filtering, Chaudhuri, Ganti and Kaushik
    2006). The longest are used, which are usually rare.
    """
    content = sorted(content_words(question), key=lambda word: (-len(word), word))
    dice = max(2 * limit - 1, 0.0)
    need = max(math.ceil(len(content) * dice / (2 - dice) - 1e-9), 1)
    return content[: len(content) - need + 1]


def check_duplicates(question: str, others: Iterable[Other], limit: float) -> Check:
    """No other question of the project is as similar as `limit`; the most similar one is named."""
    best, nearest = 0.0, None
    content = content_words(question)
    for other in others:
        if (_dice(content, content_words(other.question)) + 1) / 2 < limit:
            continue  # its spelling, the slow part, could not make it similar enough
        alike = likeness(question, other.question)
        if alike > best:
            best, nearest = alike, other
    if nearest is None or best < limit:
        return Check(PASS, "duplicate", "No question like this one exists.")
    detail = f"{nearest.state.lower()}, {best:.2f} alike" if nearest.state else f"{best:.2f} alike"
    return Check(WARN, "duplicate", "Nearly the same question exists.", detail, nearest.question, nearest.ref)
