"""The base classes of project endpoints of the API."""

from dataclasses import replace
from typing import Any, ClassVar, cast

from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.enums import Scope
from apps.accounts.models import ApiToken, Project, User
from apps.accounts.rules import ProjectArchived
from apps.accounts.selectors import Member, membership_in


class ProjectAPIView(APIView):
    """An endpoint under `/api/v1/projects/<slug>/`.

    `roles` maps a method to the roles that may use it (an empty tuple: every member); `scopes` maps it to the scope
    a token needs, or to all of several. HEAD is treated as GET without a body. A token works for its own project
    only; any other is 404, as for strangers, whatever the method. `self.project` and `self.member` are set before
    the method runs. An archived project is only read, unless the endpoint `changes_archived` ones. How long a body
    may be is in `apps.common.web.body_limits`.
    """

    roles: ClassVar[dict[str, tuple[str, ...]]] = {}
    scopes: ClassVar[dict[str, str | tuple[str, ...]]] = {}
    changes_archived: ClassVar[bool] = False
    project: Project
    member: Member

    @property
    def is_by_token(self) -> bool:
        """Whether a token asks, and not a person who is signed in."""
        return isinstance(self.request.auth, ApiToken)

    def member_of(self, user: User, slug: str, **kwargs: Any) -> Member:
        """The person's membership of the project in the address. Http404 for strangers."""
        return membership_in(user, slug)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if token is not None and token.project.slug != kwargs["slug"]:
            raise exceptions.NotFound()
        self.member = self.member_of(cast(User, request.user), **kwargs)
        if token is not None and token.is_of_agent:
            self.member = replace(self.member, is_agent=True)
        self.project = self.member.project
        _refuse_packed_bodies(request)
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.roles:
            return  # OPTIONS is open to members; DRF refuses any other method with 405
        if token is not None and (missing := [scope for scope in scopes_of(self, method) if scope not in token.scopes]):
            raise exceptions.PermissionDenied(f"This token lacks the scope {missing[0]}.")
        if not self.member.holds(*self.roles[method]):
            raise exceptions.PermissionDenied(f"This is for: {', '.join(sorted(self.roles[method]))}.")
        if method != "GET" and not self.changes_archived:
            ProjectArchived.unless_open(self.project)


class CorpusAPIView(ProjectAPIView):
    """An endpoint of corpora, passages, queries and their sources."""

    scopes: ClassVar = {"GET": Scope.CORPUS_READ, "POST": Scope.CORPUS_WRITE}


class RunsAPIView(ProjectAPIView):
    """An endpoint of systems, runs, pools, scores and gates."""

    scopes: ClassVar = {"GET": Scope.RUNS_READ, "POST": Scope.RUNS_WRITE}


class ReviewAPIView(ProjectAPIView):
    """An endpoint of reviews, Q&As as reviewers see them, and the quality tracker."""

    scopes: ClassVar = {"GET": Scope.REVIEW_WRITE, "POST": Scope.REVIEW_WRITE}


class VersionsAPIView(ProjectAPIView):
    """An endpoint of gold sets and their versions."""

    scopes: ClassVar = {"GET": Scope.VERSIONS_READ, "POST": Scope.VERSIONS_WRITE}


def scopes_of(view: ProjectAPIView | type[ProjectAPIView], method: str) -> tuple[str, ...]:
    """The scopes that a token needs for a method of the view, all of them."""
    scopes = view.scopes[method]
    return (scopes,) if isinstance(scopes, str) else scopes


def _refuse_packed_bodies(request: Request) -> None:
    packed = request.headers.get("Content-Encoding", "identity").strip().lower()
    if packed != "identity":
        raise exceptions.UnsupportedMediaType(packed, f"Send the body uncompressed, not as {packed[:40]}.")
