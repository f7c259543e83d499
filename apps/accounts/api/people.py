"""The members of a project in the API, their roles, and invitations."""

from typing import Any, ClassVar

from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.access.api import ProjectAPIView
from apps.accounts.actions import invitations
from apps.accounts.actions.projects import set_roles
from apps.accounts.core.addresses import LONGEST_NAME, MOST_GUESTS, Guest, NoAddress, plain_address
from apps.accounts.enums import Role, Scope
from apps.accounts.models import User
from apps.accounts.selectors import Member, MemberRoles
from apps.common.web.api import PAGING, body_in, body_with_key, given_in, oldest_first, page_of
from apps.common.web.forms import ChoiceField
from apps.common.web.paging import cut, only_known
from apps.common.web.requests import link_for_others


class RolesInput(serializers.Serializer):
    """All the roles that the person has from now on. None at all ends the membership."""

    roles = serializers.ListField(child=ChoiceField(choices=Role.choices), max_length=len(Role))


class MemberOut(serializers.Serializer):
    """A member; `email` is null for everybody but leads, `since` for who no longer has a role."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    email = serializers.CharField(allow_null=True)
    roles = serializers.ListField(child=ChoiceField(choices=Role.choices))
    since = serializers.DateTimeField(allow_null=True)
    is_active = serializers.BooleanField(help_text="False when an operator has deactivated the account.")


def member_facts(standing: MemberRoles, reader: Member) -> dict[str, Any]:
    """What this reader is told of a member."""
    return _facts(standing.user, reader) | {"roles": list(standing.roles), "since": standing.since}


def _facts(user: User, reader: Member) -> dict[str, Any]:
    email = user.email if reader.is_lead else None
    return {"id": user.pk, "name": str(user), "email": email, "is_active": user.is_active}


class MemberList(ProjectAPIView):
    """The members in the order in which their accounts were made. Leads see their addresses."""

    roles: ClassVar = {"GET": ()}
    scopes: ClassVar = {"GET": Scope.PEOPLE_READ}

    @extend_schema(operation_id="people_list", parameters=PAGING, responses=page_of("MemberPageOut", MemberOut))
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"after", "limit"})
        page = cut(selectors.people_in(self.project), request.query_params)
        standings = selectors.people_with_roles(self.project, page.rows)
        standings.sort(key=lambda standing: standing.user.pk)
        rows = [member_facts(standing, self.member) for standing in standings]
        return Response({"results": MemberOut(rows, many=True).data, "next": page.next})


class RolesChange(ProjectAPIView):
    """A change of somebody's roles."""

    roles: ClassVar = {"POST": (Role.LEAD,)}
    scopes: ClassVar = {"POST": Scope.PEOPLE_WRITE}

    def give(self, user: User, roles: list[str]) -> Response:
        """Set these roles, and answer with the person as they are now."""
        set_roles(
            project=self.project,
            user=user,
            roles=roles,
            actor=self.member.user,
            by_token=self.is_by_token,
            at=timezone.now(),
        )
        standing = next(iter(selectors.people_with_roles(self.project, [user])), None)
        none: dict[str, Any] = {"roles": [], "since": None}
        facts = member_facts(standing, self.member) if standing else _facts(user, self.member) | none
        return Response(MemberOut(facts).data)


class MemberRolesView(RolesChange):
    """Sets the roles of somebody who has or had one here. A project keeps a lead; a token makes nobody one."""

    @extend_schema(operation_id="people_set_roles", request=RolesInput, responses=MemberOut)
    def post(self, request: Request, slug: str, user_id: int) -> Response:
        user = selectors.member_user(self.project, user_id)
        return self.give(user, given_in(request.data, RolesInput)["roles"])


class JudgeMyself(RolesChange):
    """Makes you, a lead, an annotator too, so that a round can give you pairs."""

    @extend_schema(operation_id="people_judge_myself", request=None, responses=MemberOut)
    def post(self, request: Request, slug: str) -> Response:
        return self.give(self.member.user, [*self.member.roles, Role.ANNOTATOR])


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


class InvitedListOut(serializers.Serializer):
    """In the order of the request."""

    invitations = InvitedOut(many=True)


class InvitationList(ProjectAPIView):
    """Lists open invitations, oldest first, without their links; invites people."""

    roles: ClassVar = {"GET": (Role.LEAD,), "POST": (Role.LEAD,)}
    scopes: ClassVar = {"GET": Scope.PEOPLE_READ, "POST": Scope.PEOPLE_WRITE}

    @extend_schema(
        operation_id="people_invitations", parameters=PAGING, responses=page_of("InvitationPageOut", InvitationOut)
    )
    def get(self, request: Request, slug: str) -> Response:
        return oldest_first(request, selectors.open_invitations(self.project, timezone.now()), InvitationOut)

    @extend_schema(operation_id="people_invite", request=InviteInput, responses={201: InvitedListOut})
    def post(self, request: Request, slug: str) -> Response:
        body = body_in(body_with_key(request), InviteInput)
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
        invitations.revoke_invitation(
            invitation_id=invitation_id, project=self.project, actor=self.member.user, at=timezone.now()
        )
        return Response(status=204)
