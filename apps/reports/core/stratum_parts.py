"""The means of a few runs in every stratum of a split, as one section: a chart, its table, and what is too small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count
from apps.metrics.statistics.significance import Summary
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.charts import dots, stacked
from apps.reports.core.document import Block, Paragraph, ReportChart, ReportSection, Table
from apps.reports.core.mean_parts import UNDEFINED, interval_head, summary_cells

MOST_DRAWN = 40
NAMED = 12
TOO_FEW = (
    f"Strata are not scored where a mean would tell of fewer than {FEWEST_IN_STRATUM} questions of dev or of test; the"
    " known gaps name the small ones."
)


class Stratum(NamedTuple):
    """The questions of one kind, with the mean of each run in the order of the runs."""

    field: str
    name: str
    n: int
    summaries: Sequence[Summary]

    @property
    def label(self) -> str:
        return f"{self.field}: {self.name}"


class SmallStratum(NamedTuple):
    """A stratum with too few questions to score."""

    field: str
    name: str
    n: int


def strata_section(
    title: str, note: str, runs: Sequence[str], strata: Sequence[Stratum], *, is_cut: bool, confidence: float
) -> ReportSection:
    """`is_cut`: there are strata too small to be in it."""
    blocks: list[Block] = []
    if strata:
        rows = [
            [one.field, one.name, run, *summary_cells(summary, confidence)]
            for one in strata
            for run, summary in zip(runs, one.summaries, strict=True)
        ]
        head = ["By", "Stratum", "Run", "Mean", interval_head(confidence), "n"]
        figures = Table(title, head, rows, words=3, code=frozenset({2}))
        drawn = [
            _estimate(one, run, summary)
            for one in strata[:MOST_DRAWN]
            for run, summary in zip(runs, one.summaries, strict=True)
        ]
        blocks.append(ReportChart([dots(title, drawn)], figures, [stacked(title, drawn)]))
        if len(strata) > MOST_DRAWN:
            blocks.append(Paragraph(f"The first {MOST_DRAWN} strata are drawn; the table has all.", quiet=True))
    if is_cut:
        blocks.append(Paragraph(TOO_FEW, quiet=True))
    return ReportSection(title, blocks, note=note)


def _estimate(stratum: Stratum, run: str, summary: Summary) -> DrawnEstimate:
    low, high = summary.interval or (None, None)
    return DrawnEstimate(run, summary.mean, low, high, summary.n, stratum.label, why=UNDEFINED)


def small_words(small: Sequence[SmallStratum]) -> str:
    """ "crypto (2), doors (1) and 3 more", the smallest first."""
    ordered = sorted(small, key=lambda one: (one.n, one.name))
    named = ", ".join(f"{one.name} ({count(one.n)})" for one in ordered[:NAMED])
    more = len(ordered) - NAMED
    return f"{named} and {more:,} more" if more > 0 else named
