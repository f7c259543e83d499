"""The report of a released gold version, in the order in which a reader wants it.

What it is; the scores of the runs on dev and test, and by stratum; hard negatives; agreement and disagreements; the
guideline; sources against their targets; known gaps; and what it was made from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.metrics.measures.entries import Measure
from apps.metrics.scorecard import EVERY_RESAMPLE
from apps.metrics.scoring import conventions
from apps.reports.core.document import Block, Document, Facts, Paragraph, ReportSection, Table
from apps.reports.core.mean_parts import Mean, means_chart
from apps.reports.core.score_document import definitions_of


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
    words = f"Intervals: {share}, percentile bootstrap over queries, {EVERY_RESAMPLE}, widened for few queries."
    reading = [Paragraph(conventions(measures)), Paragraph(words)]
    return [
        definitions_of({str(measure): measure for measure in measures}),
        ReportSection("How to read the figures", reading),
    ]
