"""Pages of two runs: the comparison, its drops, one query in both rankings."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypedDict

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.files.csvsafe import csv_lines
from apps.corpus.models import Snapshot
from apps.evaluation import rules
from apps.evaluation.actions import comparisons
from apps.evaluation.actions.comparisons import close_comparison, decide_drop, judge_again, plan_comparison
from apps.evaluation.core.charts import Bounds
from apps.evaluation.execution.results import placed_for
from apps.evaluation.forms import DropForm, PairForm, PlanForm
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters import score_charts as charts
from apps.evaluation.presenters.comparison import ComparisonSheet, DropRow
from apps.evaluation.presenters.hit_comparison import (
    BY_QUESTIONS,
    HitComparison,
    compared,
    kind_chart,
    kind_figures,
    rank_chart,
    rank_figures,
)
from apps.evaluation.presenters.score_charts import difference_bounds, difference_cell, head_cell
from apps.evaluation.presenters.score_tables import Named, block_names, log_look, strata_context
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.evaluation.selectors.rankings import PlacedBlock, grades_of
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.metrics import comparison
from apps.metrics.comparison import MeasureComparison
from apps.metrics.scorecard import LOWER_END
from apps.queries.core.strata import STRATA, label_of
from apps.retrieval.models import Pool

DEPTH = 10
SIDE_WIDTH, SIDE_INSET = 112.0, 12.0
"""Of the drawn differences where two tables stand side by side."""


class Placement(NamedTuple):
    """One line of a ranking; `moved` is the rank in the other one."""

    rank: int
    score: float | None
    grade: int | None
    block: Named
    moved: str


def _top(ranking: list[PlacedBlock]) -> list[PlacedBlock]:
    """The blocks at the first ranks; by text one rank can have several."""
    return [placed for placed in ranking if placed.rank <= DEPTH]


@dataclass
class SideBySide:
    """Both runs' rankings of one query, with the released grades; by text what their first passages cover."""

    comparison: ComparisonSheet
    place: int

    @property
    def query(self) -> VersionQuery:
        return self.comparison.candidate.queries[self.place]

    @cached_property
    def rankings(self) -> tuple[list[PlacedBlock], list[PlacedBlock]]:
        left, right = self.comparison.baseline.evaluation, self.comparison.candidate.evaluation
        found = placed_for((left, right), self.query, DEPTH)
        return found[left.run_id], found[right.run_id]

    @cached_property
    def grades(self) -> dict[int, int]:
        return grades_of(self.query)

    @cached_property
    def blocks(self) -> dict[int, Named]:
        """Every block on the page, by its position."""
        seen = {placed.position for ranking in self.rankings for placed in _top(ranking)}
        return block_names(self._snapshot, seen | {position for position, grade in self.grades.items() if grade > 0})

    @property
    def _snapshot(self) -> Snapshot:
        return self.comparison.candidate.evaluation.version.snapshot

    @property
    def lists(self) -> list[list[Placement]]:
        return [
            [
                Placement(
                    rank=placed.rank,
                    score=placed.score,
                    grade=self.grades.get(placed.position),
                    block=self.blocks[placed.position],
                    moved=self._move(placed.position).words(of_right=of_right),
                )
                for placed in _top(ranking)
            ]
            for of_right, ranking in zip((False, True), self.rankings, strict=True)
        ]

    @cached_property
    def _ranks(self) -> list[dict[int, int]]:
        return [{placed.position: placed.rank for placed in ranking} for ranking in self.rankings]

    def _move(self, position: int) -> charts.QueryMove:
        left, right = (ranks.get(position) for ranks in self._ranks)
        block = self.blocks[position]
        return charts.QueryMove(block.label, left, right, self.grades.get(position), block.pk)

    @property
    def moves(self) -> str:
        top = [placed.position for ranking in self.rankings for placed in _top(ranking)]
        return charts.moves([self._move(position) for position in dict.fromkeys(top)], DEPTH)

    @property
    def missed(self) -> list[charts.QueryMove]:
        """Relevant blocks outside both top tens, best grade first."""
        moves = [self._move(position) for position, grade in self.grades.items() if grade > 0]
        outside = [move for move in moves if all(rank is None or rank > DEPTH for rank in (move.left, move.right))]
        return sorted(outside, key=lambda move: (-(move.grade or 0), move.name))

    @property
    def unjudged(self) -> list[charts.QueryMove]:
        """Unjudged blocks in either top ten."""
        top = dict.fromkeys(placed.position for ranking in self.rankings for placed in _top(ranking))
        return [self._move(position) for position in top if position not in self.grades]

    @property
    def relevant_count(self) -> int:
        return sum(grade > 0 for grade in self.grades.values())

    @property
    def scores(self) -> list[dict[str, Any]]:
        """One row for each run: its values for this query, judged share and relevant blocks in the first ten."""
        sheets = (self.comparison.baseline, self.comparison.candidate)
        rows = []
        for name, sheet, ranking in zip(self.comparison.names, sheets, self.rankings, strict=True):
            grades = [self.grades.get(placed.position) for placed in _top(ranking)]
            judged = sum(grade is not None for grade in grades) / len(grades) if grades else None
            relevant = sum(grade is not None and grade > 0 for grade in grades)
            measures = self.comparison.pair.comparison.measures
            values = [(row.measure, sheet.values[row.measure][self.place]) for row in measures]
            values = [(measure, None if math.isnan(value) else value) for measure, value in values]
            rows.append({"name": name, "values": values, "judged": judged, "relevant": relevant})
        return rows

    @cached_property
    def drop(self) -> DropRow | None:
        """The query as a drop; None where it is none."""
        return self.comparison.drop_of(self.query.outside_id)

    @property
    def drop_number(self) -> int:
        assert self.drop is not None
        return 1 + self.comparison.drops.index(self.drop)

    @property
    def next_is_drop(self) -> bool:
        following = self.neighbours[1]
        return following is not None and self.comparison.drop_of(following.outside_id) is not None

    @cached_property
    def neighbours(self) -> tuple[VersionQuery | None, VersionQuery | None]:
        """The queries before and after this one whose pages open too, worst first."""
        queries = self.comparison.candidate.queries
        order = [change.place for change in self.comparison.changes]
        order += [place for place in range(len(queries)) if place not in order]  # those without a value come last
        at = order.index(self.place)
        before = queries[order[at - 1]] if at else None
        after = queries[order[at + 1]] if at + 1 < len(order) else None
        return before, after


