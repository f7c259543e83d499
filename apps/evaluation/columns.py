"""Judgements and rankings as integer columns: what the measures are computed from.

Ids become whole numbers once, at the door. A block's number says nothing about its order; where two blocks of
a query have the same score, their ids decide (descending), and only those ids are ever compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Judged(NamedTuple):
    """One row a judgement. `queries[i]` is the id of query i."""

    queries: tuple[str, ...]
    query: Ints
    block: Ints
    grade: Ints


class Ranked(NamedTuple):
    """One row a result of one run, in any order. Rows of queries that were not judged are left out before."""

    query: Ints
    block: Ints
    score: Floats


class Vocabulary(dict[str, int]):
    """Numbers for ids, given out in order of first use."""

    def __missing__(self, key: str) -> int:
        number = len(self)
        self[key] = number
        return number


def judged_columns(rows: Iterable[tuple[str, str, int]], blocks: Vocabulary) -> Judged:
    """Columns from (query id, block id, grade) rows; queries are kept in the order of their first row."""
    queries = Vocabulary()
    query, block, grade = [], [], []
    for query_id, block_id, value in rows:
        query.append(queries[query_id])
        block.append(blocks[block_id])
        grade.append(value)
    return Judged(tuple(queries), _ints(query), _ints(block), _ints(grade))


def ranked_columns(
    rows: Iterable[tuple[str, str, float]], queries: Sequence[str], blocks: Vocabulary
) -> tuple[Ranked, tuple[str, ...]]:
    """Columns from (query id, block id, score) rows, and the queries of the rows that were never judged."""
    numbers = {query_id: number for number, query_id in enumerate(queries)}
    unjudged: set[str] = set()
    query, block, score = [], [], []
    for query_id, block_id, value in rows:
        number = numbers.get(query_id)
        if number is None:
            unjudged.add(query_id)
            continue
        query.append(number)
        block.append(blocks[block_id])
        score.append(value)
    return Ranked(_ints(query), _ints(block), np.array(score, dtype=np.float64)), tuple(sorted(unjudged))


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def in_rank_order(ranked: Ranked, block_ids: Sequence[str]) -> Ranked:
    """The rows by query, then score descending, then block id descending, as trec_eval orders them.

    Scores are compared as doubles, as trec_eval does from version 10 on. The id order is that of code
    points, which is the order of their UTF-8 bytes.
    """
    query, block, score = ranked
    if not _is_ordered(query, score):
        order = np.lexsort((-score, query))
        query, block, score = query[order], block[order], score[order]
    same = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
    if same.any():
        block = _with_ties_broken(query, block, score, same, block_ids)
    return Ranked(query, block, score)


def _is_ordered(query: Ints, score: Floats) -> bool:
    step = np.diff(query)
    return bool(np.all((step > 0) | ((step == 0) & (score[1:] <= score[:-1]))))


def _with_ties_broken(
    query: Ints, block: Ints, score: Floats, same: NDArray[np.bool_], block_ids: Sequence[str]
) -> Ints:
    """Blocks with those of equal score put in order; only they are looked at."""
    tied = np.zeros(len(block), dtype=bool)
    tied[1:] |= same
    tied[:-1] |= same
    places = np.flatnonzero(tied)
    numbers, inverse = np.unique(block[places], return_inverse=True)
    by_id = sorted(range(len(numbers)), key=lambda place: block_ids[int(numbers[place])])
    rank_of_id = np.empty(len(numbers), dtype=np.int64)
    rank_of_id[by_id] = np.arange(len(numbers))
    group = np.cumsum(np.concatenate(([True], ~same)))[places]
    order = np.lexsort((-rank_of_id[inverse], group))
    ordered = block.copy()
    ordered[places] = block[places][order]
    return ordered
