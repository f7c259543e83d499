"""Small corpora of made-up words, and what systems return from them."""

import random
from collections.abc import Sequence

import numpy as np

from apps.metrics.by_text.coverage import ReturnedTexts, covering
from apps.metrics.by_text.index import IndexedBlock, index_of
from apps.metrics.columns import Covering, Judged
from apps.metrics.expected.rules import USUAL_SHARE

Documents = Sequence[Sequence[str]]


def made_up(seed: int, documents: int, blocks: int, longest: int, words: int = 5_000) -> list[list[str]]:
    """The texts of the blocks of each document, of 1 to `longest` words each."""
    chance = random.Random(seed)
    return [
        [" ".join(f"w{chance.randrange(words)}" for _ in range(chance.randint(1, longest))) for _ in range(blocks)]
        for _ in range(documents)
    ]


def blocks_of(documents: Documents) -> list[IndexedBlock]:
    """The blocks, numbered document by document."""
    texts = [(place, text) for place, document in enumerate(documents) for text in document]
    return [IndexedBlock(number, document, text) for number, (document, text) in enumerate(texts)]


def covered(
    documents: Documents, returned: Sequence[Sequence[str]], share: float = USUAL_SHARE, **more: object
) -> Covering:
    """What the texts cover that a system returns for each query, best first."""
    index = index_of(blocks_of(documents))
    rows = [(query, rank, text) for query, texts in enumerate(returned) for rank, text in enumerate(texts)]
    columns = np.array([(query, rank, place) for place, (query, rank, _) in enumerate(rows)], dtype=np.int64)
    located = index.locate([text for _, _, text in rows])
    where = ReturnedTexts(*columns.reshape(-1, 3).T)
    return covering(where, located, index.block_sizes, len(returned), share=share, **more)


def graded(grades: Sequence[dict[int, int]]) -> Judged:
    """The grades of blocks, by number, for each query."""
    rows = [(query, block, grade) for query, given in enumerate(grades) for block, grade in given.items()]
    query, block, grade = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Judged(tuple(f"q{number}" for number in range(len(grades))), query, block, grade)