@require_safe
@member_view()
def pick(request: HttpRequest, project: Project) -> HttpResponse:
    """Redirect from the form with two runs to their comparison."""
    form = PairForm(request.GET)
    if not form.is_valid():
        raise ComparisonRefused("Choose a baseline and a candidate.", code="pair_missing")
    return redirect("evaluation:compare", slug=project.slug, **form.cleaned_data)


def requested_pair(
    request: HttpRequest, project: Project, baseline: int, candidate: int
) -> ComparisonSheet | HitComparison:
    """The comparison by the measure in the request. Raises ComparisonRefused."""
    first, second = evaluations.evaluations_with_values(project, baseline, candidate)
    measure = request.POST.get("measure") or request.GET.get("measure", "")
    correction = rules.requested_correction(request.GET.get("correction", ""))
    return compared(member_of(request), first, second, measure, correction)


def requested_comparison(request: HttpRequest, project: Project, baseline: int, candidate: int) -> ComparisonSheet:
    """The same, by grades alone."""
    sheet = requested_pair(request, project, baseline, candidate)
    if isinstance(sheet, HitComparison):
        raise ComparisonRefused(BY_QUESTIONS, code="by_questions")
    return sheet


@require_safe
@member_view()
def compare(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Two runs: verdict, measures, every query, drops to explain, strata; of scores by triples, their own page."""
    sheet = requested_pair(request, project, baseline, candidate)
    if isinstance(sheet, HitComparison):
        return compare_by_hits(request, sheet)
    sheet.log_look("comparison by query", timezone.now())
    evaluation = sheet.candidate.evaluation
    context = {
        "comparison": sheet,
        "evaluation": evaluation,
        "split_words": rules.ground_words(evaluation),
        "decides": _decides(sheet),
        "tally": comparison.tally(sheet.changes),
        **strata_context(request.GET, (sheet.baseline, sheet.candidate), sheet.measure, list(sheet.names)),
    }
    return render(request, "evaluation/compare.html", context)


def compare_by_hits(request: HttpRequest, sheet: HitComparison) -> HttpResponse:
    """Two runs on the same triples: the finding, both kinds of truth side by side, first ranks, kinds of questions."""
    sheet.log_look("comparison by question", timezone.now())
    bins, cutoff = [sheet.baseline.bins, sheet.candidate.bins], sheet.cutoff
    rows = [*sheet.rows, *(sheet.graded.comparison.measures if sheet.graded else ())]
    bounds = difference_bounds(rows)._replace(width=SIDE_WIDTH, inset=SIDE_INSET)
    context = {
        "comparison": sheet,
        "evaluation": sheet.candidate.evaluation,
        "split_words": rules.ground_words(sheet.candidate.evaluation),
        "head": head_cell(bounds, signs=True),
        "known": [(*one, difference_cell(one[0].measure, one[0].difference, bounds)) for one in sheet.figures],
        "graded": graded_rows(sheet, bounds),
        "lower_end": LOWER_END,
        "rank_chart": rank_chart(sheet.names, bins, cutoff),
        "rank_figures": rank_figures(sheet.names, bins),
        "kind_chart": kind_chart(sheet.measure, sheet.names, sheet.kinds),
        "kind_figures": kind_figures(sheet.measure, sheet.names, sheet.kinds),
        "decides": _decides(sheet),
    }
    return render(request, "evaluation/compare_hits.html", context)


def graded_rows(sheet: HitComparison, bounds: Bounds) -> list[tuple[MeasureComparison, Score, Score, str]]:
    """Each measure by grades of the same two runs with both scores and its difference, on the scale of the page."""
    if sheet.graded is None:
        return []
    first, second = (
        {s.measure: s for s in one.scores.all()} for one in (sheet.graded.baseline, sheet.graded.candidate)
    )
    return [
        (row, first[row.measure], second[row.measure], difference_cell(row.measure, row.difference, bounds))
        for row in sheet.graded.comparison.measures
    ]


@require_POST
@member_view(Role.LEAD)
def decide(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Accept a drop, mark it to be fixed, or mark its grades as wrong."""
    sheet = requested_pair(request, project, baseline, candidate)
    form = DropForm(request.POST)
    if not form.is_valid():
        raise ComparisonRefused("Name the query, the measure and the decision.", code="incomplete")
    values = form.cleaned_data
    decide_drop(
        baseline=sheet.baseline.evaluation,
        candidate=sheet.candidate.evaluation,
        measure=values["measure"],
        query_id=values["query"],
        decision=values["decision"],
        explanation=values["explanation"],
        member=member_of(request),
        at=timezone.now(),
    )
    if getattr(request, "htmx", False) and (drop := sheet.drop_of(values["query"])):
        template = (
            "evaluation/_decided_hit.html"
            if sheet.candidate.evaluation.counts_questions
            else "evaluation/_decided.html"
        )
        return render(request, template, {"comparison": sheet, "drop": drop, "decides": True})
    return redirect(_after_decision(sheet, values["query"], goes_on=bool(values["then"])))


def _decides(sheet: ComparisonSheet | HitComparison) -> bool:
    """Whether this person may still decide on drops here."""
    candidate = sheet.candidate
    return not sheet.closed and rules.decision_refusal(candidate.member, candidate.evaluation.split) is None


def _after_decision(sheet: ComparisonSheet | HitComparison, query_id: str, *, goes_on: bool) -> str:
    """The URL after a decision: with `goes_on` the next open drop, or the table where it has no page; else the row."""
    first, second = sheet.baseline.evaluation, sheet.candidate.evaluation
    place, measure = [first.project.slug, first.pk, second.pk], {"measure": sheet.measure}
    following = sheet.open_after(query_id) if goes_on and isinstance(sheet, ComparisonSheet) else None
    if following:
        return reverse("evaluation:query", args=[*place, following.query.pk], query=measure)
    here = None if goes_on else sheet.drop_of(query_id)
    return reverse("evaluation:compare", args=place, query=measure, fragment=f"drop-{here.pk}" if here else "drops")


@require_POST
@member_view(Role.LEAD)
def plan(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Set the number of queries at which the fixed test decides."""
    sheet, form = requested_pair(request, project, baseline, candidate), PlanForm(request.POST)
    if not form.is_valid():
        raise ComparisonRefused("Give the number of queries as a whole number.", code="incomplete")
    found = plan_comparison(**_pair_of(sheet), **form.cleaned_data, member=member_of(request), at=timezone.now())
    messages.success(request, f"Planned: {found.queries:,}. Until then evidence alone decides.")
    measure = {"measure": found.measure}
    return redirect(reverse("evaluation:compare", args=[project.slug, baseline, candidate], query=measure))


@require_POST
@member_view(Role.LEAD)
def close(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    sheet = requested_pair(request, project, baseline, candidate)
    close_comparison(**_pair_of(sheet), measure=sheet.measure, member=member_of(request), at=timezone.now())
    messages.success(request, f"Closed by {sheet.measure}. The verdict is saved.")
    measure = {"measure": sheet.measure}
    return redirect(reverse("evaluation:compare", args=[project.slug, baseline, candidate], query=measure))


@require_POST
@member_view(Role.LEAD)
def again(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Create a pool of the pairs with wrong grades, and redirect to the plan of its round."""
    sheet = requested_comparison(request, project, baseline, candidate)
    member, at = member_of(request), timezone.now()
    return _to_round(project, judge_again(**_pair_of(sheet), measure=sheet.measure, member=member, at=at))


@require_POST
@member_view(Role.LEAD)
def pool_unjudged(request: HttpRequest, project: Project, baseline: int, candidate: int, pk: int) -> HttpResponse:
    """Create a pool of the unjudged blocks in both top tens of a query, and redirect to the plan of its round."""
    sheet = requested_comparison(request, project, baseline, candidate)
    query = rankings.version_query_in(sheet.candidate.evaluation.version, pk)
    member, at = member_of(request), timezone.now()
    return _to_round(project, comparisons.pool_unjudged(**_pair_of(sheet), query=query, member=member, at=at))


class ComparedRuns(TypedDict):
    baseline: Evaluation
    candidate: Evaluation


def _pair_of(sheet: ComparisonSheet | HitComparison) -> ComparedRuns:
    return {"baseline": sheet.baseline.evaluation, "candidate": sheet.candidate.evaluation}


def _to_round(project: Project, pool: Pool) -> HttpResponse:
    return redirect(reverse("judging:new-round", args=[project.slug], query={"pool": pool.pk}))


@require_safe
@member_view()
def query_page(request: HttpRequest, project: Project, baseline: int, candidate: int, pk: int) -> HttpResponse:
    """One query: both rankings side by side, with the released grades."""
    sheet = requested_comparison(request, project, baseline, candidate)
    place = next((place for place, one in enumerate(sheet.candidate.queries) if one.pk == pk), None)
    if place is None:
        raise Http404("No such query in this comparison.")
    query, member = sheet.candidate.queries[place], member_of(request)
    if not rules.sees_split(member, query.split):
        raise ComparisonRefused(rules.SEALED, code="sealed")
    if reason := sheet.candidate.hidden[place]:
        raise ComparisonRefused(reason, code="pairs_open")
    if query.split == Split.TEST:
        version = sheet.candidate.evaluation.version
        open_test(version, member, f"query {query.outside_id}")
    tags = [(word, label) for field, word in STRATA.items() if (label := label_of(query.fields, field))]
    side, decides = SideBySide(sheet, place), _decides(sheet)
    context = {"comparison": sheet, "query": query, "side": side, "decides": decides, "tags": tags}
    context["by_text"] = sheet.candidate.evaluation.is_by_text
    return render(request, "evaluation/query.html", context)


@require_safe
@member_view()
def export(request: HttpRequest, project: Project, baseline: int, candidate: int) -> HttpResponse:
    """Every visible query, or question of a Q&A, with both values of every measure, as CSV."""
    sheet = requested_pair(request, project, baseline, candidate)
    log_look(sheet.candidate, "comparison as CSV")
    answer = HttpResponse(csv_lines(_csv_rows(sheet)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="comparison-{baseline}-{candidate}.csv"'
    return answer


def _csv_rows(sheet: ComparisonSheet | HitComparison) -> Iterator[list[object]]:
    hit = sheet.candidate.evaluation.hit
    yield ["query", "split", "measure", "baseline", "candidate", "difference", *(["hit"] if hit else [])]
    sides = (sheet.baseline, sheet.candidate)
    items = zip(sheet.candidate.evaluation.query_ids, sheet.candidate.splits, strict=True)
    for place, (name, split) in enumerate(items):
        if sheet.candidate.visible[place]:
            for row in sheet.pair.comparison.measures:
                left, right = (float(side.values[row.measure][place]) for side in sides)
                if not math.isnan(right - left):
                    figures = [left, right, right - left, *([hit] if hit else [])]
                    yield [name, split, row.measure, *figures]
