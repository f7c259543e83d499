"""Misses and leaks of a run and drops of a comparison in the API, and what a lead decides on them."""

from typing import Any, ClassVar

from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, RunsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import PAGING, given_in
from apps.common.web.paging import cut_list, only_known
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import (
    JUDGED_AGAIN,
    close_comparison,
    decide_drop,
    judge_again,
    pool_unjudged,
    record_comparison,
)
from apps.evaluation.execution.results import unjudged_blocks
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_comparison import BY_QUESTIONS, HitDrop, compared
from apps.evaluation.presenters.misses import MissList, propose
from apps.evaluation.presenters.returned_passages import LeakList, leak_measure
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.comparisons import ComparisonRefused
from apps.evaluation.selectors.evaluations import evaluations_with_values
from apps.evaluation.selectors.misses import block_of_run
from apps.evaluation.serializers.drops import (
    ChosenPoolOut,
    ClosedOut,
    DropDecisionInput,
    DropPageOut,
    DropsRejudgeInput,
    GradesInput,
    LeakPageOut,
    MeasureInput,
    MissPageOut,
    NoteOut,
    ProposalInput,
    ProposalOut,
    UnjudgedPageOut,
)
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.triples.rules import READERS


class Leaks(RunsAPIView):
    """The results of a run that a role may not see, on the queries of dev."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(
        operation_id="evaluations_leaks",
        parameters=[OpenApiParameter("measure", str, description="Of a role; by default the first."), *PAGING],
        responses=LeakPageOut,
    )
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        params = request.query_params
        only_known(params, {"measure", "after", "limit"})
        (evaluation,) = evaluations_with_values(self.project, pk)
        measure = leak_measure(evaluation, params.get("measure", ""))
        listed = LeakList(EvaluationSheet(evaluation, self.member), measure)
        page = cut_list(listed.found, params)
        facts = {"evaluation": pk, "measure": str(measure), "role": measure.role, "count": len(listed.found)}
        return Response(LeakPageOut({**facts, "leaks": listed.rows(page.rows), "next": page.next}).data)


class Misses(ProjectAPIView):
    """The questions that an evaluation on triples missed; a passage that is right as well is proposed here."""

    roles: ClassVar = {"GET": (), "POST": READERS}
    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.TRIPLES_WRITE}

    @extend_schema(
        operation_id="evaluations_misses",
        parameters=[
            OpenApiParameter("measure", str, description="Whose cutoff counts; by default the first."),
            *PAGING,
        ],
        responses=MissPageOut,
    )
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        params = request.query_params
        only_known(params, {"measure", "after", "limit"})
        listed = self._listed(self._scored(pk), params.get("measure", ""))
        page = cut_list(listed.missed, params)
        if any(one.row.split != Split.DEV for one in page.rows):
            version = listed.evaluation.version
            open_test(version, self.member, "missed questions")
        facts = {"evaluation": pk, "measure": listed.measure, "cutoff": listed.cutoff, "count": len(listed)}
        return Response(MissPageOut({**facts, "misses": listed.rows(page.rows), "next": page.next}).data)

    @extend_schema(operation_id="evaluations_misses_propose", request=ProposalInput, responses={201: ProposalOut})
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        evaluation = self._scored(pk)
        values = given_in(request.data, ProposalInput)
        listed = self._listed(evaluation, values["measure"])
        found = listed.of(values["triple"], values["rank"])
        version = self._version(evaluation, values["block_id"]) if values["block_id"] else None
        candidate = propose(listed, found, version=version, quote=values["quote"].strip(), at=timezone.now())
        return Response(ProposalOut(candidate).data, status=201)

    def _scored(self, pk: int) -> Evaluation:
        (evaluation,) = evaluations_with_values(self.project, pk)
        if not (evaluation.is_scored and evaluation.counts_questions):
            raise Http404("This evaluation has no misses.")
        return evaluation

    def _listed(self, evaluation: Evaluation, measure: str) -> MissList:
        if measure and measure not in evaluation.measures:
            raise ValidationError({"measure": [f"One of {', '.join(evaluation.measures)}."]})
        return MissList(evaluation, self.member, measure=measure)

    def _version(self, evaluation: Evaluation, block_id: str) -> Any:
        entry = block_of_run(evaluation.run, block_id)
        if entry is None:
            raise ValidationError({"block_id": [f"The snapshot of the run has no passage “{block_id}”."]})
        return entry.version


class PairView(RunsAPIView):
    """A step of a lead on the comparison of two evaluations."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def pair(self, ids: dict[str, Any]) -> tuple[Evaluation, Evaluation]:
        first, second = evaluations.evaluations_with_values(self.project, ids["baseline"], ids["candidate"])
        return first, second

    def validated(self, serializer: type[serializers.Serializer[Any]], pair: tuple[Evaluation, Evaluation]) -> Any:
        """The values of the body; its measure is one that the two share. Raises ValidationError."""
        values = given_in(self.request.data, serializer)
        if "measure" in values:
            self.check_measure(values["measure"], pair)
        return values

    def check_measure(self, measure: str, pair: tuple[Evaluation, Evaluation]) -> None:
        shared = [name for name in pair[1].measures if name in pair[0].measures]
        if measure not in shared:
            raise ValidationError({"measure": [f"One of {', '.join(shared)}." if shared else "They share none."]})

    def graded(self, pair: tuple[Evaluation, Evaluation]) -> EvaluationSheet:
        """The candidate with its queries. Raises ComparisonRefused where the two are not scored by grades."""
        if reason := rules.comparison_refusal(*pair):
            raise ComparisonRefused(reason, code="comparison_refused")
        if pair[1].counts_questions:
            raise ComparisonRefused(BY_QUESTIONS, code="by_questions")
        return EvaluationSheet(pair[1], self.member)

    def log_look(self, candidate: Evaluation, splits: list[str], what: str) -> None:
        """Log the look where the answer names what is sealed to others."""
        if any(split != Split.DEV for split in splits):
            open_test(candidate.version, self.member, what)


