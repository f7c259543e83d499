"""Access to project pages: checks sign-in, membership and role, and turns refusals into responses."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from apps.accounts.models import Project, User
from apps.accounts.rules import ProjectArchived
from apps.accounts.selectors import Member, membership_in
from apps.common.database.batched_reads import reading_once
from apps.common.errors import InputErrors, Refusal

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
