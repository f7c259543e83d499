"""The trend of a gold set, quality against cost, and the ledger of runs: pages and data."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import NamedTuple, Self

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.timezone import localtime
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import write_ledger
from apps.evaluation.actions.scoring import score_missing
from apps.evaluation.core.basis import measured_words, rule_name
from apps.evaluation.forms import LedgerForm, RestForm
from apps.evaluation.models import RunNote, Score
from apps.evaluation.pages import leaderboard_charts
from apps.evaluation.pages.leaderboard_charts import Milestone, TrendPoint, Worth
from apps.evaluation.presenters.score_tables import conventions_of
from apps.evaluation.presenters.version_choice import (
    ground_context,
    ledger_grounds,
    requested_hit,
    requested_split,
    requested_version,
)
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.evaluations import evaluations_in
from apps.evaluation.selectors.leaderboard import RankedRun, VersionScore
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.comparison import is_lower_better
from apps.metrics.estimate import Estimate
from apps.metrics.expected.rules import BY_GRADES, parse_hit_rule
from apps.metrics.statistics import places
from apps.metrics.statistics.usage import FailureRates, failure_rates
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import run_in

LEDGER = "Ledger"
RUNS_A_PAGE = 50


class TrendRow(NamedTuple):
    ranked: RankedRun
    score: Score
    started_at: datetime
    note: RunNote | None


class Outside(NamedTuple):
    """A figure from elsewhere beside the measure: τ over the runs that have both, their chart and its figures.

    Without a τ the last two are "".
    """

    name: str
    tau: Estimate
    drawing: str = ""
    figures: str = ""


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
    figure: str = ""

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
        return leaderboard_charts.trend(self.scored.main, moments, milestones)

    @cached_property
    def figures(self) -> list[str]:
        """The names of figures from elsewhere, those of most runs first."""
        named = Counter(name for row in self.rows for name in _figures(row))
        return sorted(named, key=lambda name: (-named[name], name))

    @cached_property
    def outside(self) -> Outside | None:
        """The figure asked for, else that of most runs; None where no run has any."""
        if not self.figures:
            return None
        name = self.figure if self.figure in self.figures else self.figures[0]
        runs = [
            Worth(row.ranked.run.tag, _figures(row)[name], row.score.mean, row.score.interval, row.score.n, False)
            for row in self.rows
            if name in _figures(row) and row.score.mean is not None
        ]
        sign = -1.0 if is_lower_better(self.scored.main) else 1.0
        tau = places.tau_over_runs([sign * run.mean for run in runs], [run.price for run in runs])
        if tau.value is None:
            return Outside(name, tau)
        drawing = leaderboard_charts.outside_figures(self.scored.main, name, runs)
        return Outside(name, tau, drawing, leaderboard_charts.figures_beside(self.scored.main, name, runs))

    @property
    def is_lower_better(self) -> bool:
        return is_lower_better(self.scored.main)

    @property
    def conventions(self) -> str:
        return parse_hit_rule(self.hit).words if self.hit else conventions_of([self.scored.main])


def _figures(row: TrendRow) -> dict[str, float]:
    return (row.note.figures if row.note else None) or {}


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
    return TrendPoint(run.system.name, run.tag, row.started_at, row.score.mean, row.score.interval, row.score.n)


class Latency(NamedTuple):
    """Milliseconds that n queries of a run took; None where not measured or counted."""

    p50: float | None
    p95: float | None
    p99: float | None
    mean: float | None
    n: int | None

    @property
    def throughput(self) -> float | None:
        """Queries a second, one after another; None where no time was measured."""
        return 1_000 / self.mean if self.mean else None

    @classmethod
    def of(cls, run: Run) -> Self:
        return cls(*(run.latency.get(name) for name in cls._fields))


def latency_places(taken: Iterable[float | None]) -> int:
    """The number of decimals with which these milliseconds differ, the same for all of them."""
    quickest = min((one for one in taken if one is not None), default=0.0)
    return 2 if quickest < 1 else 1 if quickest < 100 else 0


class CostRow(NamedTuple):
    """A run with its latency and cost; None where not measured or entered."""

    ranked: RankedRun
    score: Score
    latency: Latency
    cost: Decimal | None
    cost_from: str
    is_fast_enough: bool
    is_cheap_enough: bool

    @property
    def failures(self) -> FailureRates | None:
        return failure_rates(self.ranked.run.usage)


@dataclass
class Costs:
    """Quality against latency and cost on one split of a version, best first."""

    scored: leaderboard.ScoredRuns

    @cached_property
    def rows(self) -> list[CostRow]:
        with_mean = [one for one in self.scored.runs if one.scores[self.scored.main].mean is not None]
        notes = leaderboard.notes_of(ranked.run for ranked in with_mean)
        found = [notes.get(one.run.pk) for one in with_mean]
        costs = [note.cost if note else None for note in found]
        sign = -1.0 if is_lower_better(self.scored.main) else 1.0
        quality = [sign * (one.scores[self.scored.main].mean or 0.0) for one in with_mean]
        fast = places.front(quality, [Latency.of(one.run).p95 for one in with_mean])
        cheap = places.front(quality, [None if cost is None else float(cost) for cost in costs])
        return [
            CostRow(
                one,
                one.scores[self.scored.main],
                Latency.of(one.run),
                note.cost if note else None,
                note.cost_from if note else "",
                is_fast,
                is_cheap,
            )
            for one, note, is_fast, is_cheap in zip(with_mean, found, fast, cheap, strict=True)
        ]

    @property
    def latency_places(self) -> int:
        return latency_places(row.latency.p50 for row in self.rows)

    @property
    def without_latency(self) -> list[str]:
        return [row.ranked.run.tag for row in self.rows if row.latency.p95 is None]

    @property
    def without_cost(self) -> list[str]:
        return [row.ranked.run.tag for row in self.rows if row.cost is None]

    @property
    def by_latency(self) -> str:
        """The chart; empty when no run has a latency."""
        worth = [_worth(row, row.latency.p95, row.is_fast_enough) for row in self.rows if row.latency.p95 is not None]
        return leaderboard_charts.cost_quality(self.scored.main, "p95 latency in ms", worth) if worth else ""

    @property
    def by_cost(self) -> str:
        """The chart; empty when no run has a cost."""
        worth = [_worth(row, float(row.cost), row.is_cheap_enough) for row in self.rows if row.cost is not None]
        return leaderboard_charts.cost_quality(self.scored.main, "cost of 1,000 queries", worth) if worth else ""

    @property
    def conventions(self) -> str:
        return conventions_of([self.scored.main])


def _worth(row: CostRow, price: float, on_front: bool) -> Worth:
    assert row.score.mean is not None
    return Worth(row.ranked.run.tag, price, row.score.mean, row.score.interval, row.score.n, on_front)


class LedgerColumn(NamedTuple):
    """The main scores of runs on one split of a version, by grades or by a hit rule; by key of the run."""

    measure: str
    hit: str
    where: str
    scores: Mapping[int, Score]

    @property
    def rule(self) -> str:
        """The name of the rule; "" for the grades of returned blocks."""
        return rule_name(self.hit) if self.hit else ""

    @property
    def words(self) -> str:
        """What it is measured by."""
        return measured_words(self.hit)

    @property
    def name(self) -> str:
        """What a narrow page calls the cell."""
        return f"{self.measure}, {self.rule.lower()}" if self.rule else self.measure


class LedgerRow(NamedTuple):
    """A run, its ledger entry, and for each column its score where it has one."""

    run: Run
    note: RunNote | None
    cells: list[tuple[LedgerColumn, Score | None]]

    @property
    def tried(self) -> str:
        """From the ledger entry; without one, what was noted when the run was created."""
        return self.note.tried if self.note else self.run.note

    @property
    def commit(self) -> str:
        return self.note.commit if self.note else self.run.commit

    @property
    def failures(self) -> FailureRates | None:
        return failure_rates(self.run.usage)


@dataclass
class Ledger:
    """Some runs with their entries, and their scores by grades and on Q&As, side by side."""

    runs: list[Run]
    columns: list[LedgerColumn]

    @property
    def latency_places(self) -> int:
        return latency_places(Latency.of(run).p95 for run in self.runs)

    @cached_property
    def rows(self) -> list[LedgerRow]:
        notes = leaderboard.notes_of(self.runs)
        return [
            LedgerRow(run, notes.get(run.pk), [(column, column.scores.get(run.pk)) for column in self.columns])
            for run in self.runs
        ]


def ledger_columns(version: Version, grounds: Iterable[tuple[str, str]]) -> list[LedgerColumn]:
    """The first measure of what was scored on each split by each hit rule, where something was."""
    scored = ((leaderboard.scored_runs(version, split, hit=hit), split, hit) for split, hit in grounds)
    return [
        LedgerColumn(
            measure=board.main,
            hit=hit,
            where=rules.SPLIT_WORDS[split],
            scores={one.run.pk: one.scores[board.main] for one in board.runs},
        )
        for board, split, hit in scored
        if board.runs
    ]


@require_safe
@member_view()
def trend(request: HttpRequest, project: Project) -> HttpResponse:
    """Every run scored on one version, in order of creation, with the versions between them."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/trend.html", {"version": None})
    hit = requested_hit(request, version)
    split = requested_split(request, version, hit)
    shown = Trend(version, split, request.GET.get("measure", ""), hit, request.GET.get("figure", ""))
    context = {**ground_context(version, split, hit), "trend": shown}
    return render(request, "evaluation/trend.html", context)


