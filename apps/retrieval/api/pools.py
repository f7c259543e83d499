"""The API of pools: building, reading and growing them, and estimates of what they miss."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import RunsAPIView
from apps.accounts.enums import Role
from apps.common.web.api import CURSOR, OneForm, body_in, newest_first, newest_page_of
from apps.common.web.paging import only_known
from apps.corpus.models import Snapshot
from apps.jobs.serializers import JobSerializer
from apps.queries.models import Source
from apps.retrieval.actions.pools import grow_pool, request_missing, request_pool
from apps.retrieval.presenters import sheet_response
from apps.retrieval.selectors.pools import pool_in, pools_in
from apps.retrieval.selectors.question_sets import FILTERED, QueryChoice
from apps.retrieval.selectors.runs import complete_runs_on
from apps.retrieval.selectors.systems import engines_in
from apps.retrieval.serializers.pools import (
    GrowRequestSerializer,
    PoolDetailSerializer,
    PoolRequestSerializer,
    PoolSerializer,
    pool_out,
)
from apps.retrieval.serializers.runs import questions_of_body, snapshot_of_body


class PoolView(RunsAPIView):
    """The common part of the endpoints of pools."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    def out(self, pk: int, status: int = 200) -> Response:
        return Response(pool_out(pool_in(self.project, pk)), status=status)

    def known_sources(self, snapshot: Snapshot, systems: Sequence[int], runs: Sequence[int]) -> None:
        """Raises ValidationError for a system or a run that a pool on the snapshot cannot take."""
        self._known("systems", systems, engines_in(self.project), "is no system of this project to be run.")
        missing = "is no complete run on this snapshot that returned its passages."
        self._known("runs", runs, complete_runs_on(snapshot), missing)

    def _known(self, field: str, ids: Sequence[int], rows: QuerySet[Any], missing: str) -> None:
        known = set(rows.filter(pk__in=ids).values_list("pk", flat=True))
        if unknown := [pk for pk in ids if pk not in known]:
            raise exceptions.ValidationError({field: [f"{unknown[0]} {missing}"]})


class PoolList(PoolView):
    """The pools of a project, newest first; build one, in a job."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER), "POST": (Role.LEAD,)}

    @extend_schema(operation_id="pools_list", parameters=[CURSOR], responses=newest_page_of("PoolPage", PoolSerializer))
    def get(self, request: Request, slug: str) -> Response:
        return newest_first(request, pools_in(self.project), PoolSerializer)

    @extend_schema(operation_id="pools_build", request=PoolRequestSerializer, responses={202: PoolDetailSerializer})
    def post(self, request: Request, slug: str) -> Response:
        body = body_in(request.data, PoolRequestSerializer)
        values = body.validated_data
        snapshot = snapshot_of_body(self.project, values["snapshot"])
        self.known_sources(snapshot, values["systems"], values["runs"])
        if values["built_in"] and engines_in(self.project).exists():
            raise exceptions.ValidationError({"built_in": ["There are systems already: name them in systems."]})
        pool = request_pool(
            project=self.project,
            name=values["name"],
            snapshot_id=snapshot.pk,
            system_ids=values["systems"],
            run_ids=values["runs"],
            with_built_in=values["built_in"],
            depth=values["depth"],
            plan=body.plan(),
            choice=self._choice(values),
            actor=self.member.user,
            at=timezone.now(),
        )
        return self.out(pool.pk, 202)

    def _choice(self, values: dict[str, Any]) -> QueryChoice:
        source = None
        if values["source"] is not None:
            source = Source.objects.filter(project=self.project, slug=values["source"]).first()
            if source is None:
                raise exceptions.ValidationError({"source": ["No source of this project is called that."]})
        return QueryChoice(
            source_id=source.pk if source else None,
            **{name: values[name] for name in FILTERED},
            questions=questions_of_body(self.project, values["questions"]),
        )


class PoolDetail(PoolView):
    """One pool, without its pairs and ranks."""

    roles: ClassVar = {"GET": (Role.LEAD, Role.VIEWER)}

    @extend_schema(operation_id="pools_read", responses=PoolDetailSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return self.out(pk)


class PoolGrow(PoolView):
    """Adds systems, runs, depth or pairs to a complete pool, in a job. It never loses a pair."""

    @extend_schema(operation_id="pools_grow", request=GrowRequestSerializer, responses={202: PoolDetailSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        pool = pool_in(self.project, pk)
        body = body_in(request.data, GrowRequestSerializer)
        values = body.validated_data
        self.known_sources(pool.snapshot, values["systems"], values["runs"])
        grow_pool(
            project=self.project,
            pool_id=pool.pk,
            system_ids=values["systems"],
            run_ids=values["runs"],
            depth=values.get("depth"),
            more=body.more(),
            actor=self.member.user,
            at=timezone.now(),
        )
        return self.out(pk, 202)


class PoolMissing(PoolView):
    """Estimates, in a job, what the pool misses; the pool has the estimate once that is done. Again: the same job."""

    @extend_schema(operation_id="pools_estimate_missing", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        job = request_missing(project=self.project, pool_id=pk, actor=self.member.user, at=timezone.now())
        return Response(JobSerializer(job).data, status=202)


class PoolSheet(PoolView):
    """The pairs as a CSV to grade in a spreadsheet. It comes back through the import of judgements. For leads.

    With `chosen=yes` also how each pair was chosen, which nobody should see who is to grade it.
    """

    roles: ClassVar = {"GET": (Role.LEAD,)}
    content_negotiation_class = OneForm

    @extend_schema(
        operation_id="pools_sheet",
        parameters=[OpenApiParameter("chosen", enum=["yes"])],
        responses={(200, "text/csv"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, pk: int) -> StreamingHttpResponse:
        only_known(request.query_params, {"chosen"})
        says_chosen = request.query_params.get("chosen") == "yes"
        return sheet_response(self.member, pool_in(self.project, pk), says_chosen=says_chosen)
