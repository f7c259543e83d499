"""The runs of a version over the API: those that lack a score on it, and systems to run again on its snapshot."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import given_in
from apps.common.web.forms import ChoiceField, KeyField
from apps.common.web.paging import only_known
from apps.evaluation.actions.run_again import run_again
from apps.evaluation.actions.scoring import runs_to_score, score_missing, usual_names
from apps.evaluation.rules import EVERY_SPLIT, SPLITS, canonical_hit
from apps.evaluation.selectors.run_again import run_again_of
from apps.evaluation.serializers.evaluations import EvaluationSerializer
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.questions import questions_of
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.expected.rules import BY_GRADES, HitRuleError
from apps.retrieval.enums import RunState
from apps.retrieval.models import Run

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
