"""Data of the leaderboard and the trend, from stored scores."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.core.paginator import Page, Paginator
from django.utils.timezone import localtime

from apps.evaluation.edges import score_charts as charts
from apps.evaluation.edges.sheets import conventions_of
from apps.evaluation.models import RunNote, Score
from apps.evaluation.pages import leaderboard_charts as board_charts
from apps.evaluation.pages.leaderboard_charts import Milestone, TrendPoint
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.evaluations import SlicePart
from apps.evaluation.selectors.leaderboard import LeaderboardLine, RankedRun, VersionScore
from apps.goldsets.models import Version
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected import BY_GRADES, parse_hit_rule
from apps.metrics.statistics import rank_intervals
from apps.metrics.statistics.rank_intervals import RankRange
from apps.retrieval.models import Run

RUNS_A_PAGE = 50
MOST_CHOICES = 200


class BoardRow(NamedTuple):
    """A run on a leaderboard; `place` is None where the main measure was not scored."""

    ranked: RankedRun
    main: Score | None
    place: RankRange | None
    drawing: str
    others: list[tuple[str, Score | None]]

    @property
    def judged_between(self) -> tuple[float, float] | None:
        return interval_of(self.ranked.judged) if self.ranked.judged else None


@dataclass
class LeaderboardPage:
    """One page of the runs of one split of a version, best first by the main measure.

    Places, ties and the scale of the charts are those of all `lines`, whichever page is shown.
    """

    measures: list[str]
    lines: list[LeaderboardLine]
    page: Page[LeaderboardLine]
    runs: list[RankedRun]
    hit: str = BY_GRADES

    @property
    def main(self) -> str:
        return self.measures[0]

    @property
    def total(self) -> int:
        return len(self.lines)

    @property
    def choices(self) -> list[LeaderboardLine]:
        """The runs offered for a comparison: all while they are few, else the page's and the best."""
        if self.total <= MOST_CHOICES:
            return self.lines
        shown = list(self.page)
        return shown if self.lines[0] in shown else [self.lines[0], *shown]

    @cached_property
    def bounds(self) -> charts.Bounds:
        ends = [end for line in self.lines for end in (line.ci_low, line.mean, line.ci_high) if end is not None]
        return charts.bounds_of(ends)

    @cached_property
    def _places(self) -> dict[int | None, RankRange]:
        scored = [line for line in self.lines if line.mean is not None]
        ends = [_turned(interval_of(line)) if self.is_lower_better else interval_of(line) for line in scored]
        return dict(zip((line.score_id for line in scored), rank_intervals.places(ends), strict=True))

    @property
    def is_lower_better(self) -> bool:
        return is_lower_better(self.main)

    @property
    def edge(self) -> float | None:
        """The worse end of the best run's interval: runs that reach it are tied with the best."""
        best = self.lines[0]
        return best.ci_high if self.is_lower_better else best.ci_low

    @property
    def tied_with_best(self) -> int:
        return sum(place.best == 1 for place in self._places.values()) - 1

    @property
    def head(self) -> str:
        return charts.head_cell(self.bounds)

    @cached_property
    def rows(self) -> list[BoardRow]:
        return [self._row(ranked) for ranked in self.runs]

    def _row(self, ranked: RankedRun) -> BoardRow:
        main = ranked.scores.get(self.main)
        place = self._places.get(main.pk) if main else None
        drawing = ""
        if main and place:
            drawing = board_charts.place_cell(ranked.run.tag, main, place, self.bounds, self.edge)
        others = [(name, ranked.scores.get(name)) for name in self.measures[1:]]
        return BoardRow(ranked, main, place, drawing, others)

    @property
    def conventions(self) -> str:
        return parse_hit_rule(self.hit).words if self.hit else conventions_of(self.measures)


def board(
    version: Version, split: str, hit: str, first: str, page: str | None, part: SlicePart | None = None
) -> LeaderboardPage | None:
    """The requested page of the leaderboard by grades or a hit rule, of a split or a slice; None without scores."""
    measures = leaderboard.measures_on(version, split, first, hit, part)
    if not measures:
        return None
    lines = leaderboard.lines_on(version, split, measures[0], hit, part)
    shown = Paginator(lines, RUNS_A_PAGE).get_page(page)
    ranked = leaderboard.ranked_runs_of(version, split, [line.run_id for line in shown], hit, part)
    return LeaderboardPage(measures, lines, shown, ranked, hit)


