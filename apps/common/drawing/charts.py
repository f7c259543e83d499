"""Charts as SVG strings, drawn on the server at the width they are shown.

Colours are classes of static/css (the content policy forbids style attributes), every mark carries a <title>,
and `figures` gives the same numbers as a table. Labels are plain text: everything is escaped. The parts, such as
`scale` and `whisker`, are those of `apps.common.drawing.svg`.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from apps.common.drawing.svg import (
    TOO_FEW,
    DrawnEstimate,
    Scale,
    axis,
    clip,
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
from apps.common.text.wording import number

KAPPA_BANDS = (0.4, 0.6)
LETTER = 5.5  # px, the mean width of a letter at 12 px
CHARACTER, NEXT_LINE = 6.8, 14.0  # px: widest letter, and line height of a label


def svg(width: float, height: float, name: str, parts: Iterable[str], *, fluid: bool = False) -> SafeString:
    """`apps.common.drawing.svg.drawing` as a SafeString for templates."""
    return mark_safe(drawing(width, height, name, parts, fluid=fluid))


def plot(chart: str, *, caption: str = "") -> SafeString:
    """A chart that scrolls sideways on narrow screens, focusable by keyboard and named after the chart."""
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    name = chart.partition("<title>")[2].partition("</title>")[0]
    return mark_safe(f'<figure class="plot" tabindex="0" role="group" aria-label="{name}">{chart}{words}</figure>')


def figures(head: Sequence[str], rows: Iterable[Sequence[object]], *, words: int = 1) -> SafeString:
    """The table of figures under a chart; the first `words` columns are text, the others numbers."""

    def cell(name: str, at: int, value: object) -> str:
        css = ' class="num"' if at >= words else ""
        scope = ' scope="col"' if name == "th" else ""
        return f"<{name}{scope}{css}>{escape(value)}</{name}>"

    top = "".join(cell("th", at, value) for at, value in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", at, value) for at, value in enumerate(row)) + "</tr>" for row in rows)
    return mark_safe(
        '<details class="figures"><summary>Figures</summary>'
        '<div class="scroll" tabindex="0" role="group" aria-label="Figures"><table class="data">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


ROW, WIDTH = 30, 648
MARKS_FROM, MARKS_TO = 212.0, WIDTH - 104.0


def estimates(
    name: str,
    rows: Sequence[DrawnEstimate],
    *,
    low: float = 0.0,
    high: float = 1.0,
    bands: bool = True,
    places: int = 2,
    unit: str = "",
) -> SafeString:
    """Dot and whisker for each row on one axis; with `bands`, the κ bands at 0.4 and 0.6 in words above.

    `unit` follows each value, as in "10.7 %". Why a row is not defined is in its title, and in
    `undefined_note` for a caption.

    The axis reaches below `low` when a row does: a coefficient may be negative. On a phone the style sheet puts the
    words of a row above its dot; it counts on `WIDTH`, `MARKS_FROM` and `MARKS_TO`.
    """
    low = min([low, *(math.floor(edge * 2) / 2 for row in rows for edge in (row.value, row.low) if edge is not None)])
    place = scale(low, high, MARKS_FROM, MARKS_TO)
    top, bottom = 24.0, 30.0 + ROW * len(rows)
    marks = [*_bands(place, low, high, top, bottom)] if bands else []
    names, values = [], []
    for at, row in enumerate(rows):
        y = 45.0 + ROW * at
        names += _names(row, y)
        marks.append(_mark(row, place, y))
        values += _values(row, y, places, unit)
    marks += axis(place, ticks(low, high), MARKS_FROM, MARKS_TO, bottom)
    layers = {"marks": marks, "names": names, "values": values}
    parts = [tag("g", "".join(drawn), class_=layer) for layer, drawn in layers.items()]
    return mark_safe(drawing(WIDTH, bottom + 24, name, parts, folds=True))


def _bands(place: Scale, low: float, high: float, top: float, bottom: float) -> list[str]:
    """The bands with their words; a band that is too narrow for its word has none."""
    noisy, fine = KAPPA_BANDS
    edges = (("too noisy", low, noisy), ("unsettled", noisy, fine), ("acceptable", fine, high))
    parts = [tag("rect", class_="band", x=place(low), y=top, width=place(noisy) - place(low), height=bottom - top)]
    for words, start, end in edges:
        if place(end) - place(start) >= LETTER * len(words):
            parts.append(text((place(start) + place(end)) / 2, 14, words, anchor="middle"))
    for edge in KAPPA_BANDS:
        parts.append(tag("path", class_="limit", d=f"M{place(edge):.1f} {top:.0f}V{bottom:.0f}"))
    return parts


def _names(row: DrawnEstimate, y: float) -> list[str]:
    label = text(0, y + 4, row.label, class_="strong" if row.strong else "word")
    return [label, text(196, y + 4, row.measure, anchor="end")] if row.measure else [label]


def _mark(row: DrawnEstimate, place: Scale, y: float) -> str:
    if row.value is None:
        return tag("g", title(row.words) + text(MARKS_FROM + 8, y + 4, "not defined", class_="word halo"))
    return tag("g", title(row.words) + whisker(row, place, y, class_="open" if row.open else "point"))


def _values(row: DrawnEstimate, y: float, places: int, unit: str) -> list[str]:
    if row.value is None:
        return []
    value = text(WIDTH - 58, y + 4, number(row.value, places) + unit, anchor="end", class_="strong")
    return [value, text(WIDTH, y + 4, f"n {row.n:,}", anchor="end")]


def undefined_note(rows: Iterable[DrawnEstimate]) -> str:
    """Which rows of `estimates` are not defined, and why; "" where each has a value. For captions: they can wrap."""
    labels: dict[str, list[str]] = {}
    for row in rows:
        if row.value is None:
            labels.setdefault(row.why or TOO_FEW, []).append(row.label)
    return " ".join(f"Not defined for {', '.join(names)}: {why[0].lower()}{why[1:]}" for why, names in labels.items())


def estimate_figures(rows: Sequence[DrawnEstimate]) -> SafeString:
    """The figures of `estimates`."""
    return figures(
        ["Who", "Coefficient", "Value", "95 % interval", "n"],
        [
            [
                row.label,
                row.measure,
                number(row.value, 2),
                row.interval_words(2) if row.value is not None else "",
                f"{row.n:,}",
            ]
            for row in rows
        ],
        words=2,
    )


@dataclass(frozen=True, slots=True)
class BarPart:
    """One share of a whole: `class_` names its fill (`part-accepted`, `part-grade-2`, …)."""

    label: str
    count: int
    class_: str


def parts_bar(name: str, parts: Sequence[BarPart], *, width: int = 648) -> SafeString:
    """Parts of a whole as one bar; empty parts are left out, small ones are at least 3 px wide."""
    height, gap = 16, 2.0
    shown = [part for part in parts if part.count > 0]
    total = sum(part.count for part in shown)
    if not total:
        return svg(width, height, name, [tag("rect", class_="track", width=width, height=height)], fluid=True)
    room = width - gap * (len(shown) - 1)
    widths = [max(3.0, room * part.count / total) for part in shown]
    shrink = room / sum(widths)
    drawn, x = [], 0.0
    for part, size in zip(shown, widths, strict=True):
        drawn.append(
            tag(
                "rect",
                title(f"{part.label}: {part.count:,}"),
                class_=part.class_,
                x=x,
                y=0,
                width=size * shrink,
                height=height,
            )
        )
        x += size * shrink + gap
    return svg(width, height, name, drawn, fluid=True)


def meter(name: str, done: int, total: int) -> SafeString:
    """A 6 px progress line: `done` of `total`."""
    width, share = 648, min(1.0, done / total) if total else 0.0
    track = tag("rect", class_="track", width=width, height=6)
    return svg(width, 6, name, [track, tag("rect", class_="done", width=width * share, height=6)], fluid=True)


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    count: int
    share: float
    target: float | None = None


def two_lines(words: str, most: int) -> list[str]:
    """A label in at most two lines of `most` letters, divided at a space; the rest is cut."""
    if len(words) <= most:
        return [words]
    at = words.rfind(" ", 0, most + 1)
    first, rest = (words[:at], words[at + 1 :]) if at > 0 else (words[:most], words[most:])
    return [first, clip(rest, most)]


def _label(lines: Sequence[str], y: float) -> list[str]:
    """Lines of a label at the left edge, centred around `y`."""
    top = y - NEXT_LINE * (len(lines) - 1) / 2
    return [text(0, top + NEXT_LINE * at, line, class_="word") for at, line in enumerate(lines)]


def target_bars(name: str, bars: Sequence[Bar], *, width: int = 480) -> SafeString:
    """Shares as bars from zero, each with its target as a gold line."""
    left, right = 150.0, width - 64.0
    most = max([bar.share for bar in bars] + [bar.target or 0 for bar in bars] + [0.1])
    high = math.ceil(most * 10) / 10
    place = scale(0, high, left, right)
    parts = []
    for at, bar in enumerate(bars):
        y = 14.0 + 34 * at
        words = f"{bar.label}: {bar.count:,}, {bar.share:.0%}".replace("%", " %")
        if bar.target is not None:
            words += f", target {bar.target * 100:.0f} %"
        parts += _label(two_lines(bar.label, int(left / CHARACTER)), y + 11)
        parts.append(
            tag("rect", title(words), class_="bar-fill", x=left, y=y, width=place(bar.share) - left, height=14)
        )
        if bar.target is not None:
            parts.append(tag("path", class_="target", d=f"M{place(bar.target):.1f} {y - 5:.1f}v24"))
        parts.append(text(width, y + 11, f"{bar.share * 100:.0f} %", anchor="end", class_="strong"))
    bottom = 10.0 + 34 * len(bars)
    parts.append(tag("path", class_="axis", d=f"M{left:.1f} {bottom:.1f}H{right:.1f}"))
    for value in ticks(0, high * 100):
        parts.append(text(place(value / 100), bottom + 16, plain(value), anchor="middle"))
    return svg(width, bottom + 22, name, parts)


class Period(NamedTuple):
    """One period of a control chart: `hits` of `n`, and the limits for that n (shares from 0 to 1).

    `is_small`: too few to judge; drawn hollow, and never outside.
    """

    label: str
    hits: int
    n: int
    limit: float | None = None
    low: float | None = None
    is_small: bool = False

    @property
    def rate(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def is_outside(self) -> bool:
        if self.limit is None or self.rate is None or self.is_small:
            return False
        return self.rate > self.limit


def control_chart(name: str, periods: Sequence[Period], mean: float, *, unit: str = "week") -> SafeString:
    """Rate by period with its mean and stepped 3 σ limits; a period outside is a red ring with its counts."""
    width, left, right, top, bottom = 816, 44.0, 724.0, 30.0, 206.0
    most = max([0.05, mean] + [p.rate or 0 for p in periods] + [p.limit or 0 for p in periods])
    high = min(1.0, math.ceil(most * 10.5) / 10)
    place = scale(0, high, bottom, top)
    step = (right - left) / max(1, len(periods))
    parts = grid(place, {value / 100: f"{plain(value)} %" for value in ticks(0, high * 100, 5)}, left, right)
    parts += _limits(periods, place, left, step, right)
    parts.append(tag("path", class_="axis", d=f"M{left:.1f} {place(mean):.1f}H{right:.1f}"))
    parts.append(text(right + 8, place(mean) + 4, f"mean {mean * 100:.0f} %", class_="word"))
    parts += _periods(periods, place, left, step, bottom, unit)
    return svg(width, bottom + 30, name, parts)


def _limits(periods: Sequence[Period], place: Scale, left: float, step: float, right: float) -> list[str]:
    if not periods or any(period.limit is None for period in periods):
        return []
    path = f"M{left:.1f} {place(periods[0].limit or 0):.1f}"
    for at, period in enumerate(periods):
        path += f"V{place(period.limit or 0):.1f}H{left + step * (at + 1):.1f}"
    last = place(periods[-1].limit or 0)
    parts = [tag("path", class_="limit", d=path), text(right + 8, last + 4, "limit, 3 σ")]
    if any(period.low for period in periods):
        below = f"M{left:.1f} {place(periods[0].low or 0):.1f}"
        for at, period in enumerate(periods):
            below += f"V{place(period.low or 0):.1f}H{left + step * (at + 1):.1f}"
        parts.append(tag("path", class_="limit", d=below))
    return parts


def _periods(periods: Sequence[Period], place: Scale, left: float, step: float, bottom: float, unit: str) -> list[str]:
    points = [
        (left + step * (at + 0.5), place(period.rate), period)
        for at, period in enumerate(periods)
        if period.rate is not None
    ]
    parts = []
    if len(points) > 1:
        parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y, _ in points)))
    for x, y, period in points:
        counts = f"{unit} {period.label}: {period.hits} of {period.n}"
        words = f"{counts} flagged, {period.hits / period.n * 100:.0f} %"
        if period.is_small:
            words += ", too few to count"
        if period.is_outside:
            words += ", outside the limit"
            parts.append(
                text(
                    x + 12,
                    y + 1,
                    f"{unit} {period.label}: {period.hits} of {period.n}",
                    class_="flagtext halo",
                )
            )
        css, radius = ("hollow", 6.0) if period.is_outside else ("open" if period.is_small else "point", 3.5)
        parts.append(tag("circle", title(words), class_=css, cx=x, cy=y, r=radius))
    for at, period in enumerate(periods):
        parts.append(text(left + step * (at + 0.5), bottom + 22, period.label, anchor="middle"))
    parts.append(text(left - 8, bottom + 22, unit, anchor="end"))
    return parts


SPARK_WIDTH, SPARK_HEIGHT = 256.0, 72.0
LEFT, RIGHT, TOP, BOTTOM = 4.0, 202.0, 10.0, 62.0
THINNEST = 2.0


class Spot(NamedTuple):
    """One point: its position along the line from 0 to 1, its value, and the text of its title."""

    place: float
    value: float
    words: str


def spark(name: str, spots: Sequence[Spot], last: str, *, band: tuple[float, float] | None = None) -> SafeString:
    """The line through the spots, oldest first, at least one; `last` is the last value in words."""
    values = [spot.value for spot in spots] + list(band or ())
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    up, along = scale(low, high, BOTTOM, TOP), scale(0, 1, LEFT, RIGHT)
    at = [(along(spot.place), up(spot.value)) for spot in spots]
    parts = []
    if band:
        tall = max(THINNEST, up(band[0]) - up(band[1]))
        words = title("usual range")
        parts.append(tag("rect", words, class_="band", x=0.0, y=up(band[1]), width=RIGHT + 6, height=tall))
    parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)))
    for (x, y), spot in zip(at[:-1], spots[:-1], strict=True):
        parts.append(tag("circle", title(spot.words), class_="spot", cx=x, cy=y, r=5.0))
    x, y = at[-1]
    parts.append(tag("circle", title(spots[-1].words), class_="b", cx=x, cy=y, r=4.0))
    parts.append(text(x + 10, y + 4, last, class_="strong halo"))
    return svg(SPARK_WIDTH, SPARK_HEIGHT, name, parts)
