"""API of the names in imported files: list them, join one to a member, take that back."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.access.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.api import given_in
from apps.common.web.forms import KeyField
from apps.judging.actions.placeholders import claim_placeholder, end_claim
from apps.judging.selectors.placeholders import placeholder_in, placeholders_in


class PlaceholderOut(serializers.Serializer):
    """A name in imported files. `member` is the key of the member who it is, or null."""

    id = serializers.IntegerField(source="user.pk")
    name = serializers.CharField(source="user.name")
    grades = serializers.IntegerField()
    imports = serializers.IntegerField(source="rounds")
    member = serializers.IntegerField(source="claim.member_id", allow_null=True, default=None)


class PlaceholdersOut(serializers.Serializer):
    placeholders = PlaceholderOut(many=True)


class ClaimInput(serializers.Serializer):
    member = KeyField()


class ClaimOut(serializers.Serializer):
    placeholder = serializers.IntegerField(source="placeholder_id")
    member = serializers.IntegerField(source="member_id")
    claimed_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)


class PlaceholdersView(ProjectAPIView):
    """The names of the imports in force, with how many grades each has."""

    roles = {"GET": (Role.LEAD,)}
    scopes = {"GET": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_placeholders", responses=PlaceholdersOut)
    def get(self, request: Request, slug: str) -> Response:
        return Response(PlaceholdersOut({"placeholders": placeholders_in(self.project)}).data)


class ClaimView(ProjectAPIView):
    """Say which member a name is. Refused where both have judged one pair."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_claim_placeholder", request=ClaimInput, responses={201: ClaimOut})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        placeholder = placeholder_in(self.project, pk)
        claim = claim_placeholder(
            project=self.project,
            placeholder=placeholder,
            member_id=given_in(request.data, ClaimInput)["member"],
            actor=self.member.user,
            at=timezone.now(),
        )
        return Response(ClaimOut(claim).data, status=201)


class EndClaimView(ProjectAPIView):
    """Take back that a member is a name."""

    roles = {"POST": (Role.LEAD,)}
    scopes = {"POST": Scope.JUDGING_WRITE}

    @extend_schema(operation_id="judging_end_claim", request=None, responses=ClaimOut)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        placeholder = placeholder_in(self.project, pk)
        claim = end_claim(project=self.project, placeholder=placeholder, actor=self.member.user, at=timezone.now())
        return Response(ClaimOut(claim).data)
