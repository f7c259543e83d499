"""The page of one run on one version, and running the systems of earlier versions again."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.drawing.charts import DrawnEstimate, svg, tag, title, whisker
from apps.common.text.wording import interval, signed
from apps.common.web.requests import keys_in
from apps.evaluation import rules
from apps.evaluation.actions import scoring as actions
from apps.evaluation.core.basis import basis_words
from apps.evaluation.core.charts import Bounds, bounds_of
from apps.evaluation.core.robustness import PairedRuns, RobustnessGap, paired_variants, robustness_gaps
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.presenters import score_tables as pages
from apps.evaluation.presenters.hit_comparison import kind_chart, kind_figures, rank_chart, rank_figures
from apps.evaluation.presenters.hit_score_tables import (
    HitSheet,
    is_yes_or_no,
    kind_rows,
    right_of,
)
from apps.evaluation.presenters.run_again import names_of
from apps.evaluation.presenters.run_panels import on_evaluation_page
from apps.evaluation.presenters.score_charts import CELL_HEIGHT, CELL_WIDTH
from apps.evaluation.presenters.score_tables import EvaluationSheet, log_look, shallow_words, strata_context
from apps.evaluation.presenters.text_scores import TextPage, without_words
from apps.evaluation.selectors import evaluations, rankings
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.goldsets.selectors.versions import Looks, frozen_in, looks_at_test
from apps.metrics.comparison import is_lower_better
from apps.metrics.measures.registry import parse_measure
from apps.metrics.scorecard import IF_JUDGED, LOWER_END
from apps.metrics.statistics.significance import Summary, summaries

USUAL_DEPTH = 10
TEXT_CELL_WIDTH = 200.0
PEOPLE_LINE = 18.0
QUERIES_A_PAGE = 100


@require_POST
@member_view(Role.LEAD)
def run_again(request: HttpRequest, project: Project, version_pk: int) -> HttpResponse:
    """Run the chosen systems again on the snapshot of a released version."""
    version = frozen_in(project, version_pk)
    chosen = keys_in(request.POST.getlist("system"))
    runs = actions.run_again(
        project=project, version_id=version.pk, system_ids=chosen, actor=user_of(request), at=timezone.now()
    )
    names = names_of(run.system.name for run in runs)
    verb = "is" if len(runs) == 1 else "are"
    messages.info(request, f"{names} {verb} being run on {version.snapshot.name} and scored on {version.label}.")
    gold_set = version.gold_set.slug
    return redirect("goldsets:version", slug=project.slug, gold_set=gold_set, number=version.number)


class MeasureRow(NamedTuple):
    """A measure with its score; `judged` is the share of judged blocks down to the depth, which is the cutoff of the
    measure. `if_judged` is the range that the others leave open.
    """

    score: Score
    drawing: SafeString
    depth: int | None
    judged: float | None
    if_judged: tuple[float, float] | None


class SplitRow(NamedTuple):
    """A measure on one split of the version."""

    measure: str
    dev: Summary
    test: Summary
    drawing: SafeString


@dataclass
class Scores:
    """One evaluation for its page; `measure` is the one for strata, wording and queries."""

    sheet: EvaluationSheet
    measure: str

    @property
    def measures(self) -> list[str]:
        return self.sheet.evaluation.measures

    @property
    def bounds(self) -> Bounds:
        """By text the table of scores stands beside another one."""
        return Bounds(0.0, 1.0, TEXT_CELL_WIDTH if self.sheet.evaluation.is_by_text else CELL_WIDTH)

    @property
    def head(self) -> SafeString:
        return charts.head_cell(self.bounds)

    @cached_property
    def rows(self) -> list[MeasureRow]:
        scores = [self.sheet.scores[name] for name in without_words(self.measures)]
        return [self._row(score) for score in scores if score.n]

    def _row(self, score: Score) -> MeasureRow:
        evaluation, depth = self.sheet.evaluation, parse_measure(score.measure).cutoff
        known = evaluation.if_judged(score.measure)
        judged = known.judged
        if "if_judged" not in evaluation.counts:
            shares = evaluation.counts["judged_to"]
            depth = min(depth or USUAL_DEPTH, len(shares))
            judged = shares[depth - 1]
        return MeasureRow(score, score_cell(score, self.bounds), depth, judged, known.range)

    @property
    def leaks(self) -> list[tuple[str, str]]:
        """The pages of what each role may not see."""
        evaluation = self.sheet.evaluation
        found = [one for one in map(parse_measure, self.measures) if one.name == "Leaks"]
        leaks = reverse("evaluation:leaks", args=[evaluation.project.slug, evaluation.pk])
        return [
            (f"Results that {one.role} may not see", f"{leaks}?{urlencode({'measure': str(one)})}") for one in found
        ]

    @property
    def recall_curve(self) -> str:
        """Precision at each level of recall; empty where the evaluation is from before it was computed."""
        return charts.recall_curve(self._at_recall) if self.sheet.evaluation.counts.get("precision_at_recall") else ""

    @property
    def recall_figures(self) -> str:
        return charts.recall_figures(self._at_recall)

    @property
    def _at_recall(self) -> dict[str, list[float]]:
        return {self.sheet.evaluation.run.tag: self.sheet.evaluation.counts["precision_at_recall"]}

    @property
    def has_open(self) -> bool:
        """Whether unjudged results leave any mean open."""
        return any(row.if_judged for row in self.rows)

    @property
    def has_people(self) -> bool:
        """Whether any interval is over people too."""
        return any(row.score.people is not None for row in self.rows)

    @cached_property
    def splits(self) -> list[SplitRow]:
        """Every measure on dev and on test; empty for an evaluation of one of them."""
        if self.sheet.evaluation.split != rules.EVERY_SPLIT:
            return []
        on_dev, on_test = self._on(Split.DEV), self._on(Split.TEST)
        rows = []
        for measure, dev, test in zip(self.measures, on_dev, on_test, strict=True):
            rows.append(SplitRow(measure, dev, test, split_cell(measure, dev, test, self.bounds)))
        return rows if on_dev[0].n and on_test[0].n else []

    def _on(self, split: str) -> list[Summary]:
        inside = [query.split == split for query in self.sheet.queries]
        values = np.column_stack([self.sheet.values[name] for name in self.measures])
        return summaries([parse_measure(name) for name in self.measures], values[inside])

    @cached_property
    def looks(self) -> Looks | None:
        """How often the test split was looked at; None for an evaluation without test."""
        has_test = any(query.split == Split.TEST for query in self.sheet.queries)
        return looks_at_test(self.sheet.evaluation.version) if has_test else None

    @cached_property
    def variants(self) -> PairedRuns:
        queries = self.sheet.queries
        facts = [query.fields.get("metadata") or {} for query in queries]
        return paired_variants([query.outside_id for query in queries], facts)

    @cached_property
    def gaps(self) -> list[RobustnessGap]:
        values = self.sheet.values[self.measure]
        return robustness_gaps(self.variants.variants, values)

    @cached_property
    def gap_bounds(self) -> Bounds:
        return bounds_of([end for gap in self.gaps for end in (gap.gap, *(gap.interval or ()))], with_zero=True)

    @property
    def gap_head(self) -> SafeString:
        return charts.head_cell(self.gap_bounds, signs=True)

    @property
    def drawn_gaps(self) -> list[tuple[RobustnessGap, SafeString]]:
        return [(gap, gap_cell(gap, self.gap_bounds)) for gap in self.gaps]


def score_cell(score: Score, bounds: Bounds) -> SafeString:
    """A mean with its interval over queries, and below it the one over queries and people."""
    row = DrawnEstimate(score.measure, score.mean, score.ci_low, score.ci_high, score.n)
    parts = [whisker(row, bounds.place, CELL_HEIGHT / 2 - 3)]
    words = row.words
    if score.people is not None:
        low, high = map(bounds.place, score.people)
        with_people = f"over queries and people: {interval(score.people)}"
        caps = "".join(f"M{end:.1f} {PEOPLE_LINE - 3:.1f}v6" for end in (low, high))
        line = tag("path", class_="people", d=f"M{low:.1f} {PEOPLE_LINE:.1f}H{high:.1f}{caps}")
        parts.append(tag("g", title(with_people) + line))
        words = f"{words}; {with_people}"
    return svg(bounds.width, CELL_HEIGHT, words, parts)


def split_cell(measure: str, dev: Summary, test: Summary, bounds: Bounds) -> SafeString:
    """Dev above as a filled dot, test below as a hollow one, each with its interval."""
    parts, words = [], []
    for name, one, y, css in (("dev", dev, 6.0, "point"), ("test", test, 18.0, "open")):
        if one.mean is None:
            continue
        low, high = one.interval or (None, None)
        row = DrawnEstimate(f"{measure} on {name}", one.mean, low, high, one.n)
        parts.append(tag("g", title(row.words) + whisker(row, bounds.place, y, radius=3.5, class_=css)))
        words.append(row.words)
    return svg(bounds.width, CELL_HEIGHT, "; ".join(words), parts)


def gap_cell(gap: RobustnessGap, bounds: Bounds) -> SafeString:
    """Degraded minus clean with its interval; filled when the interval excludes zero."""
    low, high = gap.interval or (None, None)
    words = f"{gap.kind}: gap {signed(gap.gap)}, {interval(gap.interval, 3, differences=True)}, n {gap.n:,}"
    row = DrawnEstimate(gap.kind, gap.gap, low, high, gap.n, open=not gap.is_settled)
    return charts.estimate_cell(row, bounds, words=words, with_zero=True)


@require_safe
@member_view()
def evaluation_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One run on one version: means with both intervals, splits, wording, strata, and every query."""
    try:
        (evaluation,) = evaluations.evaluations_with_values(project, pk)
    except Http404:
        sealed = get_object_or_404(evaluations.with_sealed(project), pk=pk)
        return redirect("retrieval:run", project.slug, sealed.run_id)  # which says why
    if not evaluation.is_scored:
        return render(request, "evaluation/in_progress.html", {"evaluation": evaluation})
    if evaluation.counts_questions:
        return by_hits(request, evaluation)
    sheet = EvaluationSheet(evaluation, member_of(request))
    log_look(sheet, "scores by query")
    measure = _measure(request, evaluation)
    context = {
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "scores": Scores(sheet, measure),
        "shallow": shallow_words(evaluation.measures, evaluation),
        "others": others_of(evaluation),
        "panels": [panel(evaluation) for panel in on_evaluation_page],
        "conventions": pages.conventions_of(evaluation.measures, with_ties=not evaluation.is_by_text),
        "if_judged_words": IF_JUDGED,
        "queries": _query_rows(sheet, measure, request.GET.get("page", "")),
        "split_words": rules.ground_words(evaluation),
        **strata_context(request.GET, [sheet], measure, [evaluation.run.tag]),
    }
    if evaluation.is_by_text:
        return render(request, "evaluation/by_text.html", {**context, "text": TextPage(sheet)})
    return render(request, "evaluation/evaluation.html", context)


