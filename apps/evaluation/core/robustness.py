"""Robustness gap: what a run loses on degraded wording, such as typos, lower case or keywords only.

A query is a variant when its metadata names the original (`variant_of`, an outside id) and the kind (`variant`, such as
"typos"). Every original query is paired with its own variants, so the gap is a paired difference. No database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from apps.goldsets.core.splits import VARIANT_OF
from apps.metrics.columns import Floats
from apps.metrics.estimate import excludes_zero
from apps.metrics.statistics.bootstrap import Interval
from apps.metrics.statistics.significance import change_of, mean_of, summaries

KIND = "variant"
UNNAMED = "other wording"
EVERY_KIND = "all kinds"


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
        (row, str(facts[VARIANT_OF]), str(facts.get(KIND) or UNNAMED))
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
    (change,) = summaries(change_of(clean, degraded)[:, None])
    return RobustnessGap(
        kind, mean_of(clean) or 0.0, mean_of(degraded) or 0.0, change.mean or 0.0, change.interval, change.n
    )
