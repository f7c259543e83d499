"""Charts of scores and comparisons, made of the parts in apps.common.drawing.charts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from apps.common.drawing.charts import (
    DrawnEstimate,
    Scale,
    clip,
    figures,
    grid,
    plain,
    plot,
    scale,
    svg,
    tag,
    text,
    ticks,
    title,
    whisker,
)
from apps.common.text.wording import interval, number, percent, signed
from apps.evaluation.core.charts import (
    CELL_WIDTH,
    Bounds,
    bounds_of,
    delta_bars,
    evidence_line,
    evidence_steps,
    stratum_dots,
)
from apps.metrics.comparison import MeasureComparison, QueryChange
from apps.metrics.estimate import Items, interval_of
from apps.metrics.measures.sets import RECALL_LEVELS
from apps.metrics.statistics.anytime import evidence_words
from apps.metrics.statistics.families import RankedDifference
from apps.metrics.statistics.significance import Difference
from apps.metrics.statistics.strata import ComparedStratum

CELL_HEIGHT = 24
ROW_HEIGHT = 52
MOVES_WIDTH = 232
LINE = 15.0


def head_cell(bounds: Bounds, *, signs: bool = False) -> SafeString:
    """The axis numbers above a column of small charts; hidden from screen readers, as the figures are in the cells."""
    write = (lambda value: f"+{plain(value)}" if value > 0 else plain(value)) if signs else plain
    inner = ticks(bounds.low, bounds.high, 6 if bounds.width >= CELL_WIDTH else 3)
    words = [text(bounds.place(value), 11, write(value), anchor="middle") for value in inner]
    return svg(bounds.width, 14, "Axis", words)


def estimate_cell(
    row: DrawnEstimate, bounds: Bounds, *, words: str = "", with_zero: bool = False, radius: float = 4
) -> SafeString:
    """A value with its interval on the scale of its column, if there is one, and a line at zero if asked for.

    `words` instead of those of the row name it to a screen reader.
    """
    css = "open" if row.open else "point"
    zero = tag("path", class_="zero", d=f"M{bounds.place(0.0):.1f} -8V32")
    mark = whisker(row, bounds.place, CELL_HEIGHT / 2, radius=radius, class_=css) if row.value is not None else ""
    return svg(bounds.width, CELL_HEIGHT, words or row.words, [zero, mark] if with_zero else [mark])


def difference_cell(measure: str, difference: Difference, bounds: Bounds) -> SafeString:
    """A difference; filled where its interval and its test agree that there is one."""
    low, high = difference.interval or (None, None)
    words = f"{measure}: difference {signed(difference.mean)}, {interval(difference.interval, 3, differences=True)}"
    row = DrawnEstimate(measure, difference.mean, low, high, difference.n, open=not difference.is_settled)
    return estimate_cell(row, bounds, words=words, with_zero=True, radius=5)


def difference_bounds(rows: Sequence[MeasureComparison]) -> Bounds:
    spread = [end for row in rows for end in (row.difference.interval or (row.difference.mean,))]
    return bounds_of(spread, with_zero=True)


def deltas(measure: str, rows: Sequence[QueryChange]) -> SafeString:
    """One bar for each query, worst first, with the line below which a drop needs an explanation."""
    return plot(delta_bars(measure, rows))


def delta_figures(rows: Sequence[QueryChange], names: tuple[str, str]) -> SafeString:
    return figures(
        ["Query", *names, "Difference"],
        [[row.query_id, number(row.baseline), number(row.candidate), signed(row.change)] for row in rows],
    )


def evidence(measure: str, standing: RankedDifference, items: Items) -> SafeString:
    """The evidence by number of queries."""
    return plot(evidence_line(measure, standing, items))


def evidence_figures(standing: RankedDifference, items: Items) -> SafeString:
    alone, corrected = standing.evidence.alone, standing.evidence.corrected
    steps = evidence_steps(standing.evidence)
    rows = [[n, evidence_words(alone[n - 1]), evidence_words(corrected[n - 1])] for n in steps]
    head = [items.many.capitalize(), "Evidence", f"Strongest so far, {standing.correction.words}"]
    return figures(head, rows, words=0)


def stratum(compared: ComparedStratum, names: Sequence[str], bounds: Bounds) -> SafeString:
    """One dot with whisker for each run; the first run is the baseline."""
    return mark_safe(stratum_dots(compared, names, bounds))


def strata_figures(strata: Sequence[ComparedStratum], names: Sequence[str]) -> SafeString:
    rows = [
        [one.name, name, number(summary.mean), interval(summary.interval, 3), summary.n]
        for one in strata
        for name, summary in zip(names, one.summaries, strict=True)
    ]
    return figures(["Stratum", "Run", "Mean", "95 % interval", "n"], rows, words=2)


def judged_curve(runs: Mapping[str, Sequence[float | None]]) -> SafeString:
    """The share of judged blocks down to rank k, one line for each run; of two, the first is the baseline."""
    depth = max((len(shares) for shares in runs.values()), default=1)
    lowest = min([share for shares in runs.values() for share in shares if share is not None] + [1.0])
    floor = max(0.0, int(lowest * 5 - 1e-9) / 5) if lowest < 1 else 0.8
    left, right, top, bottom = 44.0, 356.0, 12.0, 162.0
    across, up = scale(1, max(2, depth), left, right), scale(floor, 1, bottom, top)
    parts = grid(up, {value / 100: f"{plain(value)} %" for value in ticks(floor * 100, 100, 4)}, left, right)
    if depth >= 10:
        parts.append(tag("path", class_="limit", d=f"M{across(10):.1f} 8V{bottom:.1f}"))
    parts += [text(across(k), bottom + 20, str(k), anchor="middle") for k in (1, 5, 10, 15, 20) if k <= depth]
    parts += _curves(runs, across, up, right)
    return svg(488, bottom + 28, "Share of judged passages down to rank k", parts)


def recall_curve(runs: Mapping[str, Sequence[float]]) -> SafeString:
    """Mean precision at each level of recall, one line for each run; of two, the first is the baseline."""
    left, right, top, bottom = 44.0, 356.0, 12.0, 162.0
    across, up = scale(1, len(RECALL_LEVELS), left, right), scale(0, 1, bottom, top)
    parts = grid(up, {value: plain(value) for value in ticks(0, 1, 4)}, left, right)
    for rank, level in enumerate(RECALL_LEVELS, 1):
        if rank % 2:
            parts.append(text(across(rank), bottom + 20, plain(level), anchor="middle"))
    parts += _curves(runs, across, up, right)
    return svg(488, bottom + 28, "Precision at each level of recall", parts)


def recall_figures(runs: Mapping[str, Sequence[float]]) -> SafeString:
    rows = [
        [plain(level), *(number(points[at], 3) for points in runs.values())] for at, level in enumerate(RECALL_LEVELS)
    ]
    return figures(["Recall", *runs], rows, words=0)


class ByShare(NamedTuple):
    """The mean of a measure by one share of words, with what the chart says of it."""

    share: float
    mean: float | None
    low: float | None
    high: float | None
    words: str


def by_share(measure: str, shares: Sequence[ByShare], queries: int) -> SafeString:
    """The value with its interval by each share of its words that a passage must hold."""
    left, right, top, bottom = 44.0, 352.0, 18.0, 138.0
    known = [end for one in shares for end in (one.mean, one.low, one.high) if end is not None]
    bounds = bounds_of(known or [0.0, 1.0])
    up = scale(bounds.low, bounds.high, bottom, top)
    parts = grid(up, {value: number(value, 2) for value in ticks(bounds.low, bounds.high, 4)}, left, right)
    step = (right - left) / max(1, len(shares))
    for place, one in enumerate(shares):
        x = left + step * (place + 0.5) - 12
        name = f"share {one.share:g}"
        parts.append(text(x, bottom + 22, f"{one.share:g}", anchor="middle", class_="strong"))
        parts.append(text(x, bottom + 39, one.words, anchor="middle"))
        if one.mean is not None:
            row = DrawnEstimate(name, one.mean, one.low, one.high, queries, measure)
            parts.append(tag("g", title(row.words) + _upright(row, up, x)))
            parts.append(text(x + 12, up(one.mean) + 4, number(one.mean, 3), class_="strong"))
    return svg(352, bottom + 44, f"{measure} by the share of a passage’s words that must be returned", parts)


def _upright(row: DrawnEstimate, up: Scale, x: float) -> str:
    assert row.value is not None
    dot = tag("circle", class_="point", cx=x, cy=up(row.value), r=4.5)
    if row.low is None or row.high is None:
        return dot
    low, high = up(row.low), up(row.high)
    caps = f"M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"
    return tag("path", class_="whisker", d=f"M{x:.1f} {low:.1f}V{high:.1f}{caps}") + dot


def share_figures(measure: str, shares: Sequence[ByShare], queries: int) -> SafeString:
    rows = [
        [f"{one.share:g}", number(one.mean, 3), interval(interval_of(one.low, one.high), 3), f"{queries:,}"]
        for one in shares
    ]
    return figures(["Share", measure, "95 % interval", "n"], rows)


def _curves(runs: Mapping[str, Sequence[float | None]], across: Scale, up: Scale, right: float) -> list[str]:
    parts: list[str] = []
    ends: list[tuple[float, str]] = []
    for at, (name, shares) in enumerate(runs.items()):
        css = "a" if at == 0 and len(runs) > 1 else "b"
        points = [(across(rank), up(share)) for rank, share in enumerate(shares, 1) if share is not None]
        if not points:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(tag("path", class_=f"curve-{css}", d=path))
        x, y = points[-1]
        last = next(share for share in reversed(shares) if share is not None)
        words = f"{name} {percent(last, 0)}"
        parts.append(tag("circle", title(words), class_=css, cx=x, cy=y, r=4.0))
        ends.append((y + 4, f"{clip(name, 12)} {percent(last, 0)}"))
    lowest = -LINE
    for y, words in sorted(ends):
        lowest = max(y, lowest + LINE)
        parts.append(text(right + 10, lowest, words, class_="strong"))
    return parts


def judged_figures(runs: Mapping[str, Sequence[float | None]]) -> SafeString:
    depth = max((len(shares) for shares in runs.values()), default=0)
    rows = [[k + 1, *(percent(shares[k]) for shares in runs.values())] for k in range(depth)]
    return figures(["Rank", *runs], rows, words=0)


class QueryMove(NamedTuple):
    """A block in one top list or both: ranks from 1, None where the run did not return it; `block` is its key."""

    name: str
    left: int | None
    right: int | None
    grade: int | None
    block: int = 0

    def words(self, *, of_right: bool) -> str:
        """The block's rank in the other list, shown next to the left list or, with `of_right`, the right one."""
        if self.left == self.right:
            return "stays"
        if of_right:
            return f"from {self.left}" if self.left else "new"
        return f"to {self.right}" if self.right else "gone"