def _turned(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    """The interval of the negative value, so that more is better."""
    return (-ends[1], -ends[0]) if ends else None


def interval_of(score: Score | LeaderboardLine) -> tuple[float, float] | None:
    return None if score.ci_low is None or score.ci_high is None else (score.ci_low, score.ci_high)


class TrendRow(NamedTuple):
    """One run of a trend."""

    ranked: RankedRun
    score: Score
    started_at: datetime
    note: RunNote | None


class SystemAcross(NamedTuple):
    """A system's newest score on each version of a gold set, in the order of the versions; None for none."""

    system: str
    scores: list[VersionScore | None]


@dataclass
class Trend:
    """Every run that could be scored on one split of a version, in order of creation."""

    version: Version
    split: str
    measure: str = ""
    hit: str = BY_GRADES

    @cached_property
    def scored(self) -> leaderboard.ScoredRuns:
        return leaderboard.scored_runs(self.version, self.split, self.measure, self.hit)

    @cached_property
    def rows(self) -> list[TrendRow]:
        notes = leaderboard.notes_of(ranked.run for ranked in self.scored.runs)
        rows = [
            TrendRow(ranked, ranked.scores[self.scored.main], started_at(ranked.run), notes.get(ranked.run.pk))
            for ranked in self.scored.runs
            if ranked.scores[self.scored.main].mean is not None
        ]
        return sorted(rows, key=lambda row: (row.started_at, row.ranked.run.pk))

    @cached_property
    def versions(self) -> list[Version]:
        return leaderboard.versions_of(self.version.gold_set)

    @cached_property
    def across(self) -> list[SystemAcross]:
        """The systems with scores on several versions, each with its scores in the order of the versions."""
        if len(self.versions) < 2 or not self.scored.main:
            return []
        found = leaderboard.scores_by_version(self.version.gold_set, self.split, self.scored.main, self.hit)
        keys = [version.pk for version in self.versions]
        return [
            SystemAcross(system, [scores.get(pk) for pk in keys]) for system, scores in found.items() if len(scores) > 1
        ]

    @cached_property
    def unscored(self) -> list[Run]:
        """Runs that could be scored by the measure shown, and are not."""
        main = [self.scored.main] if self.scored.main else []
        return leaderboard.unscored_on(self.version, self.split, main, self.hit)

    @cached_property
    def measures(self) -> list[str]:
        return self.scored.measures or leaderboard.latest_measures(self.version, self.split, self.hit)

    @cached_property
    def elsewhere(self) -> list[Run]:
        """The newest runs on other snapshots, to which the grades of this version do not apply."""
        return list(leaderboard.runs_elsewhere(self.version)[: leaderboard.ELSEWHERE])

    @property
    def elsewhere_count(self) -> int:
        shown = len(self.elsewhere)
        return shown if shown < leaderboard.ELSEWHERE else leaderboard.runs_elsewhere(self.version).count()

    @property
    def drawing(self) -> str:
        moments = [_point(row) for row in self.rows]
        milestones = [Milestone(version.label, at) for version in self.versions if (at := published_at(version))]
        return board_charts.trend(self.scored.main, moments, milestones)

    @property
    def conventions(self) -> str:
        return parse_hit_rule(self.hit).words if self.hit else conventions_of([self.scored.main])


def started_at(run: Run) -> datetime:
    """In the time zone of the pages."""
    return localtime(run.created_at)


def published_at(version: Version) -> datetime | None:
    """When it was released; for one that was never released, when it was frozen."""
    at = version.released_at or version.frozen_at
    return localtime(at) if at else None


def _point(row: TrendRow) -> TrendPoint:
    assert row.score.mean is not None
    run = row.ranked.run
    return TrendPoint(run.system.name, run.tag, row.started_at, row.score.mean, interval_of(row.score), row.score.n)
