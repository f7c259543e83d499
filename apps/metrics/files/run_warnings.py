"""Warnings about a run that limit what its figures mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from apps.common.files.near_ids import Proposal
from apps.metrics.columns import BlockIds, Ints, Judged, Ranked
from apps.metrics.files.attributes import ADVICE, fit_of, fit_words, similar_pair
from apps.metrics.files.reading import ROWS_AT_ONCE, RunFile
from apps.metrics.measures.entries import Measure

QUERIES_LOOKED_AT = 20
RESULTS_LOOKED_AT = 10


def remarks_on_file(file: RunFile, judged: Judged, missing: Sequence[str]) -> Iterator[str]:
    """Warnings about a run file without the judged queries `missing`."""
    if file.another:
        yield f"contains the tags '{file.tag}' and '{file.another}'; a file is one run, and is scored as one."
    for words in file.fits:
        yield f"{words} They are read so."
    yield from remarks_on_order(file.ranked, file.reordered)
    if fit := fit_of(missing, file.unjudged):
        yield f"{fit_words(fit, 'queries')} {ADVICE}"
    elif pair := similar_pair(missing, file.unjudged):
        alike = f"judged query '{pair[0]}' and '{pair[1]}' of the run are not the same query"
        yield f"{alike}; ids must agree letter by letter."
    yield from remarks_on_blocks(file.ranked, file.ids, judged)


def remarks_on_order(ranked: Ranked, reordered: int) -> Iterator[str]:
    """Warnings about rankings in which the scores decide nothing, or not as the column of ranks."""
    sizes = np.bincount(ranked.query)
    one = np.zeros(len(sizes))
    one[ranked.query] = ranked.score  # of each query some score, with which the others are compared
    has_another = np.zeros(len(sizes), dtype=bool)
    has_another[ranked.query[ranked.score != one[ranked.query]]] = True
    if tied := int(((sizes > 1) & ~has_another).sum()):
        has = "query has" if tied == 1 else "queries have"
        yield f"{tied:,} of {np.count_nonzero(sizes):,} {has} nothing but ties, which the ids of the blocks order."
    if reordered:
        where = "1 query" if reordered == 1 else f"{reordered:,} queries"
        yield (
            f"the rank column differs from the order of the scores in {where}; scores decide, the highest first. "
            "Negate distances, of which the lowest is the best."
        )


def remarks_on_blocks(ranked: Ranked, ids: BlockIds, judged: Judged) -> Iterator[str]:
    """A warning about judged blocks that the rankings have under nearly the same ids; `ids` are those of `ranked`."""
    pair = _alike_blocks(ranked, ids, judged)
    if (pair or not _overlap(judged.block, ranked.block)) and (fit := _fit_of_blocks(ranked, ids, judged)):
        yield f"{fit_words(fit, 'blocks')} {ADVICE}"
    elif pair:
        alike = f"judged block '{pair[0]}' and '{pair[1]}' of the run are not the same block"
        yield f"{alike}; ids must agree letter by letter."


def _overlap(one: Ints, other: Ints) -> bool:
    """Whether two columns of blocks have any block in common. The first piece of the other usually tells."""
    pieces = (other[start : start + ROWS_AT_ONCE] for start in range(0, len(other), ROWS_AT_ONCE))
    return any(np.isin(piece, one).any() for piece in pieces)


def _fit_of_blocks(ranked: Ranked, ids: BlockIds, judged: Judged) -> Proposal | None:
    """The rule for all judged blocks, with every block that the rankings have."""
    sides = (np.unique(judged.block), np.unique(ranked.block))
    return fit_of(*([ids[block].decode() for block in side.tolist()] for side in sides))


def _alike_blocks(ranked: Ranked, ids: BlockIds, judged: Judged) -> tuple[str, str] | None:
    """A judged block that the run lacks and an unjudged one of its first, of one query, that differ by case or zeros.

    Checks some queries, evenly spread: ids with another spelling have it in all queries.
    """
    size = len(judged.queries)
    chosen = np.zeros(size, dtype=bool)
    chosen[np.linspace(0, size - 1, QUERIES_LOOKED_AT).astype(np.int64)] = True
    rows, answers = np.flatnonzero(chosen[judged.query]), np.flatnonzero(chosen[ranked.query])
    answers = answers[np.argsort(-ranked.score[answers], kind="stable")]
    for query in np.flatnonzero(chosen).tolist():
        own = set(judged.block[rows[judged.query[rows] == query]].tolist())
        retrieved = ranked.block[answers[ranked.query[answers] == query]].tolist()
        lacking = sorted(own.difference(retrieved))
        strange = [block for block in retrieved if block not in own][:RESULTS_LOOKED_AT]
        if pair := similar_pair(*([ids[block].decode() for block in side] for side in (lacking, strange))):
            return pair
    return None


def remarks_on_judged(judged_at_10: float | None) -> Iterator[str]:
    """Warnings about a run with this share of judged blocks in the first ten; None: no judged query has results."""
    if judged_at_10 is None:
        yield "answers none of the judged queries; every value is 0."
    elif judged_at_10 == 0:
        yield "no block in the first ten was ever judged; check the block ids."


def remarks_on_depth(measures: Mapping[str, Measure], ranked: Ranked) -> Iterator[str]:
    """A warning about measures with a deeper cutoff than the longest ranking."""
    yield from depth_words(measures, int(np.bincount(ranked.query).max(initial=0)))


def depth_words(measures: Mapping[str, Measure], depth: int) -> Iterator[str]:
    """The same of measures that read rankings of at most this length."""
    deeper = [name for name, measure in measures.items() if measure.cutoff and measure.cutoff > depth]
    if depth and deeper:
        read, results = ("reads" if len(deeper) == 1 else "read"), ("result" if depth == 1 else "results")
        yield f"{', '.join(deeper)} {read} {depth:,} {results}: no ranking is deeper."
