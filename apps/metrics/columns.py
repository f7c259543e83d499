"""Judgements and rankings as integer columns: the input of the measures.

Ids become whole numbers once, on reading. The number of a block has no order; where two blocks of a query have the same
score, their ids decide (descending), and only those ids are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.vocabulary import Ids, Vocabulary

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Ids of blocks by number: a column of them, or any sequence whose members sort as the ids do.
BlockIds = Ids | Sequence[Any]

MOST_PADDING = 4
BLOCK_BITS = 32


class Facets(NamedTuple):
    """Which facets of its query a block answers, one row each: query, facet, block, grade.

    Facets are numbered over all queries in order of first mention. No two rows have the same query, facet and block.
    """

    query: Ints
    facet: Ints
    block: Ints
    grade: Ints


NO_FACETS = Facets(*np.empty((4, 0), dtype=np.int64))


BLOCKS = "blocks"
TIMES = "times"
UNKNOWN = -1


@dataclass(eq=False)
class Attribute:
    """One attribute of blocks: for each block number the index of its value in `values`, or -1.

    Blocks numbered after the file was read are beyond the end of `codes`; their values are unknown.
    """

    codes: Ints
    values: Sequence[str]

    def of(self, blocks: Ints) -> Ints:
        """The codes of these blocks, -1 where the value is not known."""
        if not len(self.codes):
            return np.full(len(blocks), UNKNOWN)
        codes = self.codes[np.minimum(blocks, len(self.codes) - 1)]
        return np.where(blocks < len(self.codes), codes, UNKNOWN)

    def texts(self, codes: Ints) -> dict[int, str]:
        """The values with these indices, by index."""
        return {code: self.values[code] for code in codes.tolist()}


@dataclass(eq=False)
class BlockAttributes:
    """The attributes of blocks by name, and `read_times` for their times in days since 1970 (NaN: not known); None
    where they have none. What is never read need not be loaded.
    """

    by_name: Mapping[str, Attribute]
    read_times: Callable[[], Floats] | None = None

    @cached_property
    def times(self) -> Floats | None:
        return None if self.read_times is None else self.read_times()

    def times_of(self, blocks: Ints) -> Floats:
        """The times of these blocks, NaN where they are not known."""
        if self.times is None or not len(self.times):
            return np.full(len(blocks), np.nan)
        times = self.times[np.minimum(blocks, len(self.times) - 1)]
        return np.where(blocks < len(self.times), times, np.nan)


class QueryAttributes(NamedTuple):
    """Times of the judged queries in days since 1970 (NaN: unknown), and their domains ("": unknown)."""

    times: Floats
    domains: tuple[str, ...]


class Attributes(NamedTuple):
    """Attributes besides grades; None where nothing gives them."""

    blocks: BlockAttributes | None = None
    queries: QueryAttributes | None = None

    @property
    def given(self) -> frozenset[str]:
        """Which needs of measures are met: attributes of blocks, and times of both blocks and queries."""
        met = set()
        if self.blocks is not None:
            met.add(BLOCKS)
            if self.queries is not None and self.blocks.read_times is not None:
                met.add(TIMES)
        return frozenset(met)


NO_ATTRIBUTES = Attributes()


@dataclass(eq=False)
class Judged:
    """One row for each judgement; `queries[i]` is the id of query i. Results that all runs share are cached.

    `facets` is set when the file has several facets; the grade of a pair is then its best one. `ids` is set when the
    number of a block is the row of its judgement: the same block under another query has another number. `originals`
    has a number for each query, the same for a question and its variants; None where there are none. `unanswerable`
    marks the queries that no block of the corpus answers; None where nobody looked for them. `attributes` are what
    measures read besides grades. `remarks` are sentences on how the file was read.
    """

    queries: tuple[str, ...]
    query: Ints
    block: Ints
    grade: Ints
    facets: Facets | None = None
    ids: Ids | None = None
    originals: Ints | None = None
    unanswerable: Bools | None = None
    attributes: Attributes = NO_ATTRIBUTES
    remarks: tuple[str, ...] = ()

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """One sorted number for each judged pair, and the rows in that order."""
        keys = pair_keys(self.query, self.block)
        rows = np.argsort(keys)
        return keys[rows], rows

    @cached_property
    def lookup(self) -> tuple[Ints, Ints]:
        """One sorted number for each judged pair, and the grades in that order."""
        keys, rows = self.pairs
        return keys, self.grade[rows]

    @cached_property
    def cached(self) -> dict[Any, Any]:
        """Results that measures computed from the judgements alone, under keys of their own."""
        return {}

    @cached_property
    def ideal(self) -> tuple[Ints, Ints, Ints]:
        """Query, rank from 0 and grade of the blocks with a positive gain, in their ideal order."""
        gains = self.grade > 0
        query, grade = self.query[gains], self.grade[gains]
        order = np.argsort((query << BLOCK_BITS) - grade)
        query = query[order]
        return query, place_within(query, len(self.queries)), grade[order]

    def relevant(self, rel: int) -> Ints:
        """How many relevant blocks each query has."""
        if ("relevant", rel) not in self.cached:
            chosen = self.query[self.grade >= rel]
            self.cached["relevant", rel] = np.bincount(chosen, minlength=len(self.queries))
        counts: Ints = self.cached["relevant", rel]
        return counts

    @property
    def answerable(self) -> Bools:
        """All queries but those that nothing answers."""
        return np.ones(len(self.queries), dtype=bool) if self.unanswerable is None else ~self.unanswerable

    def with_unanswerable(self, ids: Collection[str]) -> Judged:
        """The same with these queries marked; one without any judgement is added behind the others."""
        more = tuple(one for one in ids if one not in set(self.queries))
        originals = self.originals
        if originals is not None and more:
            originals = np.concatenate((originals, originals.max(initial=-1) + 1 + np.arange(len(more))))
        queries = self.queries + more
        marks = np.isin(np.array(queries, dtype=object), list(ids))
        return replace(self, queries=queries, originals=originals, unanswerable=marks)


class Ranked(NamedTuple):
    """One row for each result of one run, in any order, without rows of unjudged queries.

    `abstained` marks the queries for which the system said that it has no answer, whatever it returned; None: it says
    so by returning nothing.
    """

    query: Ints
    block: Ints
    score: Floats
    abstained: Bools | None = None

    def abstaining(self, below: float | None, queries: int) -> Ranked:
        """The same, where a system whose best score is `below` this has no answer; there are `queries` judged ones."""
        if below is None:
            return self
        best = np.full(queries, -np.inf)
        np.maximum.at(best, self.query, self.score)
        return self._replace(abstained=best < below)


@dataclass(eq=False)
class Covering:
    """What the passages that one run returned cover, without rows of unjudged queries. Ranks count from 0, words too.

    - `query`, `rank`, `block`: a row for each block, at the first rank at which what was returned so far covers it.
    - `returned`: the number of passages of each query; ranks have no gaps.
    - `lost_query`, `lost_rank`: the passages that could not be located.
    - `pieces`: every piece of a block that a passage holds, covered or not.
    - `sizes`: the words of each block, by number; `words`: those of each passage, by query and rank.
    - `abstained` is as in `Ranked`.
    """

    query: Ints
    rank: Ints
    block: Ints
    returned: Ints
    lost_query: Ints
    lost_rank: Ints
    pieces: Pieces
    sizes: Ints
    words: Ints
    abstained: Bools | None = None

    def earnings(self, judged: Judged) -> Earnings:
        """What each passage earns by these judgements: the best grade among the blocks that it is first to cover."""
        query = np.repeat(np.arange(len(self.returned)), self.returned)
        rank = place_within(query, len(self.returned))
        passage = pair_keys(query, rank)
        of = np.searchsorted(passage, pair_keys(self.query, self.rank))
        keys, grades = judged.lookup
        wanted = pair_keys(self.query, self.block)
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        grade = np.full(len(wanted), UNJUDGED)
        if len(keys):
            grade = np.where((keys[at] == wanted) & (grades[at] >= 0), grades[at], UNJUDGED)
        order = np.lexsort((self.block, -grade, of))
        of, block, grade = of[order], self.block[order], grade[order]
        is_best = np.ones(len(of), dtype=bool)
        is_best[1:] = of[1:] != of[:-1]
        earned, best = np.full(len(passage), NOTHING), np.full(len(passage), -1)
        earned[np.searchsorted(passage, pair_keys(self.lost_query, self.lost_rank))] = LOST
        earned[of[is_best]], best[of[is_best]] = grade[is_best], block[is_best]
        is_further = ~is_best & (grade >= 0)
        return Earnings(query, rank, earned, best, of[is_further], grade[is_further])


UNJUDGED, LOST, NOTHING = -1, -2, -3
"""What a passage earns that is no grade: it covers unjudged blocks only, is not located, or covers no block that is
new.
"""


class Earnings(NamedTuple):
    """What each returned passage earns, by query and rank: a grade, UNJUDGED, LOST or NOTHING, and `block`, the block
    that it is for (-1: none). `further_of` and `further_grade` are a row for each other judged block that a passage is
    first to cover: the row of the passage, and the grade.
    """

    query: Ints
    rank: Ints
    grade: Ints
    block: Ints
    further_of: Ints
    further_grade: Ints


class Pieces(NamedTuple):
    """Pieces of blocks that returned passages hold: words `first` to before `last` of a block, which begin at word
    `place` of the passage.
    """

    query: Ints
    rank: Ints
    block: Ints
    first: Ints
    last: Ints
    place: Ints


Result = Ranked | Covering


def judged_columns(rows: Iterable[tuple[str, str, int]], blocks: Vocabulary) -> Judged:
    """Columns from (query id, block id, grade) rows; queries are in the order of their first row."""
    queries: dict[str, int] = {}
    query, block, grade = [], [], []
    for query_id, block_id, value in rows:
        query.append(queries.setdefault(query_id, len(queries)))
        block.append(block_id)
        grade.append(value)
    return Judged(tuple(queries), _ints(query), blocks.numbers_of(block), _ints(grade))


def facets_in(rows: Iterable[tuple[int, Sequence[str], Collection[str], int, int]]) -> Facets | None:
    """The facets of judged pairs: query, the facets of the query, those that the block answers, block, grade.

    A facet that the block does not answer has grade 0 there. The same facet id of two queries is one facet. None where
    there is none.
    """
    names: dict[str, int] = {}
    found = [
        (query, names.setdefault(facet, len(names)), block, grade if facet in answered else min(grade, 0))
        for query, facets, answered, block, grade in rows
        for facet in facets
    ]
    return Facets(*np.array(found, dtype=np.int64).T) if found else None


def facets_among(facets: Facets | None, query: Ints, block: Ints) -> Facets | None:
    """The rows of these judged pairs."""
    if facets is None:
        return None
    kept = np.isin(pair_keys(facets.query, facets.block), pair_keys(query, block))
    return Facets(*(column[kept] for column in facets))


def faceted_columns(rows: Iterable[tuple[str, str, str, int]], blocks: Vocabulary) -> Judged:
    """Columns from (query id, facet, block id, grade) rows; the grade of a pair is the best over its facets.

    Where all rows have the same facet, `facets` is None.
    """
    queries: dict[str, int] = {}
    names: dict[str, int] = {}
    query, facet, block, value = [], [], [], []
    for query_id, name, block_id, grade in rows:
        query.append(queries.setdefault(query_id, len(queries)))
        facet.append(names.setdefault(name, len(names)))
        block.append(block_id)
        value.append(grade)
    facets = Facets(_ints(query), _ints(facet), blocks.numbers_of(block), _ints(value))
    keys, pair = np.unique(pair_keys(facets.query, facets.block), return_inverse=True)
    best = np.full(len(keys), np.iinfo(np.int64).min)
    np.maximum.at(best, pair, facets.grade)
    first, second = keys >> BLOCK_BITS, keys & ((1 << BLOCK_BITS) - 1)
    return Judged(tuple(queries), first, second, best, facets if len(names) > 1 else None)


def ranked_columns(
    rows: Iterable[tuple[str, str, float]], queries: Sequence[str], blocks: Vocabulary
) -> tuple[Ranked, tuple[str, ...]]:
    """Columns from (query id, block id, score) rows, and the unjudged queries in them."""
    numbers = {query_id: number for number, query_id in enumerate(queries)}
    unjudged: set[str] = set()
    query, block, score = [], [], []
    for query_id, block_id, value in rows:
        number = numbers.get(query_id)
        if number is None:
            unjudged.add(query_id)
            continue
        query.append(number)
        block.append(block_id)
        score.append(value)
    ranked = Ranked(_ints(query), blocks.numbers_of(block), np.array(score, dtype=np.float64))
    return ranked, tuple(sorted(unjudged))


def pair_keys(query: Ints, block: Ints) -> Ints:
    """One number for each query-block pair, in the order of queries and then blocks."""
    return (query << BLOCK_BITS) | block


def place_within(query: Ints, size: int) -> Ints:
    """Position from 0 of each row within its query; the rows are sorted by query, and there are `size` queries."""
    counts = np.bincount(query, minlength=size)
    return np.arange(len(query)) - (np.cumsum(counts) - counts)[query]


def union_lengths(group: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Each group once, ascending, and the length of the union of its stretches `begin` to before `end`."""
    order = np.lexsort((begin, group))
    group, begin, end = group[order], begin[order], end[order]
    groups, which = np.unique(group, return_inverse=True)
    new = np.maximum(end - np.maximum(begin, furthest_above(which, end)), 0)
    return groups, np.bincount(which, weights=new, minlength=len(groups)).astype(np.int64)


