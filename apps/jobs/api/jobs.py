"""Jobs in the API, and the deliveries of webhooks."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, RunsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import PAGING, oldest_first, page_of
from apps.jobs.actions import jobs, webhooks
from apps.jobs.enums import DeliveryState, JobState
from apps.jobs.selectors.jobs import job_in, jobs_in
from apps.jobs.selectors.webhooks import deliveries_in, delivery_in
from apps.jobs.serializers import DeliverySerializer, JobSerializer


def _in_state(request: Request, rows: QuerySet[Any], states: list[str]) -> QuerySet[Any]:
    """The rows, or those in the state that the request names."""
    if state := request.query_params.get("state"):
        if state not in states:
            raise ValidationError({"state": f"One of {', '.join(states)}."})
        rows = rows.filter(state=state)
    return rows


class JobList(ProjectAPIView):
    """The jobs of the project, oldest first."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.JOBS_READ}

    @extend_schema(
        operation_id="jobs_list",
        parameters=[OpenApiParameter("state", str, enum=JobState.values), *PAGING],
        responses=page_of("JobPage", JobSerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        jobs_here = _in_state(request, jobs_in(self.project), JobState.values)
        return oldest_first(request, jobs_here, JobSerializer, "state")


class JobDetail(ProjectAPIView):
    """Follow a job."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.JOBS_READ}

    @extend_schema(responses=JobSerializer)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        return Response(JobSerializer(job_in(self.project, pk)).data)


class JobCancel(RunsAPIView):
    """Cancel a job."""

    roles: ClassVar = {"POST": ()}

    @extend_schema(request=None, responses=JobSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        job = job_in(self.project, pk)
        job = jobs.cancel_job(job_id=job.pk, actor=self.member.user, at=timezone.now())
        return Response(JobSerializer(job).data)


class JobRetry(RunsAPIView):
    """Give a failed or cancelled job more attempts. Completed parts are not repeated."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="jobs_retry", request=None, responses=JobSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        job = job_in(self.project, pk)
        job = jobs.retry_job(job_id=job.pk, actor=self.member.user, at=timezone.now())
        return Response(JobSerializer(job).data)


class DeliveryList(ProjectAPIView):
    """The messages to webhooks, oldest first, whatever became of them."""

    roles: ClassVar = {"GET": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.JOBS_READ}

    @extend_schema(
        operation_id="deliveries_list",
        parameters=[OpenApiParameter("state", str, enum=DeliveryState.values), *PAGING],
        responses=page_of("DeliveryPage", DeliverySerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        deliveries = _in_state(request, deliveries_in(self.project), DeliveryState.values)
        return oldest_first(request, deliveries, DeliverySerializer, "state")


class DeliverySendAgain(RunsAPIView):
    """Send a message at once, with the same content and the same delivery id."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="deliveries_send_again", request=None, responses=DeliverySerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        delivery = delivery_in(self.project, pk)
        sent = webhooks.send_again(delivery=delivery, actor=self.member.user, at=timezone.now())
        return Response(DeliverySerializer(sent).data)
