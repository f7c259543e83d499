"""Invitations in the API: a link for each person, told once, and withdrawn while nobody has used it."""

from typing import Any, ClassVar

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.actions import invitations
from apps.accounts.api.people import PAGES
from apps.accounts.core.addresses import NoAddress, plain_address
from apps.accounts.core.guests import LONGEST_NAME, MOST_GUESTS, Guest
from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.common.web.choices import ChoiceField
from apps.common.web.idempotency import body_with_key
from apps.common.web.paging import cut, only_known, whole
from apps.common.web.requests import link_for_others


class GuestInput(serializers.Serializer):
    """Somebody to invite. Without an address they enter their own, and the link is for whoever opens it."""

    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST_NAME)
    email = serializers.EmailField(required=False, allow_blank=True, default="", max_length=254)
    roles = serializers.ListField(child=ChoiceField(choices=Role.choices), min_length=1, max_length=len(Role))

    def validate_email(self, email: str) -> str:
        try:
            return plain_address(email) if email else ""
        except NoAddress as wrong:
            raise serializers.ValidationError(wrong.sentence) from wrong


class InviteInput(serializers.Serializer):
    """Whom to invite; everybody is invited or nobody. With a key, the same request again invites nobody twice."""

    people = serializers.ListField(child=GuestInput(), min_length=1, max_length=MOST_GUESTS)
    by_mail = serializers.BooleanField(
        required=False, default=False, help_text="Also mail the links to those with an address."
    )
    idempotency_key = serializers.CharField(required=False, default="", max_length=64)

    def validate_people(self, people: list[dict[str, Any]]) -> list[dict[str, Any]]:
        addresses = [guest["email"] for guest in people if guest["email"]]
        if twice := next((one for number, one in enumerate(addresses) if one in addresses[:number]), ""):
            raise serializers.ValidationError(f"{twice} is invited twice. Name each address once.")
        return people

    def guests(self) -> list[Guest]:
        """The validated people, for the action."""
        return [
            Guest(each["name"], each["email"], tuple(sorted(set(each["roles"]))))
            for each in self.validated_data["people"]
        ]


class InvitationOut(serializers.Serializer):
    id = serializers.IntegerField()
    name = serializers.CharField()
    email = serializers.CharField()
    roles = serializers.ListField(child=ChoiceField(choices=Role.choices))
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class InvitedOut(InvitationOut):
    """A new invitation. `link` is in this answer only: it works once, for whoever opens it first."""

    link = serializers.CharField()
    is_mailed = serializers.BooleanField()


class InvitationPageOut(serializers.Serializer):
    results = InvitationOut(many=True)
    next = serializers.CharField(allow_null=True)


class InvitedListOut(serializers.Serializer):
    """In the order of the request."""

    invitations = InvitedOut(many=True)


class InvitationList(ProjectAPIView):
    """Lists open invitations, oldest first, without their links; invites people."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.PEOPLE_READ, "POST": Scope.PEOPLE_WRITE}

    @extend_schema(operation_id="people_invitations", parameters=PAGES, responses=InvitationPageOut)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"after", "limit"})
        rows = selectors.open_invitations(self.project, timezone.now()).order_by("pk")
        page = cut(rows, request.query_params, column="pk", parse=whole, read=lambda row: row.pk)
        return Response(InvitationPageOut({"results": page.rows, "next": page.next}).data)

    @extend_schema(operation_id="people_invite", request=InviteInput, responses={201: InvitedListOut})
    def post(self, request: Request, slug: str) -> Response:
        body = InviteInput(data=body_with_key(request))
        body.is_valid(raise_exception=True)
        invited = invitations.invite_several(
            project=self.project,
            actor=self.member.user,
            guests=body.guests(),
            link_of=lambda token: link_for_others(request._request, reverse("accounts:join", kwargs={"token": token})),
            by_mail=body.validated_data["by_mail"],
            key=body.validated_data["idempotency_key"],
            by_token=self.is_by_token,
            at=timezone.now(),
        )
        rows = [{**InvitationOut(row.invitation).data, "link": row.link, "is_mailed": row.is_mailed} for row in invited]
        return Response({"invitations": rows}, status=201)


class InvitationRevoke(ProjectAPIView):
    """Withdraws an open invitation: its link no longer works."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.PEOPLE_WRITE}

    @extend_schema(operation_id="people_revoke_invitation", request=None, responses={204: None})
    def post(self, request: Request, slug: str, invitation_id: int) -> Response:
        invitation = selectors.invitation_in(self.project, invitation_id)
        invitations.revoke_invitation(
            invitation_id=invitation.pk, project=self.project, actor=self.member.user, at=timezone.now()
        )
        return Response(status=204)
