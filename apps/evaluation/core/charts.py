"""SVG charts of differences, strata and slices, for the score pages and for reports. No Django."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from apps.common.drawing.svg import (
    DrawnEstimate,
    Scale,
    axis,
    clip,
    dot_of,
    drawing,
    grid,
    plain,
    scale,
    tag,
    text,
    ticks,
    title,
    whisker,
)
from apps.common.text.wording import count, interval, number, signed
from apps.evaluation.core.robustness import SliceSignal
from apps.goldsets.core.slice_sampling import LEFT, NEXT, NOW, USED, Balance, Turn
from apps.metrics.comparison import QueryChange, tally
from apps.metrics.estimate import QUERIES, Items
from apps.metrics.statistics.anytime import NEEDED, Evidence, evidence_words
from apps.metrics.statistics.families import RankedDifference
from apps.metrics.statistics.significance import Correction
from apps.metrics.statistics.strata import ComparedStratum

TAU_WIDTH, WIDTH_WIDTH, HEIGHT = 200, 120, 24
ROW, GAP, NAMES, BARS, COUNTS, WHOLE = 24, 10, 84.0, 196.0, 480.0, 592.0
MOST_KINDS = 8
LETTERS = 16
FILLS = {USED: "part-review", NOW: "part-disputed", NEXT: "part-dropped", LEFT: "part-dropped"}
CELL_WIDTH, INSET = 300, 14.0
DELTAS_WIDTH, DELTAS_HEIGHT = 1344, 240
LEAST_DELTAS, WIDEST_BAR = 480.0, 36.0
STRATUM_WIDTH = 240
CHARACTER = 7.2
EVIDENCE_WIDTH, MOST_STEPS, LINE = 648.0, 200, 15.0


def tau_head(low: float) -> str:
    place = scale(low, 1, 8, TAU_WIDTH - 8)
    marks = [text(place(value), 11, plain(value), anchor="middle") for value in _marks(low)]
    return drawing(TAU_WIDTH, 14, "Axis", marks)


def _marks(low: float) -> list[float]:
    return [-1.0, 0.0, 1.0] if low < 0 else [0.0, 0.5, 1.0]


def tau_cell(name: str, signal: SliceSignal, low: float) -> str:
    """The order kept, with its interval, on the scale of all rows."""
    place = scale(low, 1, 8, TAU_WIDTH - 8)
    grid = "".join(f"M{place(value):.1f} -20V44" for value in _marks(low))
    low_end, high_end = signal.interval or (None, None)
    row = DrawnEstimate(name, signal.tau, low_end, high_end, signal.n, "rank correlation")
    parts = [tag("path", class_="grid", d=grid), *([whisker(row, place, 12)] if signal.tau is not None else [])]
    return drawing(TAU_WIDTH, HEIGHT, f"{row.words}, {signal.runs} runs", parts)


def width_cell(name: str, width: float, full: float, widest: float) -> str:
    """The width of an interval in points, with that of the full set as a line."""
    place = scale(0, max(widest, full), 0, WIDTH_WIDTH - 4)
    words = f"{name}: interval {number(width, 1)} points wide; the full set’s is {number(full, 1)}"
    bar = tag("rect", class_="bar-fill", x=0, y=8, width=place(width), height=8)
    return drawing(WIDTH_WIDTH, HEIGHT, words, [bar, tag("path", class_="target", d=f"M{place(full):.1f} 4v16")])


def balance_bars(rows: Sequence[Balance], words: dict[str, str]) -> str:
    """A bar for each kind, the full set's share as a line; of each field the most frequent kinds."""
    most = max([max(row.share, row.full_share) for row in rows], default=1.0)
    place = scale(0, max(most, 0.1), BARS, COUNTS)
    parts, y = [], 0.0
    for field, kinds in groupby(rows, key=lambda row: row.field):
        parts.append(text(0, y + 18, words[field], class_="strong"))
        for row in list(kinds)[:MOST_KINDS]:
            parts += _balance_row(row, place, y)
            y += ROW
        y += GAP
    values = ticks(0, max(most, 0.1) * 100, 4)
    parts.append(tag("path", class_="axis", d=f"M{BARS:.0f} {y:.1f}H{COUNTS:.0f}"))
    for at, value in enumerate(values):
        label = f"{value:g} %" if at == len(values) - 1 else f"{value:g}"
        parts.append(text(place(value / 100), y + 17, label, anchor="middle"))
    return drawing(WHOLE, y + 22, "Share of each kind in the slice; the line is its share in the full set", parts)


