"""The panels of a run's page, its scores and its results by query, and those that apps above add to score pages."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator

from apps.accounts.access.pages import MemberRequest
from apps.common.discovery import Registered
from apps.common.web.requests import key_in
from apps.evaluation import rules
from apps.evaluation.core.basis import rule_name
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.presenters.score_tables import Named, block_names
from apps.evaluation.selectors import rankings, run_again
from apps.evaluation.selectors.leaderboard import ranked_runs
from apps.evaluation.selectors.rankings import PlacedBlock
from apps.evaluation.selectors.run_again import QueryOfRun, QueryValues
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.rules import BY_GRADES, TEXT, Returned
from apps.queries.models import Query
from apps.retrieval.models import Ranking, Run
from apps.retrieval.presenters import RunPanel
from apps.retrieval.selectors.blinding import hidden_queries
from apps.retrieval.selectors.runs import returned_of

QUERIES_A_PAGE = 10
SHOWN, ALL_SHOWN = 10, 100
BY_ID, WORST_FIRST = "id", "worst"


class Panel(NamedTuple):
    """A template and its rows."""

    template: str
    rows: Sequence[Any]


on_evaluation_page: Registered[Callable[[Evaluation], Panel]] = Registered()
"""The panels of the page of every scored evaluation."""

on_slices_page: Registered[Callable[[Version], Panel]] = Registered()
"""The panels of the page of the slices of every version."""


class ScoredVersion(NamedTuple):
    """A run's latest scores on one split of a version, in the order of the measures; `evaluation` is None for none.

    `ground` names the split, and the hit rule of scores by triples.
    """

    version: Version
    ground: str
    evaluation: Evaluation | None
    scores: list[Score | None]

    @property
    def few(self) -> str:
        """The warning where the intervals are over too few queries."""
        return next((score.few for score in self.scores if score and score.few), "")


@dataclass
class RunScores:
    """The scores of a run, by grades, by text or by triples, on versions of its snapshot that this person may see.

    `hit` is the rule by which it can be scored where a version has no row yet.
    """

    versions: list[Version]
    evaluations: list[Evaluation]
    hit: str = BY_GRADES

    @cached_property
    def measures(self) -> list[str]:
        return ranked_runs(self.evaluations)[0]

    @property
    def rows(self) -> list[ScoredVersion]:
        return [row for version in self.versions for row in self._rows_on(version)]

    def _rows_on(self, version: Version) -> list[ScoredVersion]:
        rows = []
        here = [one for one in self.evaluations if one.version_id == version.pk]
        for split, hit in sorted({(one.split, one.hit) for one in here}, key=_place_of):
            own = [one for one in here if (one.split, one.hit) == (split, hit)]
            _, scored = ranked_runs(own)
            scores = [scored[0].scores.get(name) if scored else None for name in self.measures]
            latest = scored[0].evaluation if scored else own[0]
            words = f"{rules.SPLIT_WORDS[split]}, {rule_name(hit).lower()}" if hit else rules.SPLIT_WORDS[split]
            rows.append(ScoredVersion(version, words, latest, scores))
        return rows or [ScoredVersion(version, "", None, [])]


def _place_of(ground: tuple[str, str]) -> tuple[int, str]:
    """Splits in their usual order, rules by name."""
    return rules.SPLITS.index(ground[0]), ground[1]


class RunScoreTables(NamedTuple):
    """A run's scores by grades, by text and by triples, never in one table; and the sealed ones, with the reason.

    `usual` has all versions with a grade for a query of the run: by grades, or by text where the run returned passages
    of its own. `by_text` are scores by text of a run of blocks.
    """

    usual: RunScores
    by_text: RunScores
    by_hits: RunScores
    sealed: list[tuple[Version, str]]


def scores_panel(request: MemberRequest, run: Run) -> RunPanel:
    versions, evaluations = run_again.versions_for(run, request.member), run_again.evaluations_of(run)
    by_grades = [one for one in evaluations if one.hit == BY_GRADES]
    texts = [one for one in evaluations if one.is_by_text]
    usual, by_text, hit = (texts, [], TEXT) if run.returns_passages else (by_grades, texts, BY_GRADES)
    graded = run_again.graded_in(run) | {one.version_id for one in usual}
    usual_scores = RunScores([version for version in versions if version.pk in graded], usual, hit)
    by_hits = _measured(versions, [one for one in evaluations if one.counts_questions])
    sealed = [(one.version, rules.sealed_words(one)) for one in run_again.sealed_of(run)]
    return RunPanel(
        "evaluation/_run_scores.html", RunScoreTables(usual_scores, _measured(versions, by_text), by_hits, sealed)
    )


def _measured(versions: list[Version], evaluations: list[Evaluation]) -> RunScores:
    """Only the versions with one of these evaluations."""
    measured = {one.version_id for one in evaluations}
    return RunScores([version for version in versions if version.pk in measured], evaluations)


class Result(NamedTuple):
    """One line of a ranking. `grade` is None for an unjudged block, and where no grades are shown.

    A line has a block of the snapshot, with its score, or a passage of the system's `own`.
    """

    rank: int
    score: float | None
    grade: int | None
    block: Named | None
    own: Returned | None = None


class QueryResults(NamedTuple):
    """A query of a run. `grades` are by position, None where none are shown.

    `hidden` says why its results are not shown, `grades_hidden` why its grades are not.
    """

    query: Query
    length: int
    results: list[Result]
    value: float | None
    grades: dict[int, int] | None
    hidden: str
    grades_hidden: str

    @property
    def has_grades(self) -> bool:
        return self.grades is not None

    @property
    def relevant(self) -> int:
        return sum(grade > 0 for grade in (self.grades or {}).values())

    @property
    def relevant_shown(self) -> int:
        return sum((result.grade or 0) > 0 for result in self.results)


@dataclass
class RunResults:
    """The results of a run, query by query, as far as this person may see them."""

    request: MemberRequest
    run: Run

    @cached_property
    def find(self) -> str:
        return self.request.GET.get("find", "").strip()[:200]

    @cached_property
    def only(self) -> int | None:
        """The query that is shown alone, with more of its results."""
        return key_in(self.request.GET.get("query", ""))

    @property
    def is_filtered(self) -> bool:
        return bool(self.find or self.only)

    @property
    def most(self) -> int:
        return ALL_SHOWN if self.only else SHOWN

    @cached_property
    def versions(self) -> list[Version]:
        """The versions with grades of what the run returned; of passages of its own, those it is scored on by text."""
        versions = run_again.versions_for(self.run, self.request.member)
        if not self.run.returns_passages:
            return versions
        by_text = {one.version_id for one in run_again.evaluations_of(self.run) if one.is_by_text and one.is_scored}
        return [version for version in versions if version.pk in by_text]

    @property
    def shown(self) -> str:
        """What of a version is shown beside the results: passages of the run's own have no grades themselves."""
        return "scores" if self.run.returns_passages else "grades"

    @cached_property
    def version(self) -> Version | None:
        """The version whose grades are shown: the one asked for, else the one released last, else the newest."""
        pk = self.request.GET.get("version", "")
        asked = next((version for version in self.versions if str(version.pk) == pk), None)
        released = [version for version in self.versions if version.released_at]
        newest = max(released, key=lambda version: (version.released_at, version.pk), default=None)
        return asked or newest or next(iter(self.versions), None)

    @cached_property
    def version_queries(self) -> dict[int, VersionQuery]:
        """The queries of the version, by key of the query."""
        rows = rankings.version_queries(self.version, rules.EVERY_SPLIT) if self.version else []
        return {row.query_id: row for row in rows}

    @property
    def has_sealed(self) -> bool:
        return any(row.split == Split.TEST for row in self.version_queries.values())

    @cached_property
    def opens_test(self) -> bool:
        """Whether a lead asked to see the grades of the test split: such a look is logged."""
        return self.request.member.is_lead and self.request.GET.get("test") == "show"

    def _sees(self, query: VersionQuery) -> bool:
        return query.split == Split.DEV or (self.opens_test and rules.sees_split(self.request.member, query.split))

    @cached_property
    def scored(self) -> QueryValues:
        return run_again.values_by_query(self.run, self.version) if self.version else QueryValues("", {})

    @cached_property
    def values(self) -> dict[int, float]:
        """The value of each query found by the main measure, where this person may know it."""
        rows = [row for pk, row in self.version_queries.items() if self._sees(row) and pk not in self.hidden]
        seen = {row.query_id: row.outside_id for row in rows}
        return {pk: self.scored.values[name] for pk, name in seen.items() if name in self.scored.values}

    @property
    def order(self) -> str:
        return WORST_FIRST if self.values and self.request.GET.get("order") == WORST_FIRST else BY_ID

    @cached_property
    def found(self) -> list[QueryOfRun]:
        return run_again.queries_of(self.run, self.find, self.only)

    @cached_property
    def hidden(self) -> dict[int, str]:
        """The queries found whose results this person may not see for now, each with the reason."""
        return hidden_queries(self.request.user, self.run.snapshot, [one.query_id for one in self.found])

    @cached_property
    def page(self) -> Page[QueryOfRun]:
        queries = list(self.found)
        if self.order == WORST_FIRST:
            sign = -1 if is_lower_better(self.scored.measure) else 1
            queries.sort(key=lambda row: sign * self.values.get(row.query_id, sign * math.inf))
        return Paginator(queries, QUERIES_A_PAGE).get_page(self.request.GET.get("page", ""))

    @cached_property
    def rows(self) -> list[QueryResults]:
        """The queries of this page, each with its first results."""
        listed = list(self.page.object_list)
        keys = [one.query_id for one in listed]
        hidden = self.hidden
        found = run_again.rankings_with_queries(self.run, [one.pk for one in listed])
        results = self._results([ranked for key, ranked in found.items() if key not in hidden])
        seen = [row for key in keys if (row := self.version_queries.get(key)) is not None and self._sees(row)]
        open_rows = [] if self.run.returns_passages else [row for row in seen if row.query_id not in hidden]
        grades = run_again.grades_by_query(open_rows)
        self._log_look(seen)
        return [
            QueryResults(
                query=found[one.query_id].query,
                length=one.length,
                results=results(one.query_id, grades.get(one.query_id, {})),
                value=self.values.get(one.query_id),
                grades=grades.get(one.query_id),
                hidden=hidden.get(one.query_id, ""),
                grades_hidden=self._why_no_grades(one.query_id),
            )
            for one in listed
        ]

    def _results(self, listed: list[Ranking]) -> Callable[[int, dict[int, int]], list[Result]]:
        """The results of these queries, given with the grades that may be shown."""
        if self.run.returns_passages:
            keys = [one.query_id for one in listed]
            own = dict(returned_of(self.run, keys, with_text=True, depth=self.most))
            return lambda query_id, grades: [
                Result(rank, None, None, None, one) for rank, one in enumerate(own.get(query_id, []), 1)
            ]
        tops = {one.query_id: run_again.top_of(one, self.most) for one in listed}
        blocks = block_names(self.run.snapshot, {placed.position for top in tops.values() for placed in top})
        return lambda query_id, grades: _lines(tops.get(query_id, []), blocks, grades)

    def _why_no_grades(self, query: int) -> str:
        if self.version is None:
            return ""
        row = self.version_queries.get(query)
        if row is None:
            return f"not in {self.version.label}"
        return "" if self._sees(row) else "test split, sealed"

    def _log_look(self, seen: Iterable[VersionQuery]) -> None:
        if self.version and any(row.split == Split.TEST for row in seen):
            what = f"results of {self.run.tag}"
            open_test(self.version, self.request.member, what)


def _lines(top: list[PlacedBlock], blocks: dict[int, Named], grades: dict[int, int]) -> list[Result]:
    return [Result(one.rank, one.score, grades.get(one.position), blocks[one.position]) for one in top]


def results_panel(request: MemberRequest, run: Run) -> RunPanel:
    return RunPanel("evaluation/_run_results.html", RunResults(request, run))
