"""One difference among all that were compared on the same queries by the same measure, and a planned number of queries.

Whoever compares five pairs of equal runs, each at 5 %, finds a difference in up to 23 of 100 such lists: so p and
evidence are corrected over the whole list. Carterette, "Multiple testing in statistical analysis of systems-based
information retrieval experiments", ACM TOIS 30, 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number
from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import QUERIES, Items
from apps.metrics.statistics.anytime import Evidence, again_words, evidence_of, fixed_words
from apps.metrics.statistics.significance import (
    DEFAULT_SEED,
    FEWEST_FOR_A_VERDICT,
    LEVEL,
    Correction,
    Difference,
    change_of,
    differences,
)


def over_words(count: int, correction: Correction = Correction.HOLM, noun: str = "") -> str:
    """` after Holm over 6`, or ` after Holm over 5 comparisons on this version`; empty for one."""
    return f" after {correction.words} over {count:,}{noun and f' {noun}'}" if count > 1 else ""


class Plan(NamedTuple):
    """The number of queries that was set for the fixed test of two systems, and how many `n` are scored here.

    `is_first`: no comparison of the two with so many queries was looked at before this one.
    """

    queries: int
    n: int
    is_first: bool

    @property
    def left(self) -> int:
        """How many queries the fixed test waits for."""
        return max(0, self.queries - self.n)

    @property
    def decides(self) -> bool:
        return not self.left and self.is_first


@dataclass(frozen=True)
class RankedDifference:
    """A difference in the list of all comparisons by a measure, strongest evidence first.

    `place` counts from 1. `corrected` is p, and `evidence` evidence, over the whole list. `noun` is what the list has.
    """

    difference: Difference
    evidence: Evidence
    corrected: float
    place: int
    count: int
    correction: Correction = Correction.HOLM
    plan: Plan | None = None
    noun: str = "comparisons on this version"

    @property
    def over(self) -> str:
        return over_words(self.count, self.correction, self.noun)

    @property
    def divisor(self) -> float:
        """What its evidence is divided by at its place."""
        return self.count - self.place + 1 if self.correction == Correction.HOLM else self.count / self.place

    @property
    def divisor_words(self) -> str:
        return number(self.divisor, 0 if self.divisor == int(self.divisor) else 2)

    @property
    def rests_on_evidence(self) -> bool:
        """Whether a number of queries is planned and this is not the first look at so many: evidence alone decides."""
        return self.plan is not None and not self.plan.decides

    @property
    def is_sure(self) -> bool:
        """Whether it may be called better or worse: by evidence where that alone decides, else by interval and p."""
        if self.rests_on_evidence:
            return self.evidence.is_settled and self.difference.n >= FEWEST_FOR_A_VERDICT
        return self.difference.is_settled and self.corrected < LEVEL

    def words(self, items: Items = QUERIES) -> tuple[str, str]:
        """For whom the verdict decides; then what interval and p are good for."""
        over = over_words(self.count, self.correction)
        if self.plan is None:
            is_sure = self.is_sure
            line = self.evidence.words(over, items, is_sure=is_sure)
            return line, "" if is_sure and self.evidence.is_settled else fixed_words(items)
        planned, state = items.counted(self.plan.queries), self.evidence.state_words(items)
        so_many = f"this comparison with {self.plan.queries:,} or more before"
        again = f"Interval and p are right for one look, at the planned number. {again_words(items)}"
        if self.plan.decides:
            decide = "interval and p decide, also for whoever looked at fewer"
            return f"{planned} were planned, and nobody has seen {so_many}: {decide}.", ""
        if not self.plan.left:
            only = "so this is a further look, and only the evidence decides"
            return f"{planned} were planned, and somebody has seen {so_many}, {only}. It{over} {state}.", again
        if self.evidence.is_settled:
            return f"Nobody has to wait for the planned {planned}: the evidence{over} {state}.", again
        wait = f"Interval and p wait for the planned {planned}, {self.plan.left:,} more"
        return f"{wait}. Until then only the evidence decides. It{over} {state}.", again

    def side(self, *, is_lower_better: bool) -> str:
        if not self.is_sure:
            return "not settled"
        return "better" if (self.difference.mean > 0) != is_lower_better else "worse"


def standings(
    baseline: Floats,
    candidate: Floats,
    *,
    seed: int = DEFAULT_SEED,
    originals: Ints | None = None,
    order: Ints | None = None,
    correction: Correction = Correction.HOLM,
) -> list[RankedDifference]:
    """Each column of two (queries, comparisons) arrays of one measure among all columns; equal ones in their order.

    `originals` is as in `differences`, `order` as in `evidence_of`. Raises ValueError as they do.
    """
    found = differences(baseline, candidate, seed=seed, originals=originals)
    corrected = correction.of([one.p for one in found])
    change = np.clip(np.nan_to_num(change_of(baseline, candidate)), -1.0, 1.0)
    evidence = evidence_of(change, order, originals, correction)
    order_down = sorted(range(len(found)), key=lambda at: -evidence[at].strongest)
    place = {at: rank for rank, at in enumerate(order_down, 1)}
    return [
        RankedDifference(difference, evidence[at], corrected[at], place[at], len(found), correction)
        for at, difference in enumerate(found)
    ]
