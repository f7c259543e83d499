"""How alike two rankings are, where differences at their top count more: of systems by τ_AP, of results by RBO."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from apps.metrics.columns import Floats, Ranked, pair_keys, place_within

PERSISTENCE = 0.9
"""The p of RBO: the first ten ranks have 86 % of the weight."""


def tau_aps(before: Floats, after: Floats) -> Floats:
    """τ_AP,b of each row of two (draws, runs) arrays, −1 to 1: as `kendall_taus`, but a pair counts more the nearer it
    is to the top. NaN where all runs of a row tie. One row fits any number.

    For each run but the best, the share of the runs above it that are above it in the other order too; the mean of
    these shares, twice, minus 1 (Yilmaz, Aslam and Robertson, SIGIR 2008). It is taken from both sides, and a tie is
    no agreement (Urbano and Marrero, ICTIR 2017).
    """
    is_above = [values[:, None, :] > values[:, :, None] for values in (before, after)]
    alike = (is_above[0] & is_above[1]).sum(axis=2)
    sides = []
    for above in is_above:
        number = above.sum(axis=2)
        counted = (number > 0).sum(axis=1)
        shares = (alike / np.maximum(number, 1)).sum(axis=1)
        sides.append(np.divide(shares, counted, out=np.full(shares.shape, np.nan), where=counted > 0))
    tau_ap: Floats = sides[0] + sides[1] - 1.0
    return tau_ap


def tau_ap(before: Floats, after: Floats) -> float | None:
    """τ_AP,b of two orders of the same runs; None where it is not defined."""
    (value,) = tau_aps(before[None], after[None]).tolist()
    return None if np.isnan(value) else value


class RankOverlap(NamedTuple):
    """Rank-biased overlap of two rankings of each query, 0 to 1.

    `value` is extrapolated: the rankings go on as alike as they are where they end. `low` and `high` are what it can be
    however they go on; the distance of the two is the residual.
    """

    value: Floats
    low: Floats
    high: Floats


def rank_overlaps(first: Ranked, second: Ranked, size: int, p: float = PERSISTENCE) -> RankOverlap:
    """Rank-biased overlap of two runs (Webber, Moffat and Zobel, TOIS 28, 2010, equations 11, 30 and 32).

    Rows are by query and rank, as `in_rank_order` puts them; there are `size` queries. NaN for a query without results
    in both. The persistence `p` is the chance to read on after each rank.
    """
    runs = [(pair_keys(one.query, one.block), place_within(one.query, size) + 1) for one in (first, second)]
    lengths = np.array([np.bincount(one.query, minlength=size) for one in (first, second)])
    short, long = lengths.min(axis=0), lengths.max(axis=0)
    _, at, other = np.intersect1d(runs[0][0], runs[1][0], assume_unique=True, return_indices=True)
    query = first.query[at]
    depth = np.maximum(runs[0][1][at], runs[1][1][other])  # from where on a shared result is in both

    ranks = np.arange(1, int(lengths.sum(axis=0).max(initial=0)) + 1)
    weights = np.concatenate(([0.0], np.cumsum((1 - p) * p ** (ranks - 1.0) / ranks)))  # of a rank in the mean overlap
    whole = -np.log1p(-p) * (1 - p) / p
    overlap = np.bincount(query, minlength=size)
    early = np.bincount(query[depth <= short[query]], minlength=size)

    def sums(values: Floats) -> Floats:
        return np.bincount(query, weights=values, minlength=size).astype(np.float64, copy=False)

    low = sums(whole - weights[depth - 1])
    until = p ** short.astype(np.float64) - p ** long.astype(np.float64)
    share = early / np.maximum(short, 1)
    value = sums(weights[long[query]] - weights[depth - 1])
    value += share * (until - short * (weights[long] - weights[short]))
    value += ((overlap - early) / np.maximum(long, 1) + share) * p ** long.astype(np.float64)
    last = short + long - overlap  # where both could have come to hold the same
    rest = p ** short.astype(np.float64) + p ** long.astype(np.float64) - p ** last.astype(np.float64)
    rest -= short * (weights[last] - weights[short]) + long * (weights[last] - weights[long])
    rest -= overlap * (whole - weights[last])
    is_empty = long == 0
    return RankOverlap(*(np.where(is_empty, np.nan, ends) for ends in (value, low, low + rest)))