@require_POST
@member_view(Role.LEAD)
def score_rest(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """Request the scores that a trend lacks."""
    version = frozen_in(project, version_pk)
    form = RestForm(request.POST)
    chosen = form.cleaned_data if form.is_valid() else {"split": rules.EVERY_SPLIT, "measure": "", "hit": BY_GRADES}
    ground = {"split": chosen["split"], "hit": chosen["hit"]}
    queued = score_missing(
        version=version, **ground, lacking=chosen["measure"], actor=user_of(request), at=timezone.now()
    )
    runs = "run is" if len(queued) == 1 else "runs are"
    words = f"{len(queued):,} {runs} being scored on {version.label}." if queued else "Every run is scored already."
    messages.info(request, words)
    return redirect(reverse("evaluation:trend", args=[project.slug], query={"version": version.pk, **ground}))


@require_safe
@member_view()
def costs(request: HttpRequest, project: Project) -> HttpResponse:
    """Quality against latency and cost on one split of a version."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/costs.html", {"version": None})
    hit = requested_hit(request, version)
    split = requested_split(request, version, hit)
    scored = leaderboard.scored_runs(version, split, request.GET.get("measure", ""), hit)
    context = {**ground_context(version, split, hit), "costs": Costs(scored) if scored.runs else None}
    return render(request, "evaluation/costs.html", context)


@require_safe
@member_view()
def ledger(request: HttpRequest, project: Project) -> HttpResponse:
    """Every run: what was tried, its configuration, its cost, and the outcome."""
    version = requested_version(request, project)
    page = Paginator(leaderboard.ledger_runs(project), RUNS_A_PAGE).get_page(request.GET.get("page"))
    columns = ledger_columns(version, ledger_grounds(request, version)) if version else []
    context = {
        "section": LEDGER,
        "page": page,
        "ledger": Ledger(list(page.object_list), columns),
        "version": version,
    }
    return render(request, "evaluation/ledger.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def ledger_note(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Write the ledger entry of a run."""
    run = run_in(project, pk)
    note = leaderboard.notes_of([run]).get(run.pk)
    form = LedgerForm(request.POST or None, run=run, note=note)
    if request.method == "POST" and form.is_valid():
        write_ledger(run=run, **form.cleaned_data, actor=user_of(request), at=timezone.now())
        messages.success(request, f"The ledger entry of {run.tag} is saved.")
        return redirect("evaluation:ledger", slug=project.slug)
    evaluations = evaluations_in(project).filter(run=run).exclude(scored_at=None)
    context = {"section": LEDGER, "run": run, "form": form, "note": note, "evaluations": evaluations[:10]}
    return render(request, "evaluation/ledger_note.html", context, status=400 if form.errors else 200)