def _balance_row(row: Balance, place: Scale, y: float) -> list[str]:
    name = row.value or "none given"
    inside, overall = f"{100 * row.share:.0f} %", f"{100 * row.full_share:.0f} %"
    told = f"{name}: {row.inside} of {row.of_slice}, {inside}; full set {row.overall} of {row.of_all}, {overall}"
    bar = tag("rect", class_="bar-fill", x=BARS, y=y + 8, width=place(row.share) - BARS, height=12)
    line = tag("path", class_="target", d=f"M{place(row.full_share):.1f} {y + 4:.1f}v20")
    return [
        text(NAMES, y + 18, clip(name, LETTERS), class_="word"),
        tag("g", title(told) + bar + line),
        text(528, y + 18, str(row.inside), anchor="end", class_="strong"),
        text(WHOLE, y + 18, f"of {row.overall}", anchor="end"),
    ]


def rotation_bar(turns: Sequence[Turn], names: dict[str, str]) -> str:
    """The full set as one bar: used, now, next, left. A part without room for its words has them in its title."""
    total = sum(turn.questions for turn in turns) or 1
    parts, x = [], 0.0
    for turn in turns:
        size = WHOLE * turn.questions / total
        name = names.get(turn.quarter, turn.quarter) or "Later"
        told = title(f"{name}: {turn.questions} questions, {turn.state}")
        box = tag("rect", told, class_=FILLS[turn.state], x=x + 0.5, y=0.5, width=max(1.0, size - 3), height=15)
        parts.append(box)
        if size > 74:
            parts.append(text(x, 34, name, class_="strong" if turn.state == NOW else "word"))
            parts.append(text(x, 52, f"{turn.questions}, {turn.state}"))
        x += size
    words = ", ".join(f"{turn.questions} {turn.state}" for turn in turns)
    return drawing(WHOLE, 62, f"{total} questions by quarter: {words}", parts)


class Bounds(NamedTuple):
    """The shared axis of a column of small charts."""

    low: float
    high: float
    width: float = CELL_WIDTH
    inset: float = INSET

    @property
    def place(self) -> Scale:
        return scale(self.low, self.high, self.inset, self.width - self.inset)


def bounds_of(values: Sequence[float], *, with_zero: bool = False) -> Bounds:
    """Round bounds a little wider than the values."""
    spread = [*values, 0.0] if with_zero else list(values)
    low, high = min(spread, default=0.0), max(spread, default=1.0)
    room = max(0.02, (high - low) * 0.08)
    return Bounds(low - room, high + room)


def delta_bars(measure: str, rows: Sequence[QueryChange], *, width: float = DELTAS_WIDTH) -> str:
    """One bar for each query, worst first, with the line below which a drop needs an explanation."""
    left = 44.0
    bar = rows[0].bar if rows[0].is_lower_better else -rows[0].bar
    spread = bounds_of([row.change for row in rows] + [-bar, bar])
    place = scale(spread.low, spread.high, DELTAS_HEIGHT - 26.0, 12.0)
    step = min(WIDEST_BAR, (width - left) / max(1, len(rows)))
    right = max(left + step * len(rows), LEAST_DELTAS)
    parts = [*_delta_grid(spread, place, left, right, bar)]
    parts += [_delta_bar(row, place, left + step * at, step) for at, row in enumerate(rows)]
    parts += _drop_names(rows, place, left, step)
    parts.append(tag("path", class_="zero", d=f"M{left:.1f} {place(0):.1f}H{right:.1f}"))
    parts += _tally_words(rows, place, left, step)
    name = f"Difference in {measure} for each of {count(len(rows))} queries, worst first"
    return drawing(right, DELTAS_HEIGHT, name, parts)


def _delta_grid(spread: Bounds, place: Scale, left: float, right: float, bar: float) -> list[str]:
    parts = []
    for value in ticks(spread.low, spread.high, 5):
        if value:
            parts.append(tag("path", class_="grid", d=f"M{left:.1f} {place(value):.1f}H{right:.1f}"))
        words = f"+{plain(value)}" if value > 0 else plain(value)
        parts.append(text(left - 8, place(value) + 4, words, anchor="end"))
    y = place(bar)
    parts.append(tag("path", class_="limit", d=f"M{left:.1f} {y:.1f}H{right:.1f}"))
    if bar > 0:
        words, below = f"a rise above {plain(bar)} needs an explanation", y - 6
    else:
        words, below = f"a drop below {plain(bar)} needs an explanation", max(y + 16, place(0) + 34)
    parts.append(text(right, below, words, anchor="end", class_="halo"))
    return parts


