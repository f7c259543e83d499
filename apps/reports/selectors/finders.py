"""Which systems found a pair: according to the pools, or to the ranks in the runs."""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.evaluation.selectors.rankings import AT_ONCE
from apps.goldsets.models import Version
from apps.reports.core.bias import BY_CHANCE, Finds
from apps.reports.core.unjudged_priority import Top
from apps.retrieval.core import ranking
from apps.retrieval.core.sampling import EASY, RANDOM
from apps.retrieval.models import PoolEntry, PoolRun, Ranking, Run

# The ways in which a pair is sampled at random into a pool: see `PoolEntry.sampled`.
CHANCE = frozenset({EASY, RANDOM})


def top_of(run: Run, numbers: dict[int, int], depth: int) -> Top:
    """The first `depth` results of a run for the numbered queries."""
    queries, blocks, ranks = [], [], []
    rows = Ranking.objects.filter(run=run).values_list("query_id", "packed")
    for query_id, packed in rows.iterator(chunk_size=AT_ONCE):
        if query_id in numbers:
            positions = ranking.unpack(bytes(packed))[0][:depth].astype(np.int64)
            queries.append(np.full(len(positions), numbers[query_id], dtype=np.int64))
            blocks.append(positions)
            ranks.append(np.arange(len(positions)))
    empty = np.empty(0, dtype=np.int64)
    return Top(*(np.concatenate([empty, *columns]) for columns in (queries, blocks, ranks)))


def finds_by_rank(runs: Sequence[Run], tops: Sequence[Top], depth: int) -> Finds:
    """Each run found what it ranks 1 to `depth`."""
    near = [top.rank < depth for top in tops]
    systems = [np.full(int(is_near.sum()), run.system_id) for run, is_near in zip(runs, near, strict=True)]
    empty = np.empty(0, dtype=np.int64)
    return Finds(
        np.concatenate([empty, *(top.query[is_near] for top, is_near in zip(tops, near, strict=True))]),
        np.concatenate([empty, *(top.block[is_near] for top, is_near in zip(tops, near, strict=True))]),
        np.concatenate([empty, *systems]),
    )


def finds_of_pools(version: Version, numbers: dict[int, int]) -> Finds:
    """The systems of the runs recorded in the pools of the version's rounds; BY_CHANCE where a pair was sampled too."""
    table = np.array(list(_recorded(version, numbers)), dtype=np.int64).reshape(-1, 3)
    return Finds(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())


def has_finders(version: Version) -> bool:
    """Whether the pools of the version's rounds were made from runs, and so record which run found which pair."""
    return PoolRun.objects.filter(pool__in=version.rounds.values("pool")).exists()


def _recorded(version: Version, numbers: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    """Query number, block position and system of every find."""
    positions = dict(version.snapshot.entries.values_list("block_id", "position").iterator(chunk_size=AT_ONCE))
    systems = dict(Run.objects.filter(project=version.gold_set.project).values_list("pk", "system_id"))
    pools = version.rounds.values("pool")
    rows = PoolEntry.objects.filter(pool__in=pools, query__in=version.queries.values("query"))
    columns = rows.values_list("query_id", "version__block_id", "found_by", "sampled")
    for query, block, found_by, sampled in columns.iterator(chunk_size=AT_ONCE):
        number, position = numbers.get(query), positions.get(block)
        if number is None or position is None:
            continue
        for run, _ in found_by:
            yield number, position, systems[run]
        if sampled and sampled.get("how") in CHANCE:
            yield number, position, BY_CHANCE