def furthest_above(group: Ints, end: Ints) -> Ints:
    """How far the stretches of its group above each row go, 0 for the first; groups are numbered and ascend."""
    if not len(group):
        return end
    width = int(end.max()) + 1
    running = np.maximum.accumulate(end + group * width)
    return np.maximum(np.concatenate(([0], running[:-1])) - group * width, 0)


def within(counts: Ints) -> Ints:
    """0, 1, 2, … for each of these counts, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def in_rank_order(ranked: Ranked, block_ids: BlockIds) -> Ranked:
    """The rows by query, then score descending, then block id descending, as trec_eval orders them.

    Scores are compared as doubles, as trec_eval does from version 10 on. The id order is that of code
    points, which is the order of their UTF-8 bytes.
    """
    query, block, score, abstained = ranked
    if not _is_ordered(query, score):
        order = _order_by_score(query, score)
        query, block, score = query[order], block[order], score[order]
    same = (score[1:] == score[:-1]) & (query[1:] == query[:-1])
    if same.any():
        block = _with_ties_broken(block, same, block_ids)
    return Ranked(query, block, score, abstained)


def _is_ordered(query: Ints, score: Floats) -> bool:
    before, after = query[:-1], query[1:]
    return bool(np.all((after > before) | ((after == before) & (score[1:] <= score[:-1]))))


def _order_by_score(query: Ints, score: Floats) -> Ints:
    """Row indices by query and score descending, ties in any order.

    Queries of similar length are sorted together, as rows of one array, which is several times faster.
    """
    if not np.all(query[1:] >= query[:-1]):
        by_query = np.argsort(query, kind="stable")
        return by_query[_order_by_score(query[by_query], score[by_query])]
    lengths = np.bincount(query)
    lengths = lengths[lengths > 0]
    width = int(lengths.max())
    if width * len(lengths) > MOST_PADDING * len(query):
        return np.lexsort((-score, query))
    starts = np.cumsum(lengths) - lengths
    filled = np.arange(width) < lengths[:, None]
    table = np.full(filled.shape, np.inf)
    table[filled] = -score
    return (np.argsort(table, axis=1) + starts[:, None])[filled]


def _with_ties_broken(block: Ints, same: NDArray[np.bool_], block_ids: BlockIds) -> Ints:
    """Blocks with those of equal score in order; `same[i]` means that row i + 1 is tied with row i."""
    before, after = np.concatenate(([False], same)), np.concatenate((same, [False]))
    is_first = after & ~before
    firsts = np.flatnonzero(is_first)
    lengths = np.flatnonzero(before & ~after) - firsts + 1
    ordered = block.copy()
    pairs = firsts[lengths == 2]
    turned = pairs[_texts(block_ids, block[pairs]) < _texts(block_ids, block[pairs + 1])]
    ordered[turned], ordered[turned + 1] = block[turned + 1], block[turned]
    tied = np.flatnonzero(before | after)
    group = np.repeat(np.arange(len(firsts)), lengths)
    is_longer = lengths[group] > 2
    tied, group = tied[is_longer], group[is_longer]
    order = np.argsort(_texts(block_ids, block[tied]), kind="stable")[::-1]
    order = order[np.argsort(group[order], kind="stable")]
    ordered[tied] = block[tied[order]]
    return ordered


def _texts(block_ids: BlockIds, blocks: Ints) -> NDArray[Any]:
    """The ids of these blocks, for comparison."""
    if isinstance(block_ids, Ids):
        return block_ids.take(blocks).texts()
    texts = np.empty(len(blocks), dtype=object)
    texts[:] = [block_ids[block] for block in blocks.tolist()]
    return texts
