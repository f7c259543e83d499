"""Evaluations, comparisons, the ledger of runs, and the runs that a version lacks, in the API."""

from typing import Any, ClassVar

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.accounts.selectors import Member
from apps.common.web.api import CURSOR, change_in, given_in, newest_first, newest_page_of
from apps.common.web.forms import ChoiceField, KeyField
from apps.common.web.paging import only_known
from apps.evaluation import rules
from apps.evaluation.actions.comparisons import plan_comparison, record_comparison, write_ledger
from apps.evaluation.actions.scoring import request_evaluation, run_again, runs_to_score, score_missing, usual_names
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.hit_score_tables import kind_facts
from apps.evaluation.rules import EVERY_SPLIT, SPLITS, canonical_hit
from apps.evaluation.selectors import evaluations, leaderboard
from apps.evaluation.selectors.comparisons import NO_MEASURE, ComparisonRefused, EvaluationPair
from apps.evaluation.selectors.run_again import run_again_of
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
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.questions import questions_of
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.expected.rules import BY_GRADES, HitRuleError
from apps.metrics.statistics.significance import Correction
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run
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
        given = change_in(request.data, LedgerSerializer).validated_data
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


MOST_SYSTEMS = 200


class GroundInput(serializers.Serializer[Any]):
    """On what runs are scored. `split` is dev by default, empty for both; `hit` a hit rule, empty for grades.

    With `measure` only runs without a score of that measure count, else those without all of `measures`.
    """

    split = ChoiceField(choices=list(SPLITS), default=Split.DEV, allow_blank=True)
    hit = serializers.CharField(max_length=60, default=BY_GRADES, allow_blank=True)
    measure = serializers.CharField(max_length=200, default="", allow_blank=True)

    def validate_hit(self, text: str) -> str:
        try:
            return canonical_hit(text)
        except HitRuleError as fault:
            raise serializers.ValidationError(str(fault)) from fault


class RunOut(serializers.Serializer[Run]):
    id = serializers.IntegerField(source="pk")
    tag = serializers.CharField()
    system = serializers.CharField(source="system.name")


class RestOut(serializers.Serializer[Any]):
    """The measures by which they would be scored, and the runs on the snapshot of the version that lack one."""

    measures = serializers.ListField(child=serializers.CharField())
    runs = RunOut(many=True)


class RequestedOut(serializers.Serializer[Any]):
    """What was requested; follow each by its `job`."""

    results = EvaluationSerializer(many=True)


class RequestedRunOut(RunOut):
    """A run that was requested again for the version."""

    state = ChoiceField(choices=RunState.choices)
    job = serializers.IntegerField(source="job_id", allow_null=True)


class FormerRunOut(serializers.Serializer[Any]):
    """A system with its newest run that was scored on an earlier version, which is named."""

    system = serializers.IntegerField(source="system.pk")
    name = serializers.CharField(source="system.name")
    run = serializers.IntegerField(source="run.pk")
    tag = serializers.CharField(source="run.tag")
    version = serializers.CharField()


class RunAgainOut(serializers.Serializer[Any]):
    """The systems that were scored on earlier versions, on older snapshots.

    `runs` were requested again for this one. Of the other systems `own` can be run again, and `elsewhere` too, with as
    many requests to systems outside as there are `questions`; `uploaded` have to be pushed again.
    """

    runs = RequestedRunOut(many=True)
    own = FormerRunOut(many=True)
    elsewhere = FormerRunOut(many=True)
    uploaded = FormerRunOut(many=True)
    questions = serializers.IntegerField()


class RunAgainInput(serializers.Serializer[Any]):
    """Systems of `own` and `elsewhere`, by their ids."""

    systems = serializers.ListField(child=KeyField(), min_length=1, max_length=MOST_SYSTEMS)


class RunsAgainOut(serializers.Serializer[Any]):
    """The runs that a job makes and scores."""

    runs = RequestedRunOut(many=True)


class ScoreRest(RunsAPIView):
    """The runs that lack a score on a version; has all of them scored."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="evaluations_rest",
        parameters=[
            OpenApiParameter("split", enum=[*Split.values, EVERY_SPLIT], default=Split.DEV.value),
            OpenApiParameter("hit", str, description="A hit rule; by default by grades."),
            OpenApiParameter("measure", str, description="Only runs without a score of this one."),
        ],
        responses=RestOut,
    )
    def get(self, request: Request, version_pk: int, **ids: Any) -> Response:
        version = frozen_in(self.project, version_pk)
        only_known(request.query_params, {"split", "hit", "measure"})
        values, names = self._ground(version, request.query_params.dict())
        lacking = [values["measure"]] if values["measure"] else names
        runs = runs_to_score(version, values["split"], values["hit"], lacking)
        return Response(RestOut({"measures": names, "runs": runs}).data)

    @extend_schema(
        operation_id="evaluations_rest_request",
        request=GroundInput,
        responses={200: RequestedOut, 202: RequestedOut},
    )
    def post(self, request: Request, version_pk: int, **ids: Any) -> Response:
        """202 with what is being scored; 200 with nothing where every run is scored already."""
        version = frozen_in(self.project, version_pk)
        values, _ = self._ground(version, request.data)
        requested = score_missing(
            version=version,
            split=values["split"],
            hit=values["hit"],
            lacking=values["measure"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(RequestedOut({"results": requested}).data, status=202 if requested else 200)

    def _ground(self, version: Version, given: Any) -> tuple[dict[str, Any], list[str]]:
        """On what runs are scored, and by which measures. Raises ValidationError for a measure that is none of them."""
        values = given_in(given, GroundInput)
        names = usual_names(version, values["split"], values["hit"])
        if values["measure"] and values["measure"] not in names:
            raise serializers.ValidationError({"measure": [f"One of {', '.join(names)}."]})
        return values, names


class SystemsAgain(RunsAPIView):
    """The systems of earlier versions, which were scored on older snapshots; runs them again on that of a version."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="evaluations_run_again", responses=RunAgainOut)
    def get(self, request: Request, version_pk: int, **ids: Any) -> Response:
        version = frozen_in(self.project, version_pk)
        again = run_again_of(version)
        facts = {name: getattr(again, name) for name in ("runs", "own", "elsewhere", "uploaded")}
        return Response(RunAgainOut({**facts, "questions": len(questions_of(version))}).data)

    @extend_schema(operation_id="evaluations_run_again_request", request=RunAgainInput, responses={202: RunsAgainOut})
    def post(self, request: Request, version_pk: int, **ids: Any) -> Response:
        version = frozen_in(self.project, version_pk)
        system_ids = given_in(request.data, RunAgainInput)["systems"]
        runs = run_again(
            project=self.project,
            version_id=version.pk,
            system_ids=system_ids,
            actor=self.member.user,
            at=timezone.now(),
        )
        made = Run.objects.filter(pk__in=[run.pk for run in runs]).select_related("system").order_by("pk")
        return Response(RunsAgainOut({"runs": made}).data, status=202)
