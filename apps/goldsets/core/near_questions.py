"""Questions that ask nearly the same in other words, other order or other endings. Does not use the database.

The likeness of two questions is the Jaccard overlap of the runs of three letters in their content words, 0 to 1: order
and repetition of words do not count, endings count little (Damashek 1995, "Gauging similarity with n-grams"). Small
words of English and German are left out; of other languages they count little, since they are short. Questions with
different numbers or single letters (AC-2 and AC-3) are not alike, whatever their words.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from apps.goldsets.core.splits import SplitItem, normalised

RUN = 3
NEAR_FROM = 0.7
"""From here on two questions are nearly the same: measured on the pairs of `tests/goldsets/test_near_questions.py`."""
_SMALL = """
a an and are as at be been being by can could did do does done for from get had has have having how i if in is it
its may me might must my need needs of on or our please shall should that the their them there these they this
those to us was we were what which will with would you your
als am an auf aus bei bin das dem den der des die du ein eine einem einen einer eines er es fur hat hatte ich ihr
ihre im in ist kann konnen mein meine meinem meinen meiner mit muss mussen oder sie sind soll sollen um und unser
unsere vom von war waren was welche welchem welchen welcher welches werden wie wir wird wurde wurden zu zum zur
"""
SMALL_WORDS = frozenset(_SMALL.split())
_INNER = re.compile(r"(?<=\w)[-'’](?=\w)")
_NUMBER = re.compile(r"\d+")


def words_of(question: str) -> set[str]:
    """Its content words; all of its words where it has no others."""
    words = set(normalised(_INNER.sub("", question)).split())
    return words - SMALL_WORDS or words


def numbers_of(words: Iterable[str]) -> frozenset[str]:
    """The numbers and single letters among words, which may not differ."""
    return frozenset(part for word in words for part in ([word] if len(word) == 1 else _NUMBER.findall(word)))


def runs_of(words: Iterable[str]) -> frozenset[str]:
    """The runs of letters in words, which may differ a little, each word with a mark of its beginning."""
    return frozenset(f"_{word}"[at : at + RUN] for word in words for at in range(max(1, len(word) + 2 - RUN)))


def likeness(one: str, other: str) -> float:
    """How nearly two questions ask the same, 0 to 1; 0 where numbers differ or there are no words."""
    left, right = words_of(one), words_of(other)
    if numbers_of(left) != numbers_of(right) or not left:
        return 0.0
    return len(runs_of(left) & runs_of(right)) / len(runs_of(left) | runs_of(right))


def with_near(items: Sequence[SplitItem]) -> list[SplitItem]:
    """The items, with a key that those share which ask nearly the same, directly or through others."""
    keys = {
        place: (("near", items[group[0]].name),)
        for group in _remembered(tuple(item.text for item in items))
        for place in group
    }
    return [item._replace(keys=(*item.keys, *keys.get(place, ()))) for place, item in enumerate(items)]


def near_questions(questions: Sequence[str]) -> list[list[int]]:
    """The places of questions that are at least this alike, directly or through others: each group once, in order."""
    words = [words_of(question) for question in questions]
    comparable: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for place, own in enumerate(words):
        if own:
            comparable[numbers_of(own)].append(place)
    alike: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for number, places in enumerate(places for places in comparable.values() if len(places) > 1):
        for place, label in zip(places, _labels([runs_of(words[at]) for at in places]), strict=True):
            alike[number, label].append(place)
    return sorted(group for group in alike.values() if len(group) > 1)


_remembered = lru_cache(maxsize=4)(near_questions)
"""Who mends a draft opens it again and again, mostly with the same questions."""


def _labels(runs: Sequence[frozenset[str]]) -> list[int]:
    """A label for each, equal for those that are alike."""
    holding: defaultdict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(runs):
        for run in own:
            holding[run].append(place)
    postings: dict[str, NDArray[np.int64]] = {run: np.array(places) for run, places in holding.items()}
    sizes = np.array([len(own) for own in runs])
    labels = np.arange(len(runs))
    for place, own in enumerate(runs):
        shared = np.bincount(np.concatenate([postings[run] for run in own]), minlength=len(runs))[:place]
        near = np.flatnonzero(shared >= NEAR_FROM * (sizes[:place] + sizes[place] - shared))
        for label in np.unique(labels[near]).tolist():
            labels[labels == label] = place
    return labels.tolist()
