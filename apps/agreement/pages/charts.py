"""Charts of agreement: the heat map of pairs of people, and one figure over the weeks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.drawing.charts import svg
from apps.common.drawing.svg import Scale, clip, plain, scale, tag, text, ticks, title
from apps.common.text.wording import interval, number
from apps.metrics.agreement.results import ACCEPTABLE, TOO_NOISY, Coefficient
from apps.metrics.estimate import Estimate

CELL_WIDTH, CELL_HEIGHT = 58.0, 32.0
LABELS = 132.0
HIGH = 0.8
MOST_LABELS = 8


def heat_map(
    name: str, people: Sequence[int], names: Mapping[int, str], alphas: Mapping[frozenset[int], Coefficient]
) -> SafeString:
    """Ordinal α of every two people, the lower triangle; darker is higher, and each cell shows its value.

    Where two share no pair there is no cell; where α is undefined it is dashed, with the reason.
    """
    parts = []
    for column, person in enumerate(people[:-1]):
        x = LABELS + CELL_WIDTH * (column + 0.5)
        parts.append(text(x, 14, clip(names[person], 8), anchor="middle", class_="word"))
    for row, person in enumerate(people[1:]):
        y = 22 + CELL_HEIGHT * row
        parts.append(text(0, y + CELL_HEIGHT / 2 + 4, clip(names[person], 18), class_="word"))
        for column, other in enumerate(people[: row + 1]):
            alpha = alphas.get(frozenset((person, other)))
            if alpha is not None:
                parts.append(_cell(alpha, f"{names[other]} and {names[person]}", LABELS + CELL_WIDTH * column, y))
    width = LABELS + CELL_WIDTH * max(1, len(people) - 1)
    return svg(width, 26 + CELL_HEIGHT * max(1, len(people) - 1), name, parts)


def _cell(alpha: Coefficient, who: str, x: float, y: float) -> str:
    box = {"x": x + 1, "y": y + 1, "width": CELL_WIDTH - 2, "height": CELL_HEIGHT - 2, "rx": 3}
    middle, base = x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4
    if alpha.value is None:
        words = f"{who}: α is not defined. {alpha.reason}"
        return tag(
            "g", title(words) + tag("rect", class_="heat-none", **box) + text(middle, base, "none", anchor="middle")
        )
    words = f"{who}: α {number(alpha.value, 2)}, {alpha.missing_interval or interval(alpha.interval)}, n {alpha.n:,}"
    shown = text(middle, base, number(alpha.value, 2), anchor="middle", class_="strong")
    return tag("g", title(words) + tag("rect", class_=_heat(alpha.value), **box) + shown)


def _heat(value: float) -> str:
    if value < TOO_NOISY:
        return "heat-noisy"
    if value <= ACCEPTABLE:
        return "heat-unsettled"
    return "heat-fine" if value < HIGH else "heat-high"


class PeriodFigure(NamedTuple):
    """The figure of one period."""

    label: str
    figure: Estimate


def over_time(
    name: str,
    periods: Sequence[PeriodFigure],
    *,
    low: float,
    high: float,
    lines: Sequence[tuple[float, str]] = (),
    places: int = 2,
    width: int = 648,
) -> SafeString:
    """One value per period with whiskers, oldest first. `lines` are dashed, each with its label at the end.

    The axis reaches from `low` to `high` and further where a value or an interval does.
    """
    left, right, top, bottom = 48.0, width - 116.0, 12.0, 172.0
    values = _whole_ticks(periods, low, high)
    place = scale(values[0], values[-1], bottom, top)
    parts = []
    for value in values:
        parts.append(tag("path", class_="grid", d=f"M{left:.1f} {place(value):.1f}H{right:.1f}"))
        parts.append(text(left - 8, place(value) + 4, plain(value), anchor="end"))
    for value, word in lines:
        parts.append(tag("path", class_="limit", d=f"M{left:.1f} {place(value):.1f}H{right:.1f}"))
        parts.append(text(right + 8, place(value) + 4, word))
    parts += _drawn_figures(periods, place, left, (right - left) / max(1, len(periods)), bottom, places)
    return svg(width, bottom + 28, name, parts)


def _whole_ticks(periods: Sequence[PeriodFigure], low: float, high: float) -> list[float]:
    """Round values from at or below the lowest drawn value to at or above the highest."""
    ends = [end for _, figure in periods for end in (figure.value, figure.low, figure.high) if end is not None]
    low, high = min([low, *ends]), max([high, *ends])
    values = ticks(low, high, 5)
    step = values[1] - values[0] if len(values) > 1 else high - low
    below = [values[0] - step] if values[0] > low else []
    above = [values[-1] + step] if values[-1] < high else []
    return [*below, *values, *above]


def _drawn_figures(
    periods: Sequence[PeriodFigure], place: Scale, left: float, step: float, bottom: float, places: int
) -> list[str]:
    parts = []
    every = -(-len(periods) // MOST_LABELS)
    drawn = [(left + step * (at + 0.5), period) for at, period in enumerate(periods)]
    known = [(x, place(period.figure.value)) for x, period in drawn if period.figure.value is not None]
    if len(known) > 1:
        parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in known)))
    for at, (x, period) in enumerate(drawn):
        if (len(periods) - 1 - at) % every == 0:
            parts.append(text(x, bottom + 20, period.label, anchor="middle"))
        if period.figure.value is not None:
            parts.append(_mark(x, period, period.figure.value, place, places))
    return parts


def _mark(x: float, period: PeriodFigure, value: float, place: Scale, places: int) -> str:
    ends, n = period.figure.interval, period.figure.n
    words = interval(ends, places) if ends or not period.figure.reason else period.figure.reason.rstrip(".")
    parts = [title(f"{period.label}: {number(value, places)}, {words}, n {n:,}")]
    if ends:
        low, high = map(place, ends)
        caps = f"M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"
        parts.append(tag("path", class_="whisker", d=caps))
    parts.append(tag("circle", class_="point" if ends else "open", cx=x, cy=place(value), r=4.0))
    return tag("g", "".join(parts))
