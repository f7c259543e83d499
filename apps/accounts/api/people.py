"""The members of a project in the API, and their roles."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts import selectors
from apps.accounts.actions.projects import set_roles
from apps.accounts.edges.api import ProjectAPIView
from apps.accounts.enums import Role, Scope
from apps.accounts.models import User
from apps.accounts.selectors import Member, MemberRoles
from apps.common.web.choices import ChoiceField
from apps.common.web.paging import cut, only_known, whole

PAGES = [
    OpenApiParameter("after", str, description="`next` of the previous page"),
    OpenApiParameter("limit", int, description="rows of a page, 1 to 1,000, by default 100"),
]


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


class MemberPageOut(serializers.Serializer):
    results = MemberOut(many=True)
    next = serializers.CharField(allow_null=True)


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

    @extend_schema(operation_id="people_list", parameters=PAGES, responses=MemberPageOut)
    def get(self, request: Request, slug: str) -> Response:
        only_known(request.query_params, {"after", "limit"})
        people = selectors.people_in(self.project)
        page = cut(people, request.query_params, column="pk", parse=whole, read=lambda user: user.pk)
        standings = selectors.people_with_roles(self.project, page.rows)
        standings.sort(key=lambda standing: standing.user.pk)
        rows = [member_facts(standing, self.member) for standing in standings]
        return Response(MemberPageOut({"results": rows, "next": page.next}).data)


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
        body = RolesInput(data=request.data)
        body.is_valid(raise_exception=True)
        return self.give(user, body.validated_data["roles"])


class JudgeMyself(RolesChange):
    """Makes you, a lead, an annotator too, so that a round can give you pairs."""

    @extend_schema(operation_id="people_judge_myself", request=None, responses=MemberOut)
    def post(self, request: Request, slug: str) -> Response:
        return self.give(self.member.user, [*self.member.roles, Role.ANNOTATOR])
