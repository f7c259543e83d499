"""Charts of leaderboards, trends, and quality against cost, made of the parts in apps.common.drawing.charts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.utils.safestring import SafeString

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
)
from apps.common.text.wording import interval, number
from apps.evaluation.models import Score
from apps.evaluation.presenters.score_charts import Bounds, bounds_of, estimate_cell
from apps.metrics.statistics.bootstrap import Interval
from apps.metrics.statistics.places import RankRange

LINE, CHARACTER = 15.0, 7.0
MOST_NAME = 30
TREND_WIDTH, TREND_TOP, TREND_BOTTOM = 1040.0, 34.0, 260.0
FAN = 16.0  # px before the end of the lines, where names that would overlap are moved apart
QUIET = timedelta(weeks=4)
WIDEST_STEP, LEAST_NAMED, LEAST_DATED = 132.0, 76.0, 56.0
COST_WIDTH, COST_BOTTOM = 640.0, 280.0
CAP = 4.0


def place_cell(name: str, score: Score, place: RankRange, bounds: Bounds) -> SafeString:
    """A mean with its interval; hollow: it may be first, and others may too."""
    may_be_first = place.best == 1 and place.is_tied
    ends = score.ci_low, score.ci_high
    row = DrawnEstimate(name, score.mean, *ends, score.n, score.measure, open=may_be_first)
    return estimate_cell(row, bounds, words=f"{row.words}, place {place.words}")


class TrendPoint(NamedTuple):
    """A run of a trend: its mean, the interval of that over n queries, and when the run was created."""

    system: str
    run: str
    at: datetime
    mean: float
    ends: Interval | None
    n: int

    @property
    def words(self) -> str:
        figure = f"{number(self.mean)}, {interval(self.ends, 3)}, n {self.n:,}"
        return f"{self.run}, {self.system}, {_day(self.at)}: {figure}"


class Milestone(NamedTuple):
    """A version and when it was published."""

    label: str
    at: datetime


def trend(measure: str, runs: Sequence[TrendPoint], versions: Sequence[Milestone]) -> SafeString:
    """Every run in order of creation, one step each, its system as a line; versions are drawn between the runs.

    `runs` ascend in time. Steps are even, so that many runs of one day are as legible as one a month; the axis is
    broken where four weeks or more passed without a run.
    """
    left, names = 48.0, CHARACTER * min(MOST_NAME, max((len(run.system) for run in runs), default=0)) + 24
    room = TREND_WIDTH - left - names
    step = min(WIDEST_STEP, room / max(1, len(runs)))
    right = left + step * max(1, len(runs))
    spread = bounds_of([end for run in runs for end in (run.mean, *(run.ends or ()))])
    up = scale(spread.low, spread.high, TREND_BOTTOM, TREND_TOP)
    xs = [left + step * (at + 0.5) for at in range(len(runs))]
    parts = [*_grid(spread, up, left, right), *_milestones(runs, versions, left, step, right)]
    parts += _systems(runs, xs, up, right)
    parts += [_upright(run.words, x, run.mean, run.ends, up, "point") for run, x in zip(runs, xs, strict=True)]
    parts += [*_time_axis(runs, left, step, right), *_under(runs, xs, step)]
    return plot(svg(right + names, TREND_BOTTOM + 60, f"{measure} of every run in the order they were started", parts))


def _grid(spread: Bounds, up: Scale, left: float, right: float) -> list[str]:
    return grid(up, {value: plain(value) for value in ticks(spread.low, spread.high, 5)}, left, right)


def _milestones(
    runs: Sequence[TrendPoint], versions: Sequence[Milestone], left: float, step: float, right: float
) -> list[str]:
    """A line between the last run before a version and the first after it; versions at one place share a line."""
    places: dict[float, list[Milestone]] = {}
    for version in versions:
        places.setdefault(left + step * sum(run.at <= version.at for run in runs), []).append(version)
    parts = []
    for x, milestones in places.items():
        labels = ", ".join(version.label for version in milestones)
        if len(milestones) > 2:
            labels = f"{milestones[0].label} to {milestones[-1].label}"
        words = title("; ".join(f"{version.label}, {_day(version.at)}" for version in milestones))
        parts.append(tag("path", words, class_="target version", d=f"M{x:.1f} {TREND_TOP - 10:.1f}V{TREND_BOTTOM:.1f}"))
        parts.append(text(min(x, right), TREND_TOP - 16, labels, anchor="middle", class_="strong"))
    return parts


def _systems(runs: Sequence[TrendPoint], xs: Sequence[float], up: Scale, right: float) -> list[str]:
    """One line for each system, named after the last run; names that would overlap are moved apart."""
    points: dict[str, list[tuple[float, float]]] = {}
    for run, x in zip(runs, xs, strict=True):
        points.setdefault(run.system, []).append((x, up(run.mean)))
    parts, ends = [], []
    for system, curve in points.items():
        if len(curve) > 1:
            parts.append(tag("path", class_="line", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in curve)))
        ends.append((curve[-1][1], curve[-1][0], system))
    lowest = -LINE
    for y, x, system in sorted(ends):
        lowest = max(y, lowest + LINE)
        start = max(x + 8, right - FAN)
        line = f"M{x + 8:.1f} {y:.1f}H{start:.1f}L{right + 4:.1f} {lowest:.1f}H{right + 8:.1f}"
        parts.append(tag("path", class_="stub", d=line))
        parts.append(text(right + 12, lowest + 4, clip(system, MOST_NAME), class_="word"))
    return parts


def _upright(words: str, x: float, mean: float, ends: Interval | None, up: Scale, class_: str) -> str:
    """A dot with a vertical interval and end caps 8 px wide."""
    parts = [title(words)]
    if ends:
        low, high = up(ends[0]), up(ends[1])
        caps = "".join(f"M{x - CAP:.1f} {y:.1f}h{2 * CAP:.0f}" for y in (low, high))
        parts.append(tag("path", class_="whisker", d=f"M{x:.1f} {low:.1f}V{high:.1f}{caps}"))
    parts.append(tag("circle", class_=class_, cx=x, cy=up(mean), r=4.5))
    return tag("g", "".join(parts))


def _time_axis(runs: Sequence[TrendPoint], left: float, step: float, right: float) -> list[str]:
    """A line under the runs, broken between two that are far apart in time."""
    parts, start = [], left
    for at, (run, following) in enumerate(pairwise(runs), 1):
        if following.at - run.at < QUIET:
            continue
        x = left + step * at
        weeks = (following.at - run.at).days // 7
        parts.append(tag("path", class_="axis", d=f"M{start:.1f} {TREND_BOTTOM:.1f}H{x - 4:.1f}"))
        slashes = f"M{x - 6:.1f} {TREND_BOTTOM + 5:.1f}l4 -10M{x + 2:.1f} {TREND_BOTTOM + 5:.1f}l4 -10"
        parts.append(tag("path", title(f"{weeks} weeks without a run"), class_="axis", d=slashes))
        start = x + 4
    return [*parts, tag("path", class_="axis", d=f"M{start:.1f} {TREND_BOTTOM:.1f}H{right:.1f}")]


def _under(runs: Sequence[TrendPoint], xs: Sequence[float], step: float) -> list[str]:
    """The run under its column where there is room for words, days as often as they fit, and each year once."""
    every = max(1, round(LEAST_DATED / step + 0.5)) if step < LEAST_DATED else 1
    parts = []
    for at, (run, x) in enumerate(zip(runs, xs, strict=True)):
        if step >= LEAST_NAMED:
            words = clip(run.run, int(step / CHARACTER))
            parts.append(text(x, TREND_BOTTOM + 18, words, anchor="middle", class_="word"))
        if at % every == 0:
            parts.append(text(x, TREND_BOTTOM + 36, f"{run.at.day} {run.at:%b}", anchor="middle"))
        if at == 0 or run.at.year != runs[at - 1].at.year:
            parts.append(text(x, TREND_BOTTOM + 52, str(run.at.year), anchor="middle"))
    return parts


def _day(when: datetime) -> str:
    return f"{when.day} {when:%B %Y}"


class Worth(NamedTuple):
    """A run with its price and its quality."""

    run: str
    price: float
    mean: float
    ends: Interval | None
    n: int
    on_front: bool


def cost_quality(measure: str, price: str, runs: Sequence[Worth]) -> SafeString:
    """Quality upwards, price to the right from zero. Filled and joined: the Pareto front; hollow: not on it."""
    dearest = max((run.price for run in runs), default=0.0) or 1.0
    return _scatter(measure, price, runs, (0.0, dearest * 1.08), beside="open")


def outside_figures(measure: str, figure: str, runs: Sequence[Worth]) -> SafeString:
    """Quality upwards, a figure from elsewhere to the right; no line, since none is claimed."""
    low, high = (end(run.price for run in runs) for end in (min, max))
    room = (high - low or abs(high) or 1.0) * 0.08
    return _scatter(measure, figure, runs, (low - room, high + room), beside="point")


def figures_beside(measure: str, figure: str, runs: Sequence[Worth]) -> SafeString:
    """The table of `outside_figures`."""
    rows = [[run.run, plain(run.price), number(run.mean), interval(run.ends, 3), run.n] for run in runs]
    return figures(["Run", figure, measure, "95 % interval", "n"], rows)


def _scatter(measure: str, price: str, runs: Sequence[Worth], reach: tuple[float, float], *, beside: str) -> SafeString:
    """`beside` is the class of the dots that are not on the front."""
    left, top = 48.0, 16.0
    spread = bounds_of([end for run in runs for end in (run.mean, *(run.ends or ()))])
    up = scale(spread.low, spread.high, COST_BOTTOM, top)
    across = scale(*reach, left, COST_WIDTH - 24)
    parts = _grid(spread, up, left, COST_WIDTH - 24)
    parts.append(tag("path", class_="axis", d=f"M{left:.1f} {COST_BOTTOM:.1f}H{COST_WIDTH - 24:.1f}"))
    for value in ticks(*reach, 6):
        parts.append(text(across(value), COST_BOTTOM + 18, plain(value), anchor="middle"))
    parts.append(text(COST_WIDTH - 24, COST_BOTTOM + 38, price, anchor="end", class_="word"))
    parts += [*_front(runs, across, up), *_names(runs, across, up)]
    for run in sorted(runs, key=lambda run: run.on_front):
        words = f"{run.run}: {number(run.mean)}, {interval(run.ends, 3)}, n {run.n:,}; {price} {plain(run.price)}"
        words += ", on the Pareto front" if run.on_front else ""
        parts.append(_upright(words, across(run.price), run.mean, run.ends, up, "point" if run.on_front else beside))
    return plot(svg(COST_WIDTH, COST_BOTTOM + 46, f"{measure} against {price}", parts))


def _front(runs: Sequence[Worth], across: Scale, up: Scale) -> list[str]:
    """The steps of the front: the best quality at each price."""
    front = sorted((run.price, run.mean) for run in runs if run.on_front)
    if len(front) < 2:
        return []
    path = f"M{across(front[0][0]):.1f} {up(front[0][1]):.1f}"
    path += "".join(f"H{across(price):.1f}V{up(mean):.1f}" for price, mean in front[1:])
    return [tag("path", title("The Pareto front"), class_="target front", d=path)]


class _Box(NamedTuple):
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def shares(self, other: "_Box") -> float:
        """The area of the overlap."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, wide) * max(0.0, high)


