"""Two runs side by side: what differs, how surely, and on which queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number, signed
from apps.metrics.columns import Floats
from apps.metrics.measures import parse_measure
from apps.metrics.statistics.significance import (
    DEFAULT_CONFIDENCE,
    DEFAULT_SEED,
    EQUAL,
    Difference,
    Summary,
    WinTally,
    differences,
    mean_of,
    summaries,
    tally_of,
)

DROP_BAR = 0.1
LEVEL = 0.05
FEWEST_IN_STRATUM = 5


class Row(NamedTuple):
    """One measure of a comparison. `is_lower_better`: a fall is what one hopes for."""

    measure: str
    baseline: float
    candidate: float
    difference: Difference
    is_lower_better: bool = False

    @property
    def side(self) -> str:
        return "better" if (self.difference.mean > 0) != self.is_lower_better else "worse"

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes zero and chance is unlikely even among all measures looked at."""
        return self.difference.is_settled and self.difference.holm < LEVEL

    @property
    def verdict(self) -> str:
        if not self.difference.is_settled:
            return "not settled"
        return self.side if self.is_sure else f"{self.side}, not after Holm"


class Change(NamedTuple):
    """One query of a comparison; `place` is its row in the values, `bar` the fall beyond which it is a drop."""

    query_id: str
    place: int
    baseline: float
    candidate: float
    is_lower_better: bool = False
    bar: float = DROP_BAR

    @property
    def change(self) -> float:
        return self.candidate - self.baseline

    @property
    def gain(self) -> float:
        """The change, turned so that more is better."""
        return -self.change if self.is_lower_better else self.change

    @property
    def is_drop(self) -> bool:
        """Whether it got worse by more than the bar and needs an explanation."""
        return self.gain < -self.bar - EQUAL


def compare(
    measures: Sequence[str],
    baseline: Mapping[str, Floats],
    candidate: Mapping[str, Floats],
    *,
    seed: int = DEFAULT_SEED,
) -> list[Row]:
    """Paired differences of the measures that both runs have, p corrected over all of them.

    Where a lower value is better, `better` and `worse` count accordingly.
    """
    shared = [name for name in measures if name in baseline and name in candidate]
    shared = [name for name in shared if not np.isnan(baseline[name] + candidate[name]).any()]
    if not shared or not len(baseline[shared[0]]):
        return []
    left = np.column_stack([baseline[name] for name in shared])
    right = np.column_stack([candidate[name] for name in shared])
    found = differences(left, right, seed=seed)
    return [
        _row(name, mean_of(left[:, at]) or 0.0, mean_of(right[:, at]) or 0.0, found[at])
        for at, name in enumerate(shared)
    ]


def _row(measure: str, baseline: float, candidate: float, difference: Difference) -> Row:
    if not is_lower_better(measure):
        return Row(measure, baseline, candidate, difference)
    turned = difference._replace(better=difference.worse, worse=difference.better)
    return Row(measure, baseline, candidate, turned, is_lower_better=True)


def is_lower_better(measure: str) -> bool:
    """Whether a small value of the measure, named as in `nDCG@10`, is the good one."""
    return parse_measure(measure).entry.is_lower_better


def changes(
    query_ids: Sequence[str],
    baseline: Floats,
    candidate: Floats,
    *,
    is_lower_better: bool = False,
    bar: float = DROP_BAR,
) -> list[Change]:
    """Every query, worst first; equal ones by id."""
    rows = [
        Change(query_id, place, float(baseline[place]), float(candidate[place]), is_lower_better, bar)
        for place, query_id in enumerate(query_ids)
    ]
    return sorted(rows, key=lambda row: (round(row.gain, 12), row.query_id))


def tally(rows: Sequence[Change]) -> WinTally:
    return tally_of(np.array([row.gain for row in rows]))


