"""Access to project pages: checks sign-in, membership and role, and turns refusals into responses."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any, ClassVar, cast

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import APIView

from apps.accounts.models import ApiToken, Project, User
from apps.accounts.rules import ProjectArchived
from apps.accounts.selectors import Member, membership_in
from apps.common.database.questions import reading_once
from apps.common.errors import InputErrors, Refusal


class ProjectAPIView(APIView):
    """An endpoint under `/api/v1/projects/<slug>/`.

    `roles` maps a method to the roles that may use it (an empty tuple: every member); `scopes` maps it to the scope
    a token needs, or to all of several. HEAD is treated as GET without a body. A token works for its own project
    only; any other is 404, as for strangers, whatever the method. `self.project` and `self.member` are set before
    the method runs. An archived project is only read, unless the endpoint `changes_archived` ones. How long a body
    may be is in `apps.common.web.requests`.
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

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        if token is not None and token.project.slug != kwargs["slug"]:
            raise exceptions.NotFound()
        self.member = membership_in(cast(User, request.user), kwargs["slug"])
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


def scopes_of(view: ProjectAPIView | type[ProjectAPIView], method: str) -> tuple[str, ...]:
    """The scopes that a token needs for a method of the view, all of them."""
    scopes = view.scopes[method]
    return (scopes,) if isinstance(scopes, str) else scopes


def _refuse_packed_bodies(request: Request) -> None:
    packed = request.headers.get("Content-Encoding", "identity").strip().lower()
    if packed != "identity":
        raise exceptions.UnsupportedMediaType(packed, f"Send the body uncompressed, not as {packed[:40]}.")


READING = ("GET", "HEAD", "OPTIONS")
View = Callable[..., HttpResponseBase]


class PersonRequest(HttpRequest):
    """A request of a signed-in person."""

    user: User


class MemberRequest(PersonRequest):
    """A request that passed `member_view`."""

    member: Member
    project: Project


def member_view(*roles: str, changes_archived: bool = False) -> Callable[[View], View]:
    """Open a view to members of the project in the URL who have any of `roles` (none named: every member).

    The view receives `request, project, **rest`; `request.member` has the person's roles. Strangers and former members
    get 404, members without the role 403, and a Refusal raised by the domain becomes a page with its sentence and
    status. An archived project refuses everything but reading, unless the view `changes_archived` ones: what concerns
    the person alone, and bringing the project back.
    """

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def inner(request: MemberRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            request.member = member = membership_in(request.user, slug)
            request.project = member.project
            if not member.holds(*roles):
                raise PermissionDenied(f"This page is for: {', '.join(sorted(roles))}.")
            try:
                if request.method not in READING and not changes_archived:
                    ProjectArchived.unless_open(member.project)
                with reading_once() if request.method in READING else nullcontext():
                    return view(request, member.project, *args, **kwargs)
            except Refusal as refusal:
                return refusal_page(request, refusal)
            except InputErrors as errors:
                return render(request, "bad_input.html", {"errors": errors}, status=400)

        inner.roles = frozenset(roles)  # type: ignore[attr-defined]
        return inner

    return decorate


def operator_view(view: View) -> View:
    """Open a view to operators only."""

    @login_required
    @wraps(view)
    def inner(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_operator:
            raise PermissionDenied("This page is for operators.")
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return refusal_page(request, refusal)

    return inner


def refusal_page(request: HttpRequest, refusal: Refusal) -> HttpResponse:
    template = "_refusal.html" if getattr(request, "htmx", False) else "refusal.html"
    return render(request, template, {"refusal": refusal}, status=refusal.status)


def member_of(request: HttpRequest) -> Member:
    """The member that `member_view` admitted, with their current roles."""
    return request.member  # type: ignore[attr-defined]


def user_of(request: HttpRequest) -> User:
    """The person behind a request that `member_view` let through."""
    return member_of(request).user
