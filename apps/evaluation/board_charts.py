"""Drawings of leaderboards, trends, and quality against cost, from the parts of apps.common.charts."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from django.utils.safestring import SafeString

from apps.common.charts import Estimate, Scale, clip, plain, plot, scale, svg, tag, text, ticks, title, whisker
from apps.common.wording import interval, number
from apps.evaluation.charts import CELL_HEIGHT, CELL_WIDTH, Bounds, bounds_of
from apps.evaluation.models import Score
from apps.evaluation.placing import Ends, Place

LINE, CHARACTER = 15.0, 7.2
TREND_WIDTH, TREND_TOP, TREND_BOTTOM = 1040.0, 34.0, 260.0
WIDEST_STEP, LEAST_NAMED, LEAST_DATED = 132.0, 76.0, 56.0
COST_WIDTH, COST_BOTTOM = 640.0, 280.0
CAP = 4.0


def place_cell(name: str, score: Score, place: Place, bounds: Bounds, edge: float | None) -> SafeString:
    """A mean with its interval, and the line where the best run's interval begins; hollow: tied with the best."""
    is_tied = place.best == 1 and place.is_tied
    row = Estimate(name, score.mean, score.ci_low, score.ci_high, score.n, score.measure)
    parts = []
    if edge is not None:
        words = title("The nearer end of the best run’s interval")
        parts.append(tag("path", words, class_="limit", d=f"M{bounds.place(edge):.1f} -8V32"))
    parts.append(whisker(row, bounds.place, CELL_HEIGHT / 2, class_="open" if is_tied else "point"))
    return svg(CELL_WIDTH, CELL_HEIGHT, f"{row.words}, place {place.words}", parts)


class Moment(NamedTuple):
    """A run of a trend: its mean with interval over n queries, and when it was made."""

    system: str
    run: str
    at: datetime
    mean: float
    ends: Ends | None
    n: int

    @property
    def words(self) -> str:
        return (
            f"{self.run}, {self.system}, {_day(self.at)}: {number(self.mean)}, {interval(self.ends, 3)}, n {self.n:,}"
        )


class Milestone(NamedTuple):
    """A version and when it was published."""

    label: str
    at: datetime


def trend(measure: str, runs: Sequence[Moment], versions: Sequence[Milestone]) -> SafeString:
    """Every run in the order it was made, one step each, its system as a line; versions stand between the runs.

    `runs` ascend in time. Steps are even: many runs of one day are as legible as one a month.
    """
    left, most = 48.0, max((len(run.system) for run in runs), default=0)
    room = TREND_WIDTH - left - CHARACTER * min(22, most) - 24
    step = min(WIDEST_STEP, room / max(1, len(runs)))
    right = left + step * max(1, len(runs))
    spread = bounds_of([end for run in runs for end in (run.mean, *(run.ends or ()))])
    up = scale(spread.low, spread.high, TREND_BOTTOM, TREND_TOP)
    xs = [left + step * (at + 0.5) for at in range(len(runs))]
    parts = [*_grid(spread, up, left, right), *_milestones(runs, versions, left, step, right)]
    parts += _systems(runs, xs, up, right)
    parts += [_upright(run.words, x, run.mean, run.ends, up, "point") for run, x in zip(runs, xs, strict=True)]
    parts += _under(runs, xs, step)
    width = right + CHARACTER * min(22, most) + 24
    return plot(svg(width, TREND_BOTTOM + 44, f"{measure} of every run in the order they were made", parts))


def _grid(spread: Bounds, up: Scale, left: float, right: float) -> list[str]:
    parts = []
    for value in ticks(spread.low, spread.high, 5):
        parts.append(tag("path", class_="grid", d=f"M{left:.1f} {up(value):.1f}H{right:.1f}"))
        parts.append(text(left - 8, up(value) + 4, plain(value), anchor="end"))
    return parts


def _milestones(
    runs: Sequence[Moment], versions: Sequence[Milestone], left: float, step: float, right: float
) -> list[str]:
    """A line between the last run before a version and the first after it; versions at one place share a line."""
    places: dict[float, list[Milestone]] = {}
    for version in versions:
        places.setdefault(left + step * sum(run.at <= version.at for run in runs), []).append(version)
    parts = []
    for x, found in places.items():
        labels = ", ".join(version.label for version in found)
        words = title("; ".join(f"{version.label}, {_day(version.at)}" for version in found))
        parts.append(tag("path", words, class_="target version", d=f"M{x:.1f} {TREND_TOP - 10:.1f}V{TREND_BOTTOM:.1f}"))
        parts.append(text(min(x, right), TREND_TOP - 16, labels, anchor="middle", class_="strong"))
    return parts


