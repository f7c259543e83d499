"""Pages for signing in and out, joining by link, leaving, new projects, and all people."""

from typing import cast

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout as end_session
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import rules, selectors
from apps.accounts.access.pages import PersonRequest, operator_view
from apps.accounts.access.sessions import known_device, let_in
from apps.accounts.access.single_sign_on import ID_TOKEN, farewell_url
from apps.accounts.actions import invitations, people, projects
from apps.accounts.actions.leaving import leave
from apps.accounts.actions.sign_ins import SignInRefused, sign_in
from apps.accounts.execution.leaving import held_by
from apps.accounts.forms import (
    ForgottenForm,
    LeavingForm,
    NewPasswordForm,
    NewPersonForm,
    ProjectForm,
    SetUpForm,
    SignInForm,
)
from apps.accounts.models import Invitation, User
from apps.accounts.rules import PeopleRefused
from apps.common.errors import Refusal
from apps.common.hooks import has_mail_server
from apps.common.web.requests import client_address, link_for_others, own_page, reach_warning


@operator_view
@require_http_methods(["GET", "HEAD", "POST"])
def leaving(request: PersonRequest, user_id: int) -> HttpResponse:
    user, at = get_object_or_404(User, pk=user_id), timezone.now()
    PeopleRefused.raise_for(rules.leaving_refusal(request.user, user), code="not_leaving")
    form = _form(request, user)
    if request.method == "POST" and form.is_valid():
        leave(user_id=user.pk, actor=request.user, heir=form.cleaned_data.get("heir"), at=at)
        messages.success(request, f"{user} has left. What they did stays under their name.")
        return redirect("accounts:people")
    context = {
        "person": user,
        "holdings": held_by(user, at),
        "alone": selectors.led_alone_by(user),
        "form": form,
    }
    return render(request, "accounts/leaving.html", context, status=400 if form.errors else 200)


def _form(request: PersonRequest, user: User) -> LeavingForm:
    alone = selectors.led_alone_by(user).exists()
    heirs = selectors.everybody().filter(is_active=True).exclude(pk=user.pk) if alone else None
    return LeavingForm(request.POST or None, user=user, heirs=heirs, initial={"heir": request.user})


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(_next(request))
    form = SignInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = sign_in(
                request=request,
                **form.cleaned_data,
                address=client_address(request),
                device=known_device(request, form.cleaned_data["email"]),
                at=timezone.now(),
            )
        except SignInRefused as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return let_in(request, user, _next(request))
    context = {"form": form, "next": request.GET.get("next", ""), "sso": settings.SINGLE_SIGN_ON}
    return render(request, "accounts/login.html", context)


def _next(request: HttpRequest) -> str:
    """The page that the person requested before signing in, if it is one of our own."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    return own_page(request, wanted) or resolve_url("dashboard:start")


@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session, and for whoever came from the provider lead there, to end the one there too.

    The page with the form forbids a redirect to another host, so a page of our own leads on.
    """
    id_token = request.session.get(ID_TOKEN)
    end_session(request)
    sso = settings.SINGLE_SIGN_ON
    if sso is None or id_token is None or not (url := farewell_url(request, id_token, timezone.now())):
        return redirect("accounts:login")
    return render(request, "accounts/sso_leave.html", {"url": url, "name": sso.name, "is_farewell": True})


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: HttpRequest, token: str) -> HttpResponse:
    invitation = selectors.live_invitation(token, timezone.now())
    if invitation is None or not invitation.makes_operator:
        return _dead_link(request)
    form = SetUpForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = invitations.set_up(token=token, **form.cleaned_data, at=timezone.now())
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return let_in(request, user, resolve_url("dashboard:start"))
    return render(request, "accounts/set_up.html", {"form": form})


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    invitation = selectors.live_invitation(token, timezone.now())
    if invitation is None or invitation.project is None:
        return _dead_link(request)
    if request.user.is_authenticated:
        return _join_signed_in(cast(PersonRequest, request), invitation, token)
    form = NewPersonForm(request.POST or None, known_email=invitation.email, initial={"name": invitation.name})
    if request.method == "POST" and form.is_valid():
        try:
            user = invitations.accept_invitation(token=token, **form.cleaned_data, at=timezone.now())
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return let_in(request, user, resolve_url("dashboard:home", slug=invitation.project.slug))
    context = {
        "form": form,
        "invitation": invitation,
        "token": token,
        "path": request.path,
        "sso": settings.SINGLE_SIGN_ON,
    }
    return render(request, "accounts/join.html", context)