def others_of(evaluation: Evaluation) -> list[tuple[Evaluation, str]]:
    """The other evaluations of the run, each with what it is on in words."""
    others = evaluations.other_evaluations(evaluation)
    return [(one, ", ".join([rules.ground_words(one), *_against(one)])) for one in others]


def _against(evaluation: Evaluation) -> list[str]:
    return [basis_words(evaluation.hit)] if evaluation.hit else []


def by_hits(request: HttpRequest, evaluation: Evaluation) -> HttpResponse:
    """One run on the triples of a version: measures, first right ranks, kinds of questions, every question."""
    sheet = HitSheet(evaluation, member_of(request))
    log_look(sheet, "scores by question")
    measure = _measure(request, evaluation)
    names = [evaluation.run.system.name]
    kinds = kind_rows([sheet], measure)
    context = {
        "evaluation": evaluation,
        "sheet": sheet,
        "measure": measure,
        "figures": [(score, is_yes_or_no(score.measure), right_of(score)) for score in sheet.measures],
        "others": others_of(evaluation),
        "rank_chart": rank_chart(names, [sheet.bins], parse_measure(measure).cutoff),
        "rank_figures": rank_figures(names, [sheet.bins]),
        "kind_chart": kind_chart(measure, names, kinds),
        "kind_figures": kind_figures(measure, names, kinds),
        "questions": _question_rows(sheet, measure, request.GET.get("page", "")),
        "misses": len(sheet.missed(measure)),
        "lower_end": LOWER_END,
        "split_words": rules.ground_words(evaluation),
    }
    return render(request, "evaluation/by_hits.html", context)