class Drops(PairView):
    """The queries, or Q&As, whose score fell by more than the bar, worst first, with the decision on each."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(
        operation_id="comparisons_drops",
        parameters=[OpenApiParameter("measure", str, description="By default the first."), *PAGING],
        responses=DropPageOut,
    )
    def get(self, request: Request, **ids: Any) -> Response:
        params = request.query_params
        only_known(params, {"measure", "after", "limit"})
        pair = self.pair(ids)
        if measure := params.get("measure", ""):
            self.check_measure(measure, pair)
        sheet = compared(self.member, *pair, measure)
        page = cut_list(sheet.drops, params)
        drops = [
            {
                "change": drop.change,
                "text": drop.triple.content["question"] if isinstance(drop, HitDrop) else drop.query.text,
                "split": sheet.candidate.splits[drop.change.place],
                "note": drop.note,
            }
            for drop in page.rows
        ]
        self.log_look(pair[1], [drop["split"] for drop in drops], "drops of a comparison")
        record_comparison(pair=sheet.pair, measure=sheet.measure, actor=self.member.user, at=timezone.now())
        found = {
            "measure": sheet.measure,
            "measures": [row.measure for row in sheet.rows],
            "bar": sheet.pair.bar,
            "verdict": sheet.verdict,
            "regressions": sheet.regressions.total,
            "unexplained": sheet.regressions.unexplained,
            "withheld": sheet.candidate.withheld,
            "closed": sheet.closed,
            "closing_refusal": sheet.closing_refusal,
            "to_judge_again": sheet.to_judge_again,
            "left_open": sheet.left_open,
            "drops": drops,
            "next": page.next,
        }
        return Response(DropPageOut(found).data)


class DropDecision(PairView):
    """Accepts a drop, has it fixed, or calls its grades wrong. Until the comparison is closed it can be replaced."""

    @extend_schema(operation_id="comparisons_decide", request=DropDecisionInput, responses=NoteOut)
    def post(self, request: Request, **ids: Any) -> Response:
        first, second = pair = self.pair(ids)
        values = self.validated(DropDecisionInput, pair)
        note = decide_drop(
            baseline=first,
            candidate=second,
            measure=values["measure"],
            query_id=values["query"],
            decision=values["decision"],
            explanation=values["explanation"],
            member=self.member,
            at=timezone.now(),
        )
        return Response(NoteOut(note).data)


class ComparisonClose(PairView):
    """Closes the comparison by a measure with its verdict, for good, once every drop has an explanation."""

    @extend_schema(operation_id="comparisons_close", request=MeasureInput, responses={201: ClosedOut})
    def post(self, request: Request, **ids: Any) -> Response:
        first, second = pair = self.pair(ids)
        values = self.validated(MeasureInput, pair)
        closed = close_comparison(
            baseline=first, candidate=second, measure=values["measure"], member=self.member, at=timezone.now()
        )
        return Response(ClosedOut(closed).data, status=201)


class JudgeAgain(PairView):
    """Makes a pool of the pairs behind drops whose grades were called wrong, each drop once."""

    @extend_schema(operation_id="comparisons_judge_again", request=DropsRejudgeInput, responses={201: ChosenPoolOut})
    def post(self, request: Request, **ids: Any) -> Response:
        first, second = pair = self.pair(ids)
        values = self.validated(DropsRejudgeInput, pair)
        pool = judge_again(
            baseline=first,
            candidate=second,
            measure=values["measure"],
            name=values["name"],
            member=self.member,
            at=timezone.now(),
        )
        return Response(ChosenPoolOut(pool).data, status=201)


class Unjudged(PairView):
    """The pairs that the comparison misses: queries with passages in the first ten of either run that have no grade.

    A pool of those of one query is made here.
    """

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="comparisons_unjudged", parameters=PAGING, responses=UnjudgedPageOut)
    def get(self, request: Request, **ids: Any) -> Response:
        only_known(request.query_params, {"after", "limit"})
        pair = self.pair(ids)
        sheet = self.graded(pair)
        shown = [query for query, seen in zip(sheet.queries, sheet.visible, strict=True) if seen]
        unjudged = unjudged_blocks(pair, shown, JUDGED_AGAIN)
        queries = [query for query in shown if query.query_id in unjudged]
        page = cut_list(queries, request.query_params)
        self.log_look(pair[1], [query.split for query in page.rows], "unjudged passages of a comparison")
        found = {
            "count": len(queries),
            "withheld": sheet.withheld,
            "results": _named(pair[1], page.rows, unjudged),
            "next": page.next,
        }
        return Response(UnjudgedPageOut(found).data)

    @extend_schema(operation_id="comparisons_request_grades", request=GradesInput, responses={201: ChosenPoolOut})
    def post(self, request: Request, **ids: Any) -> Response:
        first, second = pair = self.pair(ids)
        values = self.validated(GradesInput, pair)
        queries = self.graded(pair).queries
        query = next((one for one in queries if one.outside_id == values["query"]), None)
        if query is None:
            raise ValidationError({"query": [f"This comparison has no query {values['query'][:60]}."]})
        pool = pool_unjudged(
            baseline=first,
            candidate=second,
            query=query,
            name=values["name"],
            member=self.member,
            at=timezone.now(),
        )
        return Response(ChosenPoolOut(pool).data, status=201)


def _named(candidate: Evaluation, queries: list[VersionQuery], unjudged: dict[int, list[int]]) -> list[dict[str, Any]]:
    positions = [position for query in queries for position in unjudged[query.query_id]]
    names = rankings.names_at(candidate.version, positions)
    return [
        {
            "query": query.outside_id,
            "split": query.split,
            "block_ids": sorted(names[position] for position in unjudged[query.query_id]),
        }
        for query in queries
    ]
