"""The chart of a pool's pairs per query."""

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.safestring import SafeString, mark_safe

from apps.common.drawing import charts

MOST_BARS = 12
WIDTH, HEIGHT = 648, 190
LEFT, RIGHT, TOP, BASE = 40, 640, 16, 150


class Bin(NamedTuple):
    """The queries with `low` to `high` pairs, both included."""

    low: int
    high: int
    queries: int

    @property
    def label(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def bins(sizes: Sequence[int]) -> list[Bin]:
    """Queries by their number of pairs, in at most 12 bins of equal width; `sizes[n]` is the number with n pairs."""
    filled = [size for size, queries in enumerate(sizes) if queries]
    if not filled:
        return []
    low, high = filled[0], filled[-1]
    width = -(-(high - low + 1) // MOST_BARS)
    edges = range(low, high + 1, width)
    return [Bin(edge, edge + width - 1, sum(sizes[edge : edge + width])) for edge in edges]


def sizes_chart(sizes: Sequence[int]) -> SafeString:
    """A bar chart of the pairs per query, with its table; empty without queries."""
    bars = bins(sizes)
    if not bars:
        return mark_safe("")
    most = max(bar.queries for bar in bars)
    height = charts.scale(0, most, 0, BASE - TOP)
    step = (RIGHT - LEFT) / len(bars)
    parts = [charts.tag("path", class_="axis", d=f"M{LEFT} {BASE}H{RIGHT}")]
    for at, bar in enumerate(bars):
        middle, tall = LEFT + (at + 0.5) * step, height(bar.queries)
        wide = min(step - 8, 44)
        name = charts.title(f"{bar.label} pairs: {bar.queries:,} queries")
        parts.append(
            charts.tag("rect", name, class_="bar-fill", x=middle - wide / 2, y=BASE - tall, width=wide, height=tall)
        )
        if bar.queries:
            parts.append(charts.text(middle, BASE - tall - 5, f"{bar.queries:,}", anchor="middle", class_="strong"))
        parts.append(charts.text(middle, BASE + 17, bar.label, anchor="middle"))
    parts.append(charts.text((LEFT + RIGHT) / 2, BASE + 36, "pairs per query", anchor="middle", class_="word"))
    parts.append(charts.text(0, TOP - 4, "queries", class_="word"))
    drawn = charts.plot(charts.svg(WIDTH, HEIGHT, "Queries by their number of pairs", parts))
    rows = [(bar.label, f"{bar.queries:,}") for bar in bars]
    return mark_safe(drawn + charts.figures(("Pairs per query", "Queries"), rows))