def _names(runs: Sequence[Worth], across: Scale, up: Scale) -> list[str]:
    """Each run's name at its mark, where it overlaps least with other names, marks and the front."""
    taken = [_mark(run, across, up) for run in runs] + _front_boxes(runs, across, up)
    parts = []
    for run in sorted(runs, key=lambda run: (-run.mean, run.price)):
        name = clip(run.run, MOST_NAME)
        spots = _spots(_mark(run, across, up), up(run.mean), CHARACTER * len(name))
        inside = [spot for spot in spots if spot.box.left >= 0 and spot.box.right <= COST_WIDTH] or spots
        spot = min(inside, key=lambda spot: sum(spot.box.shares(other) for other in taken))
        taken.append(spot.box)
        parts.append(spot.write(name, "halo strong" if run.on_front else "halo word"))
    return parts


def _mark(run: Worth, across: Scale, up: Scale) -> _Box:
    """The dot and its whisker."""
    x, low, high = across(run.price), *(run.ends or (run.mean, run.mean))
    return _Box(x - 5, min(up(high), up(run.mean) - 5), x + 5, max(up(low), up(run.mean) + 5))


def _front_boxes(runs: Sequence[Worth], across: Scale, up: Scale) -> list[_Box]:
    """The lines of the front, each a pixel thick."""
    front = sorted((across(run.price), up(run.mean)) for run in runs if run.on_front)
    boxes = []
    for (x, y), (to, higher) in pairwise(front):
        boxes += [_Box(x, y - 0.5, to, y + 0.5), _Box(to - 0.5, higher, to + 0.5, y)]
    return boxes


