"""The report of a released gold version: what it holds, what it stands on, and how the runs do on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from apps.metrics.measures import Measure
from apps.metrics.scorecard import EVERY_RESAMPLE
from apps.metrics.scoring import conventions
from apps.reports.core.document import Block, Document, Facts, Part, Table, Words
from apps.reports.core.mean_parts import Mean, means_chart
from apps.reports.core.score_document import definitions_of


class Board(NamedTuple):
    """The runs scored on one side of a version, best first by the first measure."""

    side: str
    measures: Sequence[Measure]
    means: Sequence[Mean]


class Release(NamedTuple):
    """A version as its report tells it. Facts are terms with what is to be said of them."""

    name: str
    lead: str
    about: Sequence[str]
    counts: Table
    sources: Table | None
    agreement: Sequence[tuple[str, str]]
    stands_on: Sequence[tuple[str, str]]
    digests: Sequence[tuple[str, str]]
    boards: Sequence[Board]
    confidence: float


def released_document(release: Release) -> Document:
    parts = [Part("What it holds", [release.counts])]
    if release.sources:
        parts.append(Part("Sources", [release.sources]))
    parts.append(Part("Agreement when it was frozen", _agreement(release)))
    parts += [_board_part(board, release.confidence) for board in release.boards]
    measures = list(dict.fromkeys(measure for board in release.boards for measure in board.measures))
    if measures:
        parts += [definitions_of({str(measure): measure for measure in measures}), _reading(release, measures)]
    parts.append(Part("What it stands on", [Facts(release.stands_on), Facts(release.digests, code=True)]))
    return Document(release.name, release.lead, parts, release.about)


def _agreement(release: Release) -> list[Block]:
    if not release.agreement:
        return [Words("No two people judged the same, so there is no agreement to tell.")]
    return [Facts(release.agreement)]


def _board_part(board: Board, confidence: float) -> Part:
    name = f"Means of the runs on the {board.side}"
    return Part(f"Runs on the {board.side}", [means_chart(name, board.means, confidence)], note="best first")


def _reading(release: Release, measures: Sequence[Measure]) -> Part:
    share = f"{release.confidence * 100:g} %"
    said = f"Intervals: {share}, percentile bootstrap over queries, {EVERY_RESAMPLE}, widened for few queries."
    return Part(
        "How to read the figures",
        [Words(conventions(list(measures))), Words(said)],
    )
