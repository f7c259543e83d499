"""The API of runs."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, RunsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.errors import Forbidden
from apps.common.web.api import CURSOR, given_in, newest_first, newest_page_of
from apps.corpus.models import Snapshot
from apps.jobs.models import Job
from apps.retrieval.actions.intake import push_run
from apps.retrieval.actions.runs import annotate_run
from apps.retrieval.enums import RUN_DETAILS
from apps.retrieval.execution.run_reading import is_body_read_at_once
from apps.retrieval.rules import reading_refusal
from apps.retrieval.selectors.runs import names_of_ranked, push_in, reach_of_run, run_in, runs_in
from apps.retrieval.serializers.runs import (
    LargePushSerializer,
    PushAnswerSerializer,
    PushedRunSerializer,
    PushSerializer,
    RunAnnotationSerializer,
    RunReachSerializer,
    RunSerializer,
    push_out,
    snapshot_of_body,
)


class RunList(RunsAPIView):
    """The runs of a project, newest first; push a run made elsewhere."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="runs_list", parameters=[CURSOR], responses=newest_page_of("RunPage", RunSerializer))
    def get(self, request: Request, slug: str) -> Response:
        return newest_first(request, runs_in(self.project), RunSerializer)

    @extend_schema(
        operation_id="runs_push",
        request=PushedRunSerializer,
        responses={200: PushAnswerSerializer, 201: PushAnswerSerializer, 202: PushSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """A small run is imported at once; for a large one the answer is 202, with the job that imports it."""
        size = int(request.META.get("CONTENT_LENGTH") or 0)
        values, snapshot = self._validated(LargePushSerializer, request)
        at_once = is_body_read_at_once(size, values.get("trec") or "", snapshot)
        body: Any = request.data
        if at_once:
            values, snapshot = self._validated(PushedRunSerializer, request)
            body = values
        outcome = push_run(
            project=self.project,
            snapshot=snapshot,
            trec=body.get("trec") or "",
            rows=body.get("rows") or None,
            results=body.get("results") or None,
            details={
                **{key: values[key].strip() for key in RUN_DETAILS},
                "abstains_below": values["abstains_below"],
            },
            usage=values["usage"],
            skip_unknown=values["skip_unknown"],
            at_once=at_once,
            actor=self.member.user,
            at=timezone.now(),
        )
        if isinstance(outcome, Job):
            return Response(push_out(outcome, None), status=202)
        answer = {"run": outcome.run, "is_new": outcome.is_new, "skipped_rows": outcome.draft.skipped}
        return Response(PushAnswerSerializer(answer).data, status=201 if outcome.is_new else 200)

    def _validated(self, serializer: type[LargePushSerializer], request: Request) -> tuple[dict[str, Any], Snapshot]:
        values = given_in(request.data, serializer)
        return values, snapshot_of_body(self.project, values["snapshot"])


class RunReachDetail(RunsAPIView):
    """Which documents the first ten results of a run come from, and how much they differ; needs no grades."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}

    @extend_schema(operation_id="runs_reach", responses=RunReachSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        run = run_in(self.project, pk)
        if refusal := reading_refusal(self.member, run, names_of_ranked(run)):
            raise Forbidden(refusal, code="results_hidden")
        return Response(RunReachSerializer(reach_of_run(run)).data)


class PushDetail(ProjectAPIView):
    """The job of a large pushed run, and its outcome."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.RUNS_WRITE}

    @extend_schema(operation_id="runs_push_read", responses=PushSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        job = push_in(self.project, pk)
        run_id = (job.result or {}).get("run_id")
        return Response(push_out(job, run_in(self.project, run_id) if run_id else None))


class RunDetail(RunsAPIView):
    """One run. A lead changes its note and commit; what is left out stays, and its rankings never change."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="runs_read", responses=RunSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(RunSerializer(run_in(self.project, pk)).data)

    @extend_schema(operation_id="runs_annotate", request=RunAnnotationSerializer, responses=RunSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        run = run_in(self.project, pk)
        given = given_in(request.data, RunAnnotationSerializer)
        annotate_run(run=run, **given, actor=self.member.user, at=timezone.now())
        return Response(RunSerializer(run_in(self.project, pk)).data)
