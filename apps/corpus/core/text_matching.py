"""Finds given texts among passages: the same words, or else most of their runs of three words. Without a database.

A text is the same as a passage when their words are: case, punctuation, white space and markup aside. It is near one
that has at least `NEAR_SHARE` of its shingles. That is containment, not resemblance (Broder 1997): a text may be a part
of a passage, as other programs cut it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.digests import sha256_hex
from apps.corpus.core.near_duplicates import SHINGLE, normalised, shingles

NEAR_SHARE = 0.8


class PassageText(NamedTuple):
    """A passage by its id in files."""

    block_id: str
    title: str
    text: str


class NearPassage(NamedTuple):
    """The passage that has most of a text, and the share of the text's shingles that it has."""

    block_id: str
    share: float


class TextMatches(NamedTuple):
    """The passages of texts, by `text_key`. No text is in both."""

    exact: Mapping[str, str]
    near: Mapping[str, NearPassage]


NOTHING = TextMatches({}, {})


def text_key(text: str) -> str:
    """Equal for texts with the same words; "" for a text without any."""
    words = normalised(text)
    return sha256_hex(" ".join(words).encode()) if words else ""


def same_texts(keys: Iterable[str], passages: Iterable[PassageText]) -> dict[str, str]:
    """The first passage with each of these texts, alone or below its title."""
    wanted = set(keys)
    found: dict[str, str] = {}
    for passage in passages:
        for key in (text_key(passage.text), text_key(f"{passage.title} {passage.text}")):
            if key in wanted:
                found.setdefault(key, passage.block_id)
    return found


def near_texts(texts: Mapping[str, str], passages: Iterable[PassageText]) -> dict[str, NearPassage]:
    """For each of these texts the passage that has the largest share of it, the shortest of several, then the first.

    Texts of fewer than three words are near nothing.
    """
    runs = {key: shingles(text) for key, text in texts.items() if len(normalised(text)) >= SHINGLE}
    if not runs:
        return {}
    owners: defaultdict[int, list[str]] = defaultdict(list)
    for key, own in runs.items():
        for run in own.tolist():
            owners[run].append(key)
    every = np.array(sorted(owners), dtype=np.uint64)
    best: dict[str, tuple[float, int]] = {}
    found: dict[str, NearPassage] = {}
    for passage in passages:
        theirs = shingles(f"{passage.title} {passage.text}")
        for key, count in _shared(every, owners, theirs).items():
            rank = count / len(runs[key]), -len(theirs)
            if rank[0] >= NEAR_SHARE and (key not in best or rank > best[key]):
                best[key] = rank
                found[key] = NearPassage(passage.block_id, rank[0])
    return found


def _shared(every: NDArray[np.uint64], owners: Mapping[int, list[str]], theirs: NDArray[np.uint64]) -> Counter[str]:
    """How many of their shingles each text has in common with a passage."""
    common = np.intersect1d(every, theirs, assume_unique=True).tolist()
    return Counter(key for run in common for key in owners[run])
