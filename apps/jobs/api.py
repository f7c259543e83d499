"""Jobs, the deliveries of webhooks, and notifications in the API."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView, RunsAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import PAGING, given_in, oldest_first, page_of
from apps.common.web.forms import KeyField
from apps.jobs.actions import jobs, notifications, webhooks
from apps.jobs.enums import DeliveryState, JobState
from apps.jobs.models import Notification
from apps.jobs.selectors.jobs import (
    deliveries_in,
    delivery_in,
    job_in,
    jobs_in,
    notification_for,
    notifications_of,
)
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


class NotificationSerializer(serializers.ModelSerializer[Notification]):
    """A notification of one person. `read_at` is null while it is unread."""

    class Meta:
        model = Notification
        fields = ("id", "kind", "sentence", "path", "created_at", "read_at")
        read_only_fields = fields


class ReadAllSerializer(serializers.Serializer[dict]):
    """The id of the newest one that was seen; later ones stay unread."""

    up_to = KeyField()


class NotificationList(ProjectAPIView):
    """The person's notifications, oldest first, so that a machine can read newer ones with `?after=<id>`."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.NOTIFICATIONS}

    @extend_schema(
        operation_id="notifications_list",
        parameters=[
            OpenApiParameter("unread", str, enum=["1"], description="Only unread ones."),
            *PAGING,
        ],
        responses=page_of("NotificationPage", NotificationSerializer),
    )
    def get(self, request: Request, slug: str) -> Response:
        rows = notifications_of(self.member.user, self.project)
        if unread := request.query_params.get("unread"):
            if unread != "1":
                raise serializers.ValidationError({"unread": "1, or leave it out."})
            rows = rows.filter(read_at=None)
        return oldest_first(request, rows, NotificationSerializer, "unread")


class NotificationRead(ProjectAPIView):
    """Mark one as read. A second time changes nothing."""

    roles: ClassVar = {"POST": ()}
    scopes: ClassVar = {"POST": Scope.NOTIFICATIONS}
    changes_archived = True

    @extend_schema(operation_id="notifications_read", request=None, responses=NotificationSerializer)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        notification = notification_for(self.member.user, self.project, pk)
        notifications.mark_read(notification=notification, at=timezone.now())
        notification.refresh_from_db()
        return Response(NotificationSerializer(notification).data)


class NotificationReadAll(ProjectAPIView):
    """Mark all as read up to one of them."""

    roles: ClassVar = {"POST": ()}
    scopes: ClassVar = {"POST": Scope.NOTIFICATIONS}
    changes_archived = True

    @extend_schema(operation_id="notifications_read_all", request=ReadAllSerializer, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        """How many were unread is not told: some may be hidden for now."""
        up_to = given_in(request.data, ReadAllSerializer)["up_to"]
        notifications.mark_all_read(person=self.member.user, project=self.project, up_to=up_to, at=timezone.now())
        return Response(status=204)
