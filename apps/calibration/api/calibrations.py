"""API of calibrations: their list, opening one by hand, and checking the flag rates."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.access import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.calibration import actions, rules
from apps.calibration.forms import MAX_KEY, OpenForm
from apps.calibration.models import Calibration
from apps.calibration.selectors import calibrations
from apps.calibration.selectors.openings import why_in_words
from apps.common.web.choices import ChoiceField
from apps.common.web.form_bodies import checked
from apps.common.web.paging import NO_CURSOR, only_known, whole
from apps.review.enums import RateSide

PER_PAGE = 50


class ParticipantOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class CalibrationOut(serializers.Serializer):
    """A calibration: `subject` is whose flag rate it is about, as author or reviewer (`side`)."""

    number = serializers.IntegerField()
    subject = ParticipantOut()
    partner = ParticipantOut()
    side = serializers.CharField()
    state = serializers.CharField()
    why = serializers.SerializerMethodField()
    item_count = serializers.IntegerField()
    opened_at = serializers.DateTimeField()

    def get_why(self, calibration: Calibration) -> str:
        return why_in_words(calibration.why)


class CalibrationPageOut(serializers.Serializer):
    calibrations = CalibrationOut(many=True)
    next = serializers.CharField(allow_null=True)


class OpenInput(serializers.Serializer):
    subject = serializers.IntegerField(min_value=1, max_value=MAX_KEY, help_text="The id of a person.")
    partner = serializers.IntegerField(min_value=1, max_value=MAX_KEY, help_text="The id of another.")
    side = ChoiceField(choices=RateSide.choices)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class CheckedOut(serializers.Serializer):
    """The calibrations that were opened, and a sentence for each person for whom none could be."""

    opened = CalibrationOut(many=True)
    refused = serializers.ListField(child=serializers.CharField())


class CalibrationView(ProjectAPIView):
    """A step of one calibration, for whoever may see it."""

    roles: ClassVar = {"POST": rules.PARTICIPANTS}
    scopes: ClassVar = {"GET": Scope.REVIEW_WRITE, "POST": Scope.REVIEW_WRITE}

    def given(self, serializer: type[serializers.Serializer], request: Request) -> dict[str, Any]:
        body = serializer(data=request.data)
        body.is_valid(raise_exception=True)
        return body.validated_data


class CalibrationList(CalibrationView):
    """The calibrations that you may see, newest first: all for leads, your own for you. A lead opens one by hand."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS, "POST": (Role.LEAD,)}

    @extend_schema(
        operation_id="calibrations",
        parameters=[OpenApiParameter("before", str, description="Only earlier ones; `next` of the previous page.")],
        responses=CalibrationPageOut,
    )
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"before"})
        rows = calibrations.calibrations_for(self.member)
        if before := request.query_params.get("before", ""):
            try:
                rows = rows.filter(number__lt=whole(before))
            except ValueError:
                raise ValidationError({"before": [NO_CURSOR]}) from None
        page = list(rows[: PER_PAGE + 1])
        following = str(page[PER_PAGE - 1].number) if len(page) > PER_PAGE else None
        return Response(CalibrationPageOut({"calibrations": page[:PER_PAGE], "next": following}).data)

    @extend_schema(operation_id="calibration_open", request=OpenInput, responses={201: CalibrationOut})
    def post(self, request: Request, slug: str) -> Response:
        chosen = checked(OpenForm(self.given(OpenInput, request), project=self.project)).cleaned_data
        made = actions.open_calibration(
            project=self.project,
            subject=chosen["subject"],
            partner=chosen["partner"],
            side=RateSide(chosen["side"]),
            lead=self.member.user,
            reason=chosen["reason"],
            at=timezone.now(),
        )
        return Response(CalibrationOut(made).data, status=201)


class CheckView(CalibrationView):
    """Checks all flag rates now, and opens a calibration for everybody whose rate is out of its limits."""

    roles: ClassVar = {"POST": (Role.LEAD,)}

    @extend_schema(operation_id="calibration_check", request=None, responses=CheckedOut)
    def post(self, request: Request, slug: str) -> Response:
        done = actions.check_project(project=self.project, actor=self.member.user, at=timezone.now())
        return Response(CheckedOut({"opened": done.opened, "refused": done.refused}).data)
