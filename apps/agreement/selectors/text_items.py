"""A text that stayed the same from one snapshot to the next is one item, whichever snapshot it was judged on."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from apps.corpus.selectors.corpora import TextKey, texts_of

Pair = tuple[int, TextKey]


def one_item_a_text(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of (query, block version, …), oldest first, with one block version for the same text of a query: the last.

    A block version differs from another of the same text in its page or heading alone.
    """
    texts = texts_of(np.unique(table[:, 1]).tolist())
    versions: dict[TextKey, list[int]] = {}
    for version, text in texts.items():
        versions.setdefault(text, []).append(version)
    twins = [version for group in versions.values() if len(group) > 1 for version in group]
    places = np.flatnonzero(np.isin(table[:, 1], twins)).tolist()
    pairs = [(int(table[place, 0]), texts[int(table[place, 1])]) for place in places]
    last = {pair: int(table[place, 1]) for pair, place in zip(pairs, places, strict=True)}
    found = table.copy()
    found[places, 1] = [last[pair] for pair in pairs]
    return found


def rows_of(table: NDArray[np.int64], pairs: Collection[Pair]) -> NDArray[np.int64]:
    """The rows of these pairs."""
    texts = texts_of(np.unique(table[:, 1]).tolist())
    held = [(query, texts[version]) in pairs for query, version in table[:, :2].tolist()]
    found: NDArray[np.int64] = table[np.array(held, dtype=bool)]
    return found
