"""Control charts as SVG: a rate by period, with its mean and its limits."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.drawing.charts import svg
from apps.common.drawing.svg import Scale, plain, scale, tag, text, ticks, title


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


def control_chart(
    name: str, periods: Sequence[Period], mean: float, *, unit: str = "week", width: int = 816
) -> SafeString:
    """Rate by period with its mean and stepped 3 σ limits; a period outside is a red ring with its counts."""
    left, right, top, bottom = 44.0, width - 92.0, 30.0, 206.0
    most = max([0.05, mean] + [p.rate or 0 for p in periods] + [p.limit or 0 for p in periods])
    high = min(1.0, math.ceil(most * 10.5) / 10)
    place = scale(0, high, bottom, top)
    step = (right - left) / max(1, len(periods))
    parts = []
    for value in ticks(0, high * 100, 5):
        y = place(value / 100)
        parts.append(tag("path", class_="grid", d=f"M{left:.1f} {y:.1f}H{right:.1f}"))
        parts.append(text(left - 8, y + 4, f"{plain(value)} %", anchor="end"))
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
