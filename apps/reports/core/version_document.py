"""The report of a released gold version, in the order in which a reader wants it.

What it is; the scores of the runs on dev and test, of the best also against a baseline and by stratum; hard negatives;
agreement and disagreements; the guideline; sources against their targets; known gaps; and what it was made from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from apps.common.drawing.svg import DrawnEstimate
from apps.common.text.wording import count, interval
from apps.gates.core.decisions import formatted_value
from apps.gates.core.rule import GateRule, unit
from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import WITH_PEOPLE
from apps.metrics.scoring import conventions
from apps.metrics.statistics.significance import Summary
from apps.metrics.statistics.strata import FEWEST_IN_STRATUM
from apps.reports.core.document import (
    UNDEFINED,
    Block,
    Document,
    Facts,
    Mean,
    Paragraph,
    ReportChart,
    ReportSection,
    Table,
    dots,
    interval_head,
    means_chart,
    stacked,
    summary_cells,
)
from apps.reports.core.score_document import definitions_of

HEAD = ["Gate", "State", "Value", "95 % interval", "n", "Result"]
MOST_DRAWN = 40
NAMED = 12
TOO_FEW = (
    f"Strata are not scored where a mean would tell of fewer than {FEWEST_IN_STRATUM} questions of dev or of test; the"
    " known gaps name the small ones."
)


class ReportedGate(NamedTuple):
    """The result of a rule for a run; `value` is None where it could not be decided."""

    rule: GateRule
    state: str
    words: str
    value: float | None
    interval: tuple[float, float] | None
    n: int | None


def gates_parts(results: Iterable[ReportedGate]) -> Iterator[ReportSection]:
    """A table of the gates with their figures and sentences; nothing without gates."""
    if rows := [_row(one) for one in results]:
        yield ReportSection("Gates", [Table("Gates", HEAD, rows, words=2, prose=frozenset({5}))])


def _row(one: ReportedGate) -> list[str]:
    if one.value is None:
        return [one.rule.name, one.state, "", "", "", one.words]
    value = f"{formatted_value(one.rule, one.value)}{unit(one.rule)}"
    ends = " to ".join(formatted_value(one.rule, end) for end in one.interval) if one.interval else interval(None)
    return [one.rule.name, one.state, value, ends, "" if one.n is None else f"{one.n:,}", one.words]


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


class SplitBoard(NamedTuple):
    """The runs scored on one split of a version, best first by the first measure. `where`: "the dev split"."""

    where: str
    measures: Sequence[Measure]
    means: Sequence[Mean]


class ReleaseSummary(NamedTuple):
    """What the report of a version shows. Pairs of strings are terms with their values; what is empty is left out."""

    name: str
    lead: str
    about: Sequence[str]
    counts: Table
    boards: Sequence[SplitBoard]
    comparisons: Sequence[ReportSection]
    strata: Sequence[ReportSection]
    negatives: Sequence[Block]
    agreement: Sequence[tuple[str, str]]
    decisions: Sequence[Block]
    guideline: Sequence[str]
    sources: Table | None
    gaps: Sequence[Block]
    basis: Sequence[tuple[str, str]]
    digests: Sequence[tuple[str, str]]
    confidence: float


def released_document(release: ReleaseSummary) -> Document:
    guideline = [Paragraph(text) for text in release.guideline]
    parts = [
        ReportSection("Contents", [release.counts]),
        *(_board_part(board, release.confidence) for board in release.boards),
        *release.comparisons,
        *release.strata,
        ReportSection("Hard negatives", release.negatives),
        ReportSection("Agreement when it was frozen", _agreement(release)),
        ReportSection("Disagreements and how they were resolved", release.decisions),
        ReportSection("Guideline of the judges", guideline),
        ReportSection("Sources", [release.sources] if release.sources else []),
        ReportSection("Known gaps", release.gaps),
        *_reading_parts(release),
        ReportSection("Made from", [Facts(release.basis), Facts(release.digests, code=True)]),
    ]
    return Document(release.name, release.lead, [part for part in parts if part.blocks], release.about)


def _agreement(release: ReleaseSummary) -> list[Block]:
    if not release.agreement:
        return [Paragraph("No two people judged the same pair, so there is no agreement.")]
    return [Facts(release.agreement)]


def _board_part(board: SplitBoard, confidence: float) -> ReportSection:
    name = f"Means of the runs on {board.where}"
    return ReportSection(f"Runs on {board.where}", [means_chart(name, board.means, confidence)], note="best first")


def _reading_parts(release: ReleaseSummary) -> list[ReportSection]:
    """What each measure is, and how its figures were made."""
    measures = list(dict.fromkeys(measure for board in release.boards for measure in board.measures))
    if not measures:
        return []
    share = f"{release.confidence * 100:g} %"
    words = f"Intervals: {share}, Wilson's, scaled by the scatter over queries unless a measure is yes or no."
    reading = [Paragraph(conventions(measures)), Paragraph(words)]
    if any(mean.people for board in release.boards for mean in board.means):
        reading.append(Paragraph(WITH_PEOPLE))
    return [
        definitions_of({str(measure): measure for measure in measures}),
        ReportSection("How to read the figures", reading),
    ]
