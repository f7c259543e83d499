"""The report of a released gold version: its contents, what it was made from, and the scores of the runs on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.metrics.measures import Measure
from apps.metrics.scorecard import EVERY_RESAMPLE
from apps.metrics.scoring import conventions
from apps.reports.core.document import Block, Document, Facts, Paragraph, ReportSection, Table
from apps.reports.core.mean_parts import Mean, means_chart
from apps.reports.core.score_document import definitions_of


class SplitBoard(NamedTuple):
    """The runs scored on one split of a version, best first by the first measure."""

    name: str
    measures: Sequence[Measure]
    means: Sequence[Mean]


class ReleaseSummary(NamedTuple):
    """What the report of a version shows. Pairs of strings are terms with their values."""

    name: str
    lead: str
    about: Sequence[str]
    counts: Table
    sources: Table | None
    agreement: Sequence[tuple[str, str]]
    resolved: Table | None
    guideline: Sequence[str]
    gaps: Table | None
    negatives: Table | None
    basis: Sequence[tuple[str, str]]
    digests: Sequence[tuple[str, str]]
    boards: Sequence[SplitBoard]
    confidence: float


def released_document(release: ReleaseSummary) -> Document:
    parts = [ReportSection("Contents", [release.counts])]
    if release.sources:
        parts.append(ReportSection("Sources", [release.sources]))
    parts.append(ReportSection("Agreement when it was frozen", _agreement(release)))
    parts += [ReportSection(title, [table]) for title, table in _tables(release) if table]
    parts += [_board_part(board, release.confidence) for board in release.boards]
    measures = list(dict.fromkeys(measure for board in release.boards for measure in board.measures))
    if measures:
        parts += [definitions_of({str(measure): measure for measure in measures}), _reading(release, measures)]
    if release.guideline:
        parts.append(ReportSection("Guideline of the judges", [Paragraph(text) for text in release.guideline]))
    parts.append(ReportSection("Made from", [Facts(release.basis), Facts(release.digests, code=True)]))
    return Document(release.name, release.lead, parts, release.about)


def _tables(release: ReleaseSummary) -> list[tuple[str, Table | None]]:
    return [
        ("How it was decided", release.resolved),
        ("Judged and not relevant", release.negatives),
        ("Known gaps", release.gaps),
    ]


def _agreement(release: ReleaseSummary) -> list[Block]:
    if not release.agreement:
        return [Paragraph("No two people judged the same pair, so there is no agreement.")]
    return [Facts(release.agreement)]


def _board_part(board: SplitBoard, confidence: float) -> ReportSection:
    name = f"Means of the runs on the {board.name}"
    return ReportSection(f"Runs on the {board.name}", [means_chart(name, board.means, confidence)], note="best first")


def _reading(release: ReleaseSummary, measures: Sequence[Measure]) -> ReportSection:
    share = f"{release.confidence * 100:g} %"
    words = f"Intervals: {share}, percentile bootstrap over queries, {EVERY_RESAMPLE}, widened for few queries."
    return ReportSection(
        "How to read the figures",
        [Paragraph(conventions(list(measures))), Paragraph(words)],
    )