def _question_rows(sheet: HitSheet, measure: str, page: str) -> dict[str, Any]:
    """The visible questions, worst first by the measure, then by first right rank, one page of them."""
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = -sheet.values[measure] if is_lower_better(measure) else sheet.values[measure]
    ranks = np.where(sheet.ranks == 0, np.iinfo(np.int64).max, sheet.ranks)
    places.sort(key=lambda place: (values[place], -ranks[place], place))
    places_page = Paginator(places, QUERIES_A_PAGE).get_page(page)
    names = sheet.evaluation.measures
    rows = [
        (sheet.triples[place], int(sheet.ranks[place]), [(name, sheet.values[name][place]) for name in names])
        for place in places_page.object_list
    ]
    return {"page": places_page, "rows": rows}


def _measure(request: HttpRequest, evaluation: Evaluation) -> str:
    measure = request.GET.get("measure", "")
    return measure if measure in evaluation.measures else evaluation.measures[0]


def _query_rows(sheet: EvaluationSheet, measure: str, page: str) -> dict[str, Any]:
    """The visible queries, worst first by the measure, one page of them.

    Those without a relevant block are last, as `bare`: no ranking could score better on them.
    """
    places = [place for place, shown in enumerate(sheet.visible) if shown]
    values = -sheet.values[measure] if is_lower_better(measure) else sheet.values[measure]
    bare = rankings.without_relevant(sheet.evaluation.version)
    is_bare = [query.pk in bare for query in sheet.queries]
    places.sort(key=lambda place: (is_bare[place], values[place], place))
    places_page = Paginator(places, QUERIES_A_PAGE).get_page(page)
    parts: dict[bool, list[tuple[VersionQuery, list[tuple[str, float]]]]] = {False: [], True: []}
    for place in places_page.object_list:
        figures = [(name, sheet.values[name][place]) for name in sheet.evaluation.measures]
        parts[is_bare[place]].append((sheet.queries[place], figures))
    bare_count = sum(is_bare[place] for place in places)
    return {"page": places_page, "rows": parts[False], "bare": parts[True], "bare_count": bare_count}