class Regressions(NamedTuple):
    """How many queries fell by more than the bar, and for how many of them nobody has said why."""

    total: int
    unexplained: int

    @property
    def words(self) -> str:
        if not self.total:
            return "no regression"
        named = f"{self.total:,} regression{'' if self.total == 1 else 's'}"
        if not self.unexplained:
            return f"{named}, {'explained' if self.total == 1 else 'all explained'}"
        if self.unexplained == self.total:
            return f"{named}, {'unexplained' if self.total == 1 else 'none explained'}"
        return f"{named}, {self.unexplained:,} unexplained"


def verdict(
    baseline: str,
    candidate: str,
    row: Row,
    family: int = 1,
    fell: Regressions | None = None,
    confidence: float = DEFAULT_CONFIDENCE,
) -> str:
    """The sentence at the head of a comparison: how much, how surely, and what fell by the way.

    `family` is the number of measures that p was corrected over. An interval beside zero whose corrected p is no
    smaller than `LEVEL` is told as what it is.
    """
    bounds = row.difference.interval
    if bounds is None:
        return f"One query is too few to compare {candidate} with {baseline}."
    share = f"{confidence * 100:g}\N{NO-BREAK SPACE}%"
    sure = f"{share} [{number(bounds[0])}, {number(bounds[1])}], {p_words(row.difference.holm, family)}"
    sure += handful_words(row.difference.tally)
    ending = f"; {fell.words}." if fell else "."
    mean = row.difference.mean
    if not row.difference.is_settled:
        return (
            f"{candidate} and {baseline} are not told apart on {row.measure}: difference {signed(mean)}, {sure}{ending}"
        )
    doubt = "" if row.is_sure else ", so chance is not ruled out"
    return f"{candidate} is {row.side} than {baseline} by {number(abs(mean))} {row.measure}, {sure}{doubt}{ending}"


def handful_words(found: WinTally) -> str:
    """`, resting on 3 of 100 queries (exact sign test p = 0.250)` where it does; "" otherwise."""
    if found.rests_on is None:
        return ""
    of = f"{found.n:,} {'query' if found.n == 1 else 'queries'}"
    if found.sign_p is None:
        return f", resting on none of {of}"
    return f", resting on {found.rests_on} of {of} (exact sign test {p_words(found.sign_p, 1)})"


HANDFUL_WORDS = (
    "An interval of a difference that rests on so few queries holds the truth less often than it says; the exact sign "
    "test counts only which way they differ."
)


def handfuls(rows: Sequence[Row]) -> list[str]:
    """Which measures differ on a handful of queries alone, each with its exact sign test; nothing where none does."""
    return [
        f"{row.measure}: {found.better:,} better, {found.worse:,} worse, {found.equal:,} equal{handful_words(found)}."
        for row in rows
        if (found := row.difference.tally).rests_on is not None
    ]


def p_words(p: float, family: int) -> str:
    """`p = 0.013 after Holm over 6`; four places below 0.01."""
    said = f"p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{number(p, 4 if p < 0.01 else 3)}"
    return said if family < 2 else f"{said} after Holm over {family}"


class ComparedStratum(NamedTuple):
    """A named subset with the summary of each run, in the order the runs were given."""

    name: str
    n: int
    summaries: tuple[Summary, ...]


def strata(
    labels: Sequence[str], runs: Sequence[Floats], *, fewest: int = FEWEST_IN_STRATUM
) -> tuple[list[ComparedStratum], int]:
    """The mean of each run in every stratum, largest first; and how many strata were too small to be shown.

    `labels[i]` names the stratum of row i; rows without a name are left out.
    """
    found, small = [], 0
    for name in dict.fromkeys(label for label in labels if label):
        inside = np.array([label == name for label in labels])
        if inside.sum() < fewest:
            small += 1
            continue
        values = np.column_stack([run[inside] for run in runs])
        found.append(ComparedStratum(name, int(inside.sum()), tuple(summaries(values))))
    return sorted(found, key=lambda stratum: (-stratum.n, stratum.name)), small
