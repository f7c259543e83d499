"""Evaluations, comparisons and the ledger of runs in the API."""

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.accounts.selectors import Member
from apps.common.web.api import CURSOR, given_in, newest_first, newest_page_of
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import plan_comparison, record_comparison, write_ledger
from apps.evaluation.actions.scoring import request_evaluation
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_score_tables import kind_facts
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused, EvaluationPair
from apps.evaluation.serializers.drops import PlanInput
from apps.evaluation.serializers.evaluations import (
    ComparisonSerializer,
    EvaluationDetailSerializer,
    EvaluationSerializer,
    LedgerSerializer,
    RequestSerializer,
    RunNoteSerializer,
    comparison_facts,
)
from apps.metrics.statistics.significance import Correction
from apps.retrieval.selectors.runs import run_in

PAGE_SIZE = 50


class ComparisonDetail(RunsAPIView):
    """Two evaluations of one split of a version, measure by measure, without queries."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(
        operation_id="comparisons_read",
        parameters=[
            OpenApiParameter("measure", str, description="Of the verdict; by default the first."),
            OpenApiParameter("correction", str, enum=list(Correction), description="By default holm; fdr otherwise."),
        ],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request, baseline: int, candidate: int, **ids: Any) -> Response:
        params = request.query_params
        first, second = evaluations.evaluations_with_values(self.project, baseline, candidate)
        if reason := rules.comparison_refusal(first, second):
            raise ComparisonRefused(reason, code="comparison_refused")
        pair = EvaluationPair.of(first, second, rules.requested_correction(params.get("correction", "")))
        shared = [one.measure for one in pair.comparison.measures]
        measure = params.get("measure") or next(iter(shared), "")
        if measure not in shared:
            raise ComparisonRefused(NO_MEASURE, code="no_measure")
        record_comparison(pair=pair, measure=measure, actor=self.member.user, at=timezone.now())
        return Response(ComparisonSerializer(comparison_facts(pair, measure)).data)


class ComparisonPlan(RunsAPIView):
    """Sets the number of queries at which the fixed test of two systems decides; before it evidence alone does."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="comparisons_plan", request=PlanInput, responses=PlanInput)
    def post(self, request: Request, baseline: int, candidate: int, **ids: Any) -> Response:
        first, second = evaluations.evaluations_with_values(self.project, baseline, candidate)
        given, at = given_in(request.data, PlanInput), timezone.now()
        plan = plan_comparison(baseline=first, candidate=second, **given, member=self.member, at=at)
        return Response(PlanInput(plan).data)


class LedgerLine(RunsAPIView):
    """The ledger entry of a run: read by members, written by leads and pipelines."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="ledger_read", responses=RunNoteSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        run = run_in(self.project, pk)
        note = leaderboard.notes_of([run]).get(run.pk)
        if note is None:
            raise Http404("The ledger has no entry for this run yet.")
        return Response(RunNoteSerializer(note).data)

    @extend_schema(operation_id="ledger_write", request=LedgerSerializer, responses=RunNoteSerializer)
    def post(self, request: Request, pk: int, **ids: Any) -> Response:
        run = run_in(self.project, pk)
        given = given_in(request.data, LedgerSerializer)
        note = write_ledger(run=run, **given, actor=self.member.user, at=timezone.now())
        return Response(RunNoteSerializer(note).data)


class EvaluationList(RunsAPIView):
    """Lists evaluations, newest first; requests new ones."""

    roles: ClassVar = {"GET": (), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="evaluations_list",
        parameters=[CURSOR],
        responses=newest_page_of("EvaluationList", EvaluationSerializer),
    )
    def get(self, request: Request, **ids: Any) -> Response:
        return newest_first(request, evaluations.every_evaluation_in(self.project), EvaluationSerializer, PAGE_SIZE)

    @extend_schema(
        operation_id="evaluations_request",
        request=RequestSerializer,
        responses={200: EvaluationDetailSerializer, 202: EvaluationDetailSerializer},
    )
    def post(self, request: Request, **ids: Any) -> Response:
        values = given_in(request.data, RequestSerializer)
        evaluation = request_evaluation(
            project=self.project,
            run_id=values["run"],
            version_id=values["version"],
            split=values["split"],
            hit=values["hit"],
            slice_name=values["slice"],
            measures=values["measures"],
            seed=values["seed"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(detail_of(evaluation, self.member), status=200 if evaluation.is_scored else 202)


class EvaluationDetail(RunsAPIView):
    """The scores of one evaluation, without queries; of one that stays sealed the reason, and no scores."""

    roles: ClassVar = {"GET": ()}

    @extend_schema(operation_id="evaluations_read", responses=EvaluationDetailSerializer)
    def get(self, request: Request, pk: int, **ids: Any) -> Response:
        evaluation = get_object_or_404(evaluations.with_sealed(self.project), pk=pk)
        return Response(detail_of(evaluation, self.member))


def detail_of(evaluation: Evaluation, member: Member) -> dict[str, Any]:
    kinds = kind_facts(evaluation, member) if evaluation.sealed_by is None else []
    return EvaluationDetailSerializer(evaluation, context={"kinds": kinds}).data