class _Spot(NamedTuple):
    """A position for a name; `anchor` is the end of the text that is nearest to the mark."""

    box: _Box
    anchor: str

    def write(self, name: str, class_: str) -> str:
        left, _, right, bottom = self.box
        x = {"start": left, "middle": (left + right) / 2, "end": right}[self.anchor]
        return text(x, bottom - 3, name, anchor=self.anchor, class_=class_)


def _spots(mark: _Box, y: float, wide: float) -> list[_Spot]:
    """Positions for a name of this width, the best first: next to the dot, above or below the whisker, then diagonal.

    Above and below it is centred, or starts or ends at the whisker, so that it fits at the edges too.
    """
    after, before = (mark.right + 4, "start"), (mark.left - 4 - wide, "end")
    middle = ((mark.left + mark.right - wide) / 2, "middle")
    over = (middle, (mark.left, "start"), (mark.right - wide, "end"))
    top = y - LINE / 2
    rows = [top, top + LINE * 0.8, top - LINE * 0.8, top + LINE * 1.6, top - LINE * 1.6]
    places = [(after, top), (before, top)]
    places += [(place, row) for place in over for row in (mark.top - LINE - 2, mark.bottom + 2)]
    places += [(side, row) for row in rows[1:] for side in (after, before)]
    return [_Spot(_Box(x, row, x + wide, row + LINE), anchor) for (x, anchor), row in places]
