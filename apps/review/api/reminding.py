"""API of reminders: a lead asks those who have not answered in several triples, without learning who they are."""

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.review.actions.reminding import remind_reviewers
from apps.triples.selectors.triples import visible_triples

MOST_AT_ONCE = 200


class RemindInput(serializers.Serializer):
    triples = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1), min_length=1, max_length=MOST_AT_ONCE
    )


class RemindedTripleOut(serializers.Serializer):
    id = serializers.IntegerField(source="pk")
    number = serializers.CharField(source="label")


class LeftTripleOut(RemindedTripleOut):
    reason = serializers.CharField()


class RemindedOut(serializers.Serializer):
    """The triples whose reviewers are reminded, and those in which no round is open."""

    reminded = RemindedTripleOut(many=True)
    left = LeftTripleOut(many=True)


class RemindView(ProjectAPIView):
    """Reminds the reviewers who have not answered in the open rounds of these triples, each at most once a day.

    The answer is the same whoever has answered.
    """

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.REVIEW_WRITE}

    @extend_schema(operation_id="review_remind", request=RemindInput, responses=RemindedOut)
    def post(self, request: Request, slug: str) -> Response:
        body = RemindInput(data=request.data)
        body.is_valid(raise_exception=True)
        wanted = body.validated_data["triples"]
        known = set(visible_triples(self.member).filter(pk__in=wanted).values_list("pk", flat=True))
        if unknown := [pk for pk in wanted if pk not in known]:
            raise ValidationError({"triples": [f"{unknown[0]} is no triple of this project that you may see."]})
        done = remind_reviewers(project=self.project, triple_ids=known, lead=self.member.user, at=timezone.now())
        left = [{"pk": triple.pk, "label": triple.label, "reason": reason} for triple, reason in done.left]
        return Response(RemindedOut({"reminded": done.triples, "left": left}).data)
