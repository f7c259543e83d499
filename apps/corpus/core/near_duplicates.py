"""Texts that are nearly alike: normalised text, shingles and MinHash; and given texts found among passages.

The resemblance of two texts is the Jaccard overlap of their sets of shingles (runs of three words), 0 to 1 (Broder
1997, "On the resemblance and containment of documents"). A signature of `PERMUTATIONS` minima estimates it with a
standard error of at most 0.07; `resemblance` computes the exact value.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from apps.common.digests import sha256_hex

SHINGLE = 3
PERMUTATIONS = 64
REVISION = 1

_WORD = re.compile(r"\w+")
_random = np.random.default_rng(20061)
_FACTORS = _random.integers(1, 2**63, PERMUTATIONS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_OFFSETS = _random.integers(0, 2**63, PERMUTATIONS, dtype=np.uint64)
_MIXERS = _random.integers(1, 2**63, SHINGLE, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_EMPTY = np.uint32(2**32 - 1)


class Signatures(NamedTuple):
    """`minima` (n × PERMUTATIONS, uint32), one row a text in the order given."""

    minima: NDArray[np.uint32]


class Near(NamedTuple):
    """The index of a text, and its estimated resemblance."""

    position: int
    likeness: float


def normalised(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation, white space and markup."""
    return _WORD.findall(text.casefold())


def normalised_hash(text: str) -> str:
    """A digest that is equal for texts that differ only in case, punctuation and white space."""
    return sha256_hex(" ".join(normalised(text)).encode())


def shingles(text: str) -> NDArray[np.uint64]:
    """The distinct shingles of a text as 64-bit numbers, ascending. A text of fewer than three words is one shingle."""
    words = normalised(text)
    if not words:
        return np.zeros(0, dtype=np.uint64)
    codes = np.fromiter((crc32(word.encode()) for word in words), dtype=np.uint64, count=len(words))
    width = min(SHINGLE, len(codes))
    ends = len(codes) - width + 1
    mixed = np.zeros(ends, dtype=np.uint64)
    for place in range(width):
        part = (codes[place : place + ends] + np.uint64(1)) * _MIXERS[place]
        mixed = (mixed ^ (part >> np.uint64(29))) * _MIXERS[place] + part
    return np.unique(mixed)


def resemblance(one: str, other: str) -> float:
    """The share of shingles that two texts have in common, 0 to 1; 0 for two empty texts."""
    return _overlap(shingles(one), shingles(other))


def _overlap(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> float:
    shared = len(np.intersect1d(left, right, assume_unique=True))
    every = len(left) + len(right) - shared
    return shared / every if every else 0.0


def signature(text: str) -> NDArray[np.uint32]:
    """The smallest value of each permutation over the text's shingles; an empty text gives the highest value."""
    hashes = shingles(text)
    if not len(hashes):
        return np.full(PERMUTATIONS, _EMPTY, dtype=np.uint32)
    values = (hashes[:, None] * _FACTORS[None, :] + _OFFSETS[None, :]) >> np.uint64(32)
    return values.min(axis=0).astype(np.uint32)


def signatures(texts: Iterable[str]) -> Signatures:
    rows = [signature(text) for text in texts]
    return Signatures(np.array(rows, dtype=np.uint32).reshape(len(rows), PERMUTATIONS))


def near(signatures: Signatures, own: NDArray[np.uint32], at_least: float, limit: int = 20) -> list[Near]:
    """The texts whose signature agrees with `own` in at least that share, most similar first, then by index.

    The text itself is among them. Empty texts resemble nothing.
    """
    if own[0] == _EMPTY and (own == _EMPTY).all():
        return []
    share = (signatures.minima == own[None, :]).mean(axis=1)
    places = np.flatnonzero(share >= at_least)
    order = np.argsort(-share[places], kind="stable")[:limit]
    return [Near(int(place), float(share[place])) for place in places[order]]


class NearPair(NamedTuple):
    """The places of two texts, the lower first, and their exact resemblance."""

    one: int
    other: int
    likeness: float


def near_pairs(texts: Sequence[str], at_least: float) -> list[NearPair]:
    """The pairs of texts with at least this resemblance, by place. Of equal texts only the first is compared.

    Two such texts share one of the rarest shingles of each, so only those that do are compared (prefix filtering,
    Chaudhuri, Ganti and Kaushik 2006): the common words of questions from one template bring nobody together.
    """
    first = {text: place for place, text in reversed(list(enumerate(texts)))}
    own = {place: found for place in sorted(first.values()) if len(found := shingles(texts[place]))}
    if not own:
        return []
    every, counts = np.unique(np.concatenate([*own.values()]), return_counts=True)
    holding: defaultdict[int, list[int]] = defaultdict(list)
    pairs: list[NearPair] = []
    for place, mine in own.items():
        by_rarity = mine[np.lexsort((mine, counts[np.searchsorted(every, mine)]))]
        needed = math.ceil(at_least * len(mine) - 1e-9)
        rarest = by_rarity[: len(mine) - needed + 1].tolist()
        alike = ((other, _overlap(own[other], mine)) for other in {each for one in rarest for each in holding[one]})
        pairs += [NearPair(other, place, likeness) for other, likeness in alike if likeness >= at_least]
        for one in rarest:
            holding[one].append(place)
    return sorted(pairs)


class NearDuplicates:
    """Signatures as an index that is built once and stored on disk (see `retrieval.core.engines.store`)."""

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        np.save(folder / "minima.npy", signatures(blocks).minima)

    def load(self, folder: Path) -> Signatures:
        return Signatures(np.asarray(np.load(folder / "minima.npy", mmap_mode="r")))


NEAR_SHARE = 0.8
"""The share of a given text's shingles that a passage near it has at least.

That is containment, not resemblance (Broder 1997): a text may be a part of a passage, as other programs cut it.
"""


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