def _systems(runs: Sequence[Moment], xs: Sequence[float], up: Scale, right: float) -> list[str]:
    """A line a system, named at its end; names that would lie on each other are moved apart."""
    points: dict[str, list[tuple[float, float]]] = {}
    for run, x in zip(runs, xs, strict=True):
        points.setdefault(run.system, []).append((x, up(run.mean)))
    parts, ends = [], []
    for system, found in points.items():
        if len(found) > 1:
            parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in found)))
        ends.append((found[-1][1], found[-1][0], system))
    lowest = -LINE
    for y, x, system in sorted(ends):
        lowest = max(y, lowest + LINE)
        parts.append(tag("path", class_="stub", d=f"M{x + 8:.1f} {y:.1f}L{right:.1f} {lowest:.1f}H{right + 8:.1f}"))
        parts.append(text(right + 12, lowest + 4, clip(system, 22), class_="word"))
    return parts


def _upright(words: str, x: float, mean: float, ends: Ends | None, up: Scale, class_: str) -> str:
    """A dot with its interval standing up, and end caps 8 px wide."""
    parts = [title(words)]
    if ends:
        low, high = up(ends[0]), up(ends[1])
        caps = "".join(f"M{x - CAP:.1f} {y:.1f}h{2 * CAP:.0f}" for y in (low, high))
        parts.append(tag("path", class_="whisker", d=f"M{x:.1f} {low:.1f}V{high:.1f}{caps}"))
    parts.append(tag("circle", class_=class_, cx=x, cy=up(mean), r=4.5))
    return tag("g", "".join(parts))


def _under(runs: Sequence[Moment], xs: Sequence[float], step: float) -> list[str]:
    """The run under its column where there is room for words, and days as often as they fit."""
    every = max(1, round(LEAST_DATED / step + 0.5)) if step < LEAST_DATED else 1
    parts = []
    for at, (run, x) in enumerate(zip(runs, xs, strict=True)):
        if step >= LEAST_NAMED:
            words = clip(run.run, int(step / CHARACTER))
            parts.append(text(x, TREND_BOTTOM + 18, words, anchor="middle", class_="word"))
        if at % every == 0:
            parts.append(text(x, TREND_BOTTOM + 36, f"{run.at.day} {run.at:%b}", anchor="middle"))
    return parts


def _day(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"


class Worth(NamedTuple):
    """A run between its price and its quality."""

    run: str
    price: float
    mean: float
    ends: Ends | None
    n: int
    on_front: bool


def cost_quality(measure: str, price: str, runs: Sequence[Worth]) -> SafeString:
    """Quality upwards, price to the right from zero. Filled and joined: the Pareto front; hollow: not on it."""
    left, top = 48.0, 16.0
    spread = bounds_of([end for run in runs for end in (run.mean, *(run.ends or ()))])
    up = scale(spread.low, spread.high, COST_BOTTOM, top)
    dearest = max((run.price for run in runs), default=0.0) or 1.0
    across = scale(0.0, dearest * 1.08, left, COST_WIDTH - 24)
    parts = _grid(spread, up, left, COST_WIDTH - 24)
    parts.append(tag("path", class_="axis", d=f"M{left:.1f} {COST_BOTTOM:.1f}H{COST_WIDTH - 24:.1f}"))
    for value in ticks(0.0, dearest * 1.08, 6):
        parts.append(text(across(value), COST_BOTTOM + 18, plain(value), anchor="middle"))
    parts.append(text(COST_WIDTH - 24, COST_BOTTOM + 38, price, anchor="end", class_="word"))
    parts += _front(runs, across, up)
    for run in runs:
        words = f"{run.run}: {number(run.mean)}, {interval(run.ends, 3)}, n {run.n:,}; {price} {plain(run.price)}"
        words += ", on the Pareto front" if run.on_front else ""
        parts.append(_upright(words, across(run.price), run.mean, run.ends, up, "point" if run.on_front else "open"))
    parts += _names(runs, across, up)
    return plot(svg(COST_WIDTH, COST_BOTTOM + 46, f"{measure} against {price}", parts))


def _front(runs: Sequence[Worth], across: Scale, up: Scale) -> list[str]:
    """The steps of the front: what the best quality is at each price."""
    front = sorted((run.price, run.mean) for run in runs if run.on_front)
    if len(front) < 2:
        return []
    path = f"M{across(front[0][0]):.1f} {up(front[0][1]):.1f}"
    path += "".join(f"H{across(price):.1f}V{up(mean):.1f}" for price, mean in front[1:])
    return [tag("path", title("The Pareto front"), class_="target front", d=path)]


def _names(runs: Sequence[Worth], across: Scale, up: Scale) -> list[str]:
    """Each run's name beside its dot: to the right, or to the left at the edge; lower where another name stands."""
    taken: list[tuple[float, float, float]] = []
    parts = []
    for run in sorted(runs, key=lambda run: (-run.mean, run.price)):
        name = clip(run.run, 24)
        wide = CHARACTER * len(name)
        x = across(run.price) + 10
        if x + wide > COST_WIDTH:
            x = across(run.price) - 10 - wide
        y = up(run.mean) + 4
        while any(x < end and start < x + wide and abs(y - other) < LINE for start, end, other in taken):
            y += LINE
        taken.append((x, x + wide, y))
        parts.append(text(x, y, name, class_="halo strong" if run.on_front else "halo word"))
    return parts
