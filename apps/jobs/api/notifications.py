"""Notifications in the API."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Scope
from apps.common.web.api import PAGING, given_in, oldest_first, page_of
from apps.common.web.forms import KeyField
from apps.jobs.actions import notifications
from apps.jobs.models import Notification
from apps.jobs.selectors import jobs


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
        rows = jobs.notifications_of(self.member.user, self.project)
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
        notification = jobs.notification_for(self.member.user, self.project, pk)
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