def moves(query_moves: Sequence[QueryMove], depth: int) -> SafeString:
    """How each block moved between the two lists: a line when it is in both, else a stub with its other rank."""
    rows = max([1] + [rank for move in query_moves for rank in (move.left, move.right) if rank and rank <= depth])
    strands, stubs = [], []
    for move in sorted(query_moves, key=lambda move: move.grade or 0):
        inside_left, inside_right = (rank is not None and rank <= depth for rank in (move.left, move.right))
        if inside_left and inside_right:
            strands.append(_strand(move))
        elif inside_left:
            stubs += _stub(6.0, 20.0, 26.0, None, move.left, move.words(of_right=False))
        elif inside_right:
            words = move.words(of_right=True)
            stubs += _stub(MOVES_WIDTH - 6.0, MOVES_WIDTH - 20.0, MOVES_WIDTH - 26.0, "end", move.right, words)
    return svg(MOVES_WIDTH, ROW_HEIGHT * rows, "How each passage moved between the two rankings", strands + stubs)


def _middle(rank: int | None) -> float:
    return ROW_HEIGHT * ((rank or 1) - 0.5)


def _strand(move: QueryMove) -> str:
    a, b = _middle(move.left), _middle(move.right)
    css = f"strand grade-{min(3, max(0, move.grade))}" if move.grade is not None else "strand"
    words = title(f"{move.name}: from {move.left} to {move.right}")
    end = MOVES_WIDTH - 6
    return tag(
        "path", words, class_=css, d=f"M6 {a:.1f}C{end * 0.46:.0f} {a:.1f} {end * 0.57:.0f} {b:.1f} {end} {b:.1f}"
    )


def _stub(start: float, end: float, at: float, anchor: str | None, rank: int | None, words: str) -> list[str]:
    y = _middle(rank)
    return [
        tag("path", class_="stub", d=f"M{start:.1f} {y:.1f}H{end:.1f}"),
        text(at, y + 4, words, anchor=anchor, class_="halo"),
    ]
