"""What a run loses on degraded wording, such as typos or keywords only; how much a slice tells of the other questions.

A query is a variant when its metadata names the original (`variant_of`, an outside id) and the kind (`variant`, such as
"typos"). Every original query is paired with its own variants, so the gap is a paired difference. No database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.metrics.columns import Floats
from apps.metrics.estimate import excludes_zero
from apps.metrics.statistics.bootstrap import DEFAULT_CONFIDENCE, DEFAULT_SEED, resampled_means
from apps.metrics.statistics.intervals import Interval, difference_interval
from apps.metrics.statistics.places import EQUAL_PLACES, kendall_taus, tau_interval
from apps.metrics.statistics.proportions import widened
from apps.metrics.statistics.rank_similarity import tau_ap
from apps.metrics.statistics.significance import EQUAL, FEWEST_FOR_A_VERDICT, change_of, mean_of
from apps.queries.core.naming import VARIANT, VARIANT_OF

RESAMPLES = 1_000
NEARLY, LARGELY = 0.9, 0.7
FEWEST_RUNS = 2
UNNAMED = "other wording"
EVERY_KIND = "all kinds"


class SliceSignal(NamedTuple):
    """Kendall's τ-b between the order of `runs` runs on the `n` questions of a slice and on the `others`.

    With all questions a slice would be compared with itself too: of equal runs such a τ is 0.6 where a fresh set has 0.
    None with fewer than two runs, without other questions, or where one order is all ties. The interval needs six
    questions that tell runs apart: of fewer, draws repeat one order or have none, and would look certain. `tau_ap` is
    τ_AP,b, which counts the top of the order more.
    """

    tau: float | None
    interval: Interval | None
    n: int
    runs: int
    others: int = 0
    tau_ap: float | None = None

    @property
    def words(self) -> str:
        """How well the order is kept, as the middle of a sentence."""
        if self.tau is None:
            return "in no order that can be compared with"
        if self.tau >= 1:
            return "in the same order as"
        if self.tau >= NEARLY:
            return "in nearly the same order as"
        return "in largely the same order as" if self.tau >= LARGELY else "in another order than"


def signal_of(values: Floats, inside: NDArray[np.bool_], *, seed: int = DEFAULT_SEED) -> SliceSignal:
    """The signal of the questions `inside`; `values` has the shape (questions, runs).

    The interval is over resampled questions of the slice and, apart from them, of the others. Questions without a value
    for any run are left out.
    """
    complete = ~np.isnan(values).any(axis=1)
    part, rest = values[complete & inside], values[complete & ~inside]
    n, runs = part.shape
    if n == 0 or len(rest) == 0 or runs < FEWEST_RUNS:
        return SliceSignal(None, None, n, runs, len(rest))
    orders = [_rounded(one.mean(axis=0)) for one in (rest, part)]
    tau = float(kendall_taus(*(order[None] for order in orders))[0])
    spread = None
    if int((part.max(axis=1) - part.min(axis=1) > EQUAL).sum()) >= FEWEST_FOR_A_VERDICT:
        draws = (
            _rounded(resampled_means(one, seed=one_seed, resamples=RESAMPLES))
            for one, one_seed in ((rest, seed), (part, seed + 1))
        )
        spread = tau_interval(tau, kendall_taus(*draws), widened(DEFAULT_CONFIDENCE, n))
    return SliceSignal(None if np.isnan(tau) else tau, spread, n, runs, len(rest), tau_ap(*orders))


def _rounded(means: Floats) -> Floats:
    return np.round(means, EQUAL_PLACES)


class Variant(NamedTuple):
    """A query that rewords another one: the rows of both, and the kind."""

    row: int
    original: int
    kind: str


class PairedRuns(NamedTuple):
    """The variants whose original was scored too, by row, and the number of variants without one."""

    variants: list[Variant]
    alone: int


class RobustnessGap(NamedTuple):
    """Means over the `n` original queries with a variant of this kind, and degraded minus clean.

    Several variants of this kind of one query count as their mean. No interval for fewer than two queries.
    """

    kind: str
    clean: float
    degraded: float
    gap: float
    interval: Interval | None
    n: int

    @property
    def is_settled(self) -> bool:
        return excludes_zero(self.interval)


def paired_variants(query_ids: Sequence[str], metadata: Sequence[Mapping[str, Any]]) -> PairedRuns:
    """Which of the queries are variants of which, from their metadata. A query is not a variant of itself."""
    rows = {query_id: row for row, query_id in enumerate(query_ids)}
    named = [
        (row, str(facts[VARIANT_OF]), str(facts.get(VARIANT) or UNNAMED))
        for row, facts in enumerate(metadata)
        if facts.get(VARIANT_OF)
    ]
    variants = [Variant(row, rows[original], kind) for row, original, kind in named if rows.get(original, row) != row]
    return PairedRuns(variants, len(named) - len(variants))


def robustness_gaps(variants: Sequence[Variant], values: Floats) -> list[RobustnessGap]:
    """The gaps of one measure: over all kinds first when there are several, then each kind, largest loss first.

    `values` has one value for each query; pairs without both values are left out. Empty without pairs.
    """
    kinds = sorted({variant.kind for variant in variants})
    gaps = [gap for kind in kinds if (gap := _gap(kind, [v for v in variants if v.kind == kind], values))]
    gaps.sort(key=lambda gap: (gap.gap, gap.kind))
    together = _gap(EVERY_KIND, variants, values) if len(gaps) > 1 else None
    return [together, *gaps] if together else gaps


def _gap(kind: str, variants: Sequence[Variant], values: Floats) -> RobustnessGap | None:
    rows, originals = (np.array([variant[at] for variant in variants], dtype=np.int64) for at in (0, 1))
    whole = ~np.isnan(values[rows] + values[originals])
    if not whole.any():
        return None
    queries, member = np.unique(originals[whole], return_inverse=True)
    degraded = np.bincount(member, weights=values[rows[whole]]) / np.bincount(member)
    clean = values[queries]
    change = change_of(clean, degraded)
    spread = difference_interval(change, DEFAULT_CONFIDENCE)
    before, after, gap = (mean_of(one) or 0.0 for one in (clean, degraded, change))
    return RobustnessGap(kind, before, after, gap, spread, len(change))