def _delta_bar(row: QueryChange, place: Scale, x: float, step: float) -> str:
    words = title(f"{row.query_id} {signed(row.change)}")
    zero, end = place(0), place(row.change)
    wide = max(1.0, step * 0.72)
    x += (step - wide) / 2
    if abs(row.change) < 5e-4:
        return tag("rect", words, class_="even", x=x, y=zero - 1, width=wide, height=2)
    css = "up" if row.gain > 0 else "down"
    return tag("rect", words, class_=css, x=x, y=min(zero, end), width=wide, height=max(1.5, abs(end - zero)))


def _drop_names(rows: Sequence[QueryChange], place: Scale, left: float, step: float) -> list[str]:
    """Query ids at the ends of the worst bars: to the right where the next bars leave room, else below."""
    parts: list[str] = []
    free_from = left
    for at, row in enumerate(rows[:12]):
        start, end = left + step * at, place(row.change)
        wide = CHARACTER * len(row.query_id)
        if not row.is_drop or start < free_from:
            continue
        following = rows[at + 1 : at + 2 + int(wide / step)]
        fits_right = all(place(other.change) < end - 12 for other in following)
        x, y = (start + step, end - 2) if fits_right else (start, end + 13)
        parts.append(text(x, y, clip(row.query_id, 16), class_="flagtext halo"))
        free_from = x + wide + 6
    return parts


def _tally_words(rows: Sequence[QueryChange], place: Scale, left: float, step: float) -> list[str]:
    counts = tally(rows)
    parts, start = [], left
    for number_of, words, y in (
        (counts.worse, "worse", place(0) - 9),
        (counts.equal, "equal", place(0) - 9),
        (counts.better, "better", place(0) + 17),
    ):
        wide = step * number_of
        if number_of and wide > 64:
            parts.append(text(start + wide / 2, y, f"{number_of:,} {words}", anchor="middle", class_="word halo"))
        start += wide
    return parts


def evidence_steps(evidence: Evidence) -> list[int]:
    """The numbers of queries at which the evidence is drawn and listed: all, or every second, third … and the last."""
    n = len(evidence.alone)
    step = -(-n // MOST_STEPS)
    return sorted({*range(step, n + 1, step), n})


def evidence_line(measure: str, standing: RankedDifference, items: Items = QUERIES) -> str:
    """The evidence by the number of queries on a scale of powers of ten, with the line from which it is settled.

    Grey is the evidence of that many queries, gold the strongest up to there, corrected over the list it stands in. A
    dashed line stands at the number of queries that was planned for the fixed test.
    """
    evidence, plan = standing.evidence, standing.plan
    steps = evidence_steps(evidence)
    lines = (evidence.alone, evidence.corrected)
    curves = [[(1.0, 0), *((float(values[n - 1]), n) for n in steps)] for values in lines]
    if standing.correction == Correction.HOLM:
        curves[1][0] = (1.0 / standing.count, 0)
    drawn = [value for curve in curves for value, _ in curve]
    low = max(-2, min(-1, math.floor(math.log10(max(min(drawn), 1e-9)))))
    high = min(6, max(2, math.ceil(math.log10(max(drawn)))))
    decades = {float(decade): f"{10.0**decade:,.10g}" for decade in range(low, high + 1)}
    left = 16.0 + CHARACTER * max(map(len, decades.values()))
    right, top, bottom = EVIDENCE_WIDTH - 128.0, 14.0, 190.0
    last = max(steps[-1], plan.queries if plan else 0)
    across, power = scale(0, last, left, right), scale(low, high, bottom, top)
    up = [[(across(n), power(math.log10(max(value, 1e-9)))) for value, n in curve] for curve in curves]
    settled = power(math.log10(NEEDED))
    parts = grid(power, {at: words for at, words in decades.items() if abs(power(at) - settled) > LINE}, left, right)
    parts.append(tag("path", class_="limit", d=f"M{left:.1f} {settled:.1f}H{right:.1f}"))
    parts.append(text(left - 8, settled + 4, f"{NEEDED:g}", anchor="end", class_="strong"))
    parts.append(text(left + 6, settled - 6, f"settled from {NEEDED:g} on", class_="halo"))
    for css, curve in zip(("curve-a", "curve-b"), up, strict=True):
        parts.append(tag("path", class_=css, d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in curve)))
    if plan:
        at, anchor = across(plan.queries), "end" if plan.queries > last / 2 else "start"
        parts.append(tag("path", class_="limit", d=f"M{at:.1f} {top:.1f}V{bottom:.1f}"))
        words = f"planned: {items.counted(plan.queries)}"
        parts.append(text(at + (6 if anchor == "start" else -6), bottom - 8, words, anchor=anchor, class_="halo"))
    parts += _evidence_ends(standing, [curve[-1] for curve in up], right)
    if (after := evidence.settled_after) is not None:
        told = title(f"settled after {items.counted(after)}")
        parts.append(tag("circle", told, class_="b", cx=across(after), cy=settled, r=4.5))
    values = [value for value in ticks(0, last) if value == int(value)]
    parts += axis(across, values, left, right, bottom)
    name = f"Evidence for a difference in {measure} by number of {items.many}"
    return drawing(EVIDENCE_WIDTH, bottom + 24, name, parts)


