"""One item per text: a text unchanged from one snapshot to the next is the same item in both."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from apps.corpus.selectors.corpora import TextKey, texts_of

Pair = tuple[int, TextKey]


def one_item_a_text(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of (query, block version, …), oldest first, with the last block version for each text of a query.

    Block versions of the same text differ only in page or heading.
    """
    texts = texts_of(np.unique(table[:, 1]).tolist())
    versions: dict[TextKey, list[int]] = {}
    for version, text in texts.items():
        versions.setdefault(text, []).append(version)
    twins = [version for group in versions.values() if len(group) > 1 for version in group]
    places = np.flatnonzero(np.isin(table[:, 1], twins)).tolist()
    pairs = [(int(table[place, 0]), texts[int(table[place, 1])]) for place in places]
    last = {pair: int(table[place, 1]) for pair, place in zip(pairs, places, strict=True)}
    merged = table.copy()
    merged[places, 1] = [last[pair] for pair in pairs]
    return merged


def rows_of(table: NDArray[np.int64], pairs: Collection[Pair]) -> NDArray[np.int64]:
    """The rows of these pairs."""
    versions, places = np.unique(table[:, 1], return_inverse=True)
    texts = texts_of(versions.tolist())
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts.values()))}
    of_version = np.array([numbers[texts[version]] for version in versions.tolist()], dtype=np.int64)
    wanted = [query * len(numbers) + numbers[text] for query, text in pairs if text in numbers]
    rows: NDArray[np.int64] = table[np.isin(table[:, 0] * len(numbers) + of_version[places], wanted)]
    return rows
