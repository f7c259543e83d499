"""API of one calibration: as much as you may see of it now, the discussion, and its end."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.selectors import Member
from apps.calibration import actions, rules
from apps.calibration.api.calibrations import CalibrationOut, CalibrationView, ParticipantOut
from apps.calibration.models import Calibration
from apps.calibration.selectors import calibrations
from apps.calibration.selectors.comparisons import QuestionFigure, comparison
from apps.calibration.serializers import RateOut, rate_out
from apps.common.web.requests import EstimateSerializer
from apps.review.forms import NOTE_LENGTH


class ProgressOut(ParticipantOut):
    answered = serializers.IntegerField()


class ComparedVerdictOut(serializers.Serializer):
    who = serializers.CharField()
    choice = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    category = serializers.CharField(allow_blank=True)
    note = serializers.CharField()


class ComparedItemOut(serializers.Serializer):
    """One item once both have answered; `original` has the verdicts of its past round."""

    item = serializers.IntegerField(source="item.number")
    triple_id = serializers.IntegerField(source="triple.pk")
    triple = serializers.CharField(source="triple.label")
    question = serializers.CharField(source="item.revision.question")
    subject = ComparedVerdictOut(source="first", allow_null=True)
    partner = ComparedVerdictOut(source="second", allow_null=True)
    original = ComparedVerdictOut(source="then", many=True)
    is_alike = serializers.BooleanField(allow_null=True)


class QuestionFigureOut(serializers.Serializer):
    """How often the two answered alike, and Cohen's kappa: `of` the choice, the question, the block or the answer."""

    of = serializers.CharField()
    alike = RateOut()
    kappa = EstimateSerializer()


class CalibrationMessageOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    author = serializers.IntegerField(source="author_id")
    text = serializers.CharField()
    posted_at = serializers.DateTimeField()


class SeenOut(serializers.Serializer):
    opened_by = ParticipantOut(allow_null=True)
    answered_at = serializers.DateTimeField(allow_null=True)
    closed_by = ParticipantOut(allow_null=True)
    closed_at = serializers.DateTimeField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    is_mine = serializers.BooleanField()
    own_answered = serializers.IntegerField(allow_null=True)
    progress = ProgressOut(many=True, allow_null=True)
    compared = ComparedItemOut(many=True, allow_null=True)
    figures = QuestionFigureOut(many=True, allow_null=True)
    messages = CalibrationMessageOut(many=True, allow_null=True)
    message_refusal = serializers.CharField(allow_null=True)
    close_refusal = serializers.CharField(allow_null=True)


class CalibrationDetailOut(SeenOut, CalibrationOut):
    """What you may see of it now; what is hidden, or not yours, is null.

    While it is open, `own_answered` is for the two, `progress` for leads without a part in it, and nobody sees an
    answer. Once both have answered, `compared`, `figures` and `messages` are there, except for a lead who reviews one
    of the items once more in a calibration that is open.
    """


class TextInput(serializers.Serializer):
    text = serializers.CharField(max_length=NOTE_LENGTH)


class ConclusionInput(serializers.Serializer):
    note = serializers.CharField(max_length=NOTE_LENGTH)


def detail_out(calibration: Calibration, member: Member) -> dict[str, Any]:
    """The calibration as its page shows it to this member."""
    is_mine, is_open = calibration.includes(member.user), calibration.is_open
    own = calibrations.own_verdicts(calibration, member.user) if is_mine else {}
    answered = calibrations.answered_by(calibration) if is_open and not is_mine else {}
    people = (calibration.subject, calibration.partner)
    progress = [{"pk": one.pk, "name": one.name, "answered": answered.get(one.pk, 0)} for one in people]
    is_compared = calibrations.is_compared_by(member.user, calibration)
    compared = comparison(calibration) if is_compared else None
    seen = {
        "opened_by": calibration.opened_by,
        "answered_at": calibration.answered_at,
        "closed_by": calibration.closed_by,
        "closed_at": calibration.closed_at,
        "note": calibration.note if is_compared else "",
        "is_mine": is_mine,
        "own_answered": len(own) if is_mine else None,
        "progress": progress if is_open and not is_mine else None,
        "compared": compared.rows if compared else None,
        "figures": [_figure(figure) for figure in compared.figures] if compared else None,
        "messages": calibrations.messages_of(calibration) if is_compared else None,
        "message_refusal": rules.discuss_refusal(calibration, member),
        "close_refusal": rules.close_refusal(calibration, member),
    }
    return {**CalibrationOut(calibration).data, **SeenOut(seen).data}


def _figure(figure: QuestionFigure) -> dict[str, Any]:
    return {
        "of": figure.aspect,
        "alike": rate_out(figure.alike),
        "kappa": figure.kappa.estimate.as_json,
    }


class CalibrationDetail(CalibrationView):
    """One calibration, by its number, with as much as you may see of it now."""

    roles: ClassVar = {"GET": rules.PARTICIPANTS}

    @extend_schema(operation_id="calibration_read", responses=CalibrationDetailOut)
    def get(self, request: Request, slug: str, number: int) -> Response:
        return Response(detail_out(calibrations.calibration_for(self.member, number), self.member))


class CalibrationMessageView(CalibrationView):
    """Writes into the discussion, which opens when both have answered everything."""

    @extend_schema(operation_id="calibration_message", request=TextInput, responses={201: CalibrationMessageOut})
    def post(self, request: Request, slug: str, number: int) -> Response:
        calibration = calibrations.calibration_for(self.member, number)
        message = actions.post_calibration_message(
            project=self.project,
            calibration_id=calibration.pk,
            author=self.member.user,
            text=self.given(TextInput, request)["text"],
            at=timezone.now(),
        )
        return Response(CalibrationMessageOut(message).data, status=201)


class CloseView(CalibrationView):
    """Closes it with a note on what follows, which ends the hiding of verdicts."""

    @extend_schema(operation_id="calibration_close", request=ConclusionInput, responses=CalibrationDetailOut)
    def post(self, request: Request, slug: str, number: int) -> Response:
        calibration = calibrations.calibration_for(self.member, number)
        actions.close_calibration(
            project=self.project,
            calibration_id=calibration.pk,
            person=self.member.user,
            note=self.given(ConclusionInput, request)["note"],
            at=timezone.now(),
        )
        return Response(detail_out(calibrations.calibration_for(self.member, number), self.member))