def _evidence_ends(standing: RankedDifference, ends: Sequence[tuple[float, float]], right: float) -> Iterator[str]:
    """What either line ends with, in words beside it."""
    evidence = standing.evidence
    strongest = "strongest, corrected" if standing.count > 1 else "strongest"
    named = [
        ("a", f"{evidence_words(evidence.value)} now"),
        ("b", f"{evidence_words(evidence.strongest_corrected)} {strongest}"),
    ]
    lowest = -LINE
    for (css, words), (x, y) in sorted(zip(named, ends, strict=True), key=lambda one: one[1][1]):
        yield tag("circle", title(words), class_=css, cx=x, cy=y, r=4.0)
        lowest = max(y + 4, lowest + LINE)
        yield text(right + 10, lowest, words, class_="strong" if css == "b" else "word")


def stratum_bounds(strata: Sequence[ComparedStratum]) -> Bounds:
    """One scale for the charts of all strata."""
    ends = [
        end
        for stratum in strata
        for one in stratum.summaries
        for end in (*(one.interval or ()), one.mean)
        if end is not None
    ]
    return Bounds(max(0.0, min(ends, default=0.0) - 0.02), min(1.0, max(ends, default=1.0) + 0.02))


def stratum_legend(names: Sequence[str]) -> str:
    """Which dot is which run's: every chart of a stratum has them in this order."""
    parts = []
    for at, name in enumerate(names):
        y = 14.0 + 20 * at
        parts.append(tag("circle", class_="a" if at == 0 else "b", cx=8, cy=y, r=4.5))
        parts.append(text(20, y + 4, clip(name, 30), class_="word"))
    return drawing(STRATUM_WIDTH, 20.0 * len(names) + 8, f"From the top: {', '.join(names)}", parts)


def stratum_dots(stratum: ComparedStratum, names: Sequence[str], bounds: Bounds, *, heading: bool = False) -> str:
    """One dot with whisker for each run; the first run is the baseline. With `heading` the chart has a title."""
    place = scale(bounds.low, bounds.high, 6.0, STRATUM_WIDTH - 40.0)
    top = 20.0 if heading else 0.0
    bottom = top + 20.0 * len(names) + 8
    parts = [text(0, 12, clip(f"{stratum.name}, n {stratum.n:,}", 34), class_="strong")] if heading else []
    for at, (name, one) in enumerate(zip(names, stratum.summaries, strict=True)):
        y, css = top + 14.0 + 20 * at, "a" if at == 0 and len(names) > 1 else "b"
        if one.mean is None:
            continue
        words = f"{name}: {number(one.mean, 2)}, {interval(one.interval)}, n {one.n}"
        parts.append(dot_of(words, css, place, one.mean, one.interval, y))
        high = one.interval[1] if one.interval else one.mean
        parts.append(text(place(high) + 6, y + 4, number(one.mean, 2), class_="word"))
    parts += axis(place, ticks(bounds.low, bounds.high, 5), 6.0, STRATUM_WIDTH - 40.0, bottom)
    return drawing(STRATUM_WIDTH, bottom + 20, f"{stratum.name}: means with intervals", parts)
