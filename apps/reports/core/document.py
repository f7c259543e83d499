"""The document model of reports: a title, one leading sentence, and sections of paragraphs, facts, tables and charts.

Everything is plain text; the writers escape it. A document has no date of its making, so that the same values give the
same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from apps.common.drawing.svg import DrawnEstimate, Scale, axis, clip, drawing, scale, tag, text, ticks, title, whisker
from apps.common.text.wording import interval, number, signed
from apps.metrics.statistics.bootstrap import Interval
from apps.metrics.statistics.significance import Summary

WIDTH = 880
NARROW, INSET, NARROW_ROW, HEADING = 340, 6.0, 36.0, 20.0
NAMES_AT, LEFT, RIGHT = 190.0, 400.0, WIDTH - 150.0
ROW, GAP, TOP = 24.0, 10.0, 8.0
MOST_NAME, MOST_NARROW = 28, 44
PLACES = 4
UNDEFINED = "not defined"


class Layout(NamedTuple):
    """The width of a chart, the ends of its axis, and where a measure's name and a row are."""

    width: float
    left: float
    right: float
    most_ticks: int
    most_name: int
    name_at: float
    heading: float
    row: float
    draw_row: Callable[[DrawnEstimate, Scale, float, bool], list[str]]


def dots(name: str, rows: Sequence[DrawnEstimate], *, low: float = 0.0, high: float = 1.0, signs: bool = False) -> str:
    """Dot and whisker for each row. Rows of one measure are together under its name.

    With `signs` the values are differences: the axis includes them and zero, a line marks zero, and a row whose
    interval contains zero has to be `open`. A row without a value shows the reason.
    """
    layout = Layout(WIDTH, LEFT, RIGHT, 6, MOST_NAME, 16, 0.0, ROW, _row)
    return _drawn(layout, name, rows, low, high, signs)


def stacked(
    name: str, rows: Sequence[DrawnEstimate], *, low: float = 0.0, high: float = 1.0, signs: bool = False
) -> str:
    """As `dots`, for narrow screens: the words of each row are above its dot."""
    layout = Layout(NARROW, INSET, NARROW - INSET, 5, MOST_NARROW, 12, HEADING, NARROW_ROW, _stacked_row)
    return _drawn(layout, name, rows, low, high, signs)


def _drawn(layout: Layout, name: str, rows: Sequence[DrawnEstimate], low: float, high: float, signs: bool) -> str:
    if signs:
        low, high = _span(rows)
    place = scale(low, high, layout.left, layout.right)
    parts, y, before = [], TOP, None
    for row in rows:
        if row.measure != before:
            y += GAP if before is not None else 0.0
            parts.append(text(0, y + layout.name_at, clip(row.measure, layout.most_name), class_="strong"))
            before, y = row.measure, y + layout.heading
        parts += layout.draw_row(row, place, y + 12, signs)
        y += layout.row
    if signs:
        parts.insert(0, tag("path", class_="zero", d=f"M{place(0.0):.1f} {TOP:.0f}V{y + 4:.1f}"))
    parts += axis(place, ticks(low, high, layout.most_ticks), layout.left, layout.right, y + 4)
    return drawing(layout.width, y + 28, name, parts)


def _stacked_row(row: DrawnEstimate, place: Scale, y: float, signs: bool) -> list[str]:
    parts = [text(0, y, clip(row.label, MOST_NAME), class_="word halo")]
    if row.value is None:
        return [*parts, text(0, y + 16, row.why or "not defined", class_="word halo")]
    return [*parts, _mark(row, place, y + 12, signs), *_figures(row, NARROW - 60, NARROW, y, signs, "strong halo")]


def _span(rows: Sequence[DrawnEstimate]) -> tuple[float, float]:
    """From the lowest end to the highest, including zero, with a little room."""
    ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    room = max(0.01, (high - low) * 0.06)
    return low - room, high + room


def _row(row: DrawnEstimate, place: Scale, y: float, signs: bool) -> list[str]:
    parts = [text(NAMES_AT, y + 4, clip(row.label, MOST_NAME), class_="word")]
    if row.value is None:
        return [*parts, text(LEFT, y + 4, row.why or "not defined", class_="word")]
    return [*parts, _mark(row, place, y, signs), *_figures(row, RIGHT + 70, WIDTH, y + 4, signs, "strong")]


def _mark(row: DrawnEstimate, place: Scale, y: float, signs: bool) -> str:
    between = interval((row.low, row.high), 3, differences=signs)
    words = title(f"{row.measure}, {row.label}: {_formatted(row, signs)}, {between}, n {row.n:,}")
    return tag("g", words + whisker(row, place, y, class_="open" if row.open else "point"))