def _join_signed_in(request: PersonRequest, invitation: Invitation, token: str) -> HttpResponse:
    assert invitation.project is not None
    if request.method == "POST":
        try:
            invitations.accept_invitation(token=token, user=request.user, at=timezone.now())
        except Refusal:
            return _dead_link(request)
        return redirect("dashboard:home", slug=invitation.project.slug)
    return render(request, "accounts/join.html", {"invitation": invitation})


def _dead_link(request: HttpRequest) -> HttpResponse:
    """The same page for unknown, used, withdrawn and expired links, so that guessing reveals nothing."""
    return render(request, "accounts/dead_link.html", status=404)


@operator_view
@require_http_methods(["GET", "HEAD", "POST"])
def new_project(request: PersonRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        project = projects.create_project(**form.cleaned_data, actor=request.user, at=timezone.now())
        return redirect("dashboard:home", slug=project.slug)
    return render(request, "accounts/new_project.html", {"form": form})


@operator_view
@require_safe
def everybody(request: PersonRequest) -> HttpResponse:
    return _everybody(request)


def _everybody(request: PersonRequest, *, of: User | None = None, link: str = "") -> HttpResponse:
    warning = reach_warning(link) if link else ""
    context = {"people": selectors.everybody(), "reset_of": of, "link": link, "reach_warning": warning}
    return render(request, "accounts/everybody.html", context)


@operator_view
@require_POST
def reset_link(request: PersonRequest, user_id: int) -> HttpResponse:
    """Make a link with which this person chooses a new password, and show it once."""
    user = get_object_or_404(User, pk=user_id)
    token = people.create_reset_link(user_id=user.pk, actor=request.user, at=timezone.now())
    link = link_for_others(request, reverse("accounts:reset", kwargs={"token": token}))
    return _everybody(request, of=user, link=link)


@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Request a link by mail. The answer is the same whether or not the address has an account."""
    form = ForgottenForm(request.POST or None)
    is_sent = False
    if request.method == "POST" and form.is_valid():
        try:
            people.request_reset(
                email=form.cleaned_data["email"],
                link_of=lambda token: link_for_others(request, reverse("accounts:reset", kwargs={"token": token})),
                at=timezone.now(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            is_sent = True
    context = {"form": form, "is_sent": is_sent, "has_mail_server": has_mail_server()}
    return render(request, "accounts/forgotten.html", context)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def reset(request: HttpRequest, token: str) -> HttpResponse:
    """Choose a new password by link; the person then signs in with it."""
    found = selectors.live_reset(token, timezone.now())
    if found is None:
        return _dead_link(request)
    form = NewPasswordForm(request.POST or None, user=found.user)
    if request.method == "POST" and form.is_valid():
        try:
            people.use_reset(token=token, **form.cleaned_data, at=timezone.now())
        except Refusal:
            return _dead_link(request)
        messages.success(request, "Your password is changed, and all sessions are signed out. Sign in with it.")
        return redirect("accounts:login")
    return render(request, "accounts/reset.html", {"form": form, "person": found.user})


@operator_view
@require_POST
def deactivate(request: PersonRequest, user_id: int) -> HttpResponse:
    user = people.deactivate_user(user_id=get_object_or_404(User, pk=user_id).pk, actor=request.user, at=timezone.now())
    messages.success(request, f"{user} can no longer sign in. What they did stays under their name.")
    return redirect("accounts:people")


@operator_view
@require_POST
def reopen(request: PersonRequest, user_id: int) -> HttpResponse:
    user = people.reopen_account(user_id=get_object_or_404(User, pk=user_id).pk, actor=request.user, at=timezone.now())
    way = rules.reset_refusal(user) or f"To let {user} sign in, create a new password link."
    messages.success(request, f"The account of {user} is open again. {way} Leads give roles in their projects.")
    return redirect("accounts:people")
