"""The door of every project endpoint of the API."""

from typing import Any, ClassVar, cast

from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.models import ApiToken, Project, User
from apps.accounts.selectors import Member, membership_in


class ProjectAPIView(APIView):
    """An endpoint under `/api/v1/projects/<slug>/`.

    `roles` maps a method to the roles that may use it (an empty tuple: every member); `scopes` maps it to the scope
    a token needs. A token reaches its own project only; any other is 404, as for strangers. `self.project` and
    `self.member` are set before the method runs.
    """

    roles: ClassVar[dict[str, tuple[str, ...]]] = {}
    scopes: ClassVar[dict[str, str]] = {}
    project: Project
    member: Member

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method not in self.roles:
            return  # OPTIONS answers, anything else is refused by DRF with 405
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if token is not None and token.project.slug != kwargs["slug"]:
            raise exceptions.NotFound()
        self.member = membership_in(cast(User, request.user), kwargs["slug"])
        self.project = self.member.project
        if token is not None and self.scopes.get(request.method) not in token.scopes:
            raise exceptions.PermissionDenied(f"This token lacks the scope {self.scopes.get(request.method)}.")
        if not self.member.holds(*self.roles[request.method]):
            raise exceptions.PermissionDenied(f"This is for: {', '.join(sorted(self.roles[request.method]))}.")