def _figures(row: DrawnEstimate, value_at: float, n_at: float, y: float, signs: bool, css: str) -> list[str]:
    n = text(n_at, y, f"n {row.n:,}", anchor="end")
    return [text(value_at, y, _formatted(row, signs), anchor="end", class_=css), n]


def _formatted(row: DrawnEstimate, signs: bool) -> str:
    assert row.value is not None
    return signed(row.value) if signs else number(row.value)


class Paragraph(NamedTuple):
    """A paragraph; a `quiet` one explains how to read the block above it."""

    text: str
    quiet: bool = False


class Facts(NamedTuple):
    """Terms with their values. `code`: the values are ids or digests."""

    rows: Sequence[tuple[str, str]]
    code: bool = False


class Table(NamedTuple):
    """Rows of formatted cells, as wide as the head.

    The first `words` columns contain words, the `prose` columns whole sentences, the others figures. `code` columns
    contain ids. `name` is the table's label for screen readers.
    """

    name: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1
    code: frozenset[int] = frozenset()
    prose: frozenset[int] = frozenset()

    def has_words(self, column: int) -> bool:
        return column < self.words or column in self.prose


class ReportChart(NamedTuple):
    """Drawings that share one scale, and the table of their figures; `narrow` replaces them on small screens."""

    drawings: Sequence[str]
    figures: Table
    narrow: Sequence[str] = ()


Block = Paragraph | Facts | Table | ReportChart


class ReportSection(NamedTuple):
    """A section; `note` is shown next to its title."""

    title: str
    blocks: Sequence[Block]
    note: str = ""


class Document(NamedTuple):
    """A report; `lead` is its leading sentence, `about` has the lines below it."""

    title: str
    lead: str
    parts: Sequence[ReportSection]
    about: Sequence[str] = ()

    @property
    def tables(self) -> Iterator[Table]:
        """Every table, including those of charts, in reading order."""
        for part in self.parts:
            for block in part.blocks:
                if isinstance(block, Table):
                    yield block
                elif isinstance(block, ReportChart):
                    yield block.figures


class Mean(NamedTuple):
    """The mean of a measure over the queries of a run; `people` is its interval over queries and people, `if_judged`
    the range that its unjudged results leave open.
    """

    measure: str
    run: str
    summary: Summary
    people: Interval | None = None
    if_judged: Interval | None = None


def means_chart(name: str, means: Sequence[Mean], confidence: float | None) -> ReportChart:
    """Dots and whiskers on a scale of 0 to 1, wider where values need it; `confidence` None: without intervals."""
    ends = [end for mean in means for end in (mean.summary.mean, *(mean.summary.interval or ())) if end is not None]
    estimates, low, high = [_estimate(mean) for mean in means], min([0.0, *ends]), max([1.0, *ends])
    drawn, narrow = (draw(name, estimates, low=low, high=high) for draw in (dots, stacked))
    further = {}
    if any(mean.people for mean in means):
        further["With people"] = [interval(mean.people, PLACES) for mean in means]
    if any(mean.if_judged for mean in means):
        further["If all were judged"] = [interval(mean.if_judged, PLACES) if mean.if_judged else "" for mean in means]
    head = ["Measure", "Run", "Mean", interval_head(confidence), *further, "n"]
    rows = [_cells(mean, confidence, [cells[at] for cells in further.values()]) for at, mean in enumerate(means)]
    return ReportChart([drawn], Table(name, head, rows, words=2, code=frozenset({0, 1})), [narrow])


def _estimate(mean: Mean) -> DrawnEstimate:
    low, high = mean.summary.interval or (None, None)
    return DrawnEstimate(mean.run, mean.summary.mean, low, high, mean.summary.n, mean.measure, why=UNDEFINED)


def _cells(mean: Mean, confidence: float | None, further: Sequence[str]) -> list[str]:
    *figures, n = summary_cells(mean.summary, confidence)
    return [mean.measure, mean.run, *figures, *further, n]


def interval_head(confidence: float | None) -> str:
    return "No interval" if confidence is None else f"{confidence * 100:g} % interval"


def summary_cells(summary: Summary, confidence: float | None) -> list[str]:
    """The cells mean, interval and n."""
    if summary.mean is None:
        return [UNDEFINED, "", "0"]
    between = "" if confidence is None else interval(summary.interval, PLACES)
    return [number(summary.mean, PLACES), between, f"{summary.n:,}"]
