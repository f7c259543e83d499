"""Pages for signing in with the operator's provider (OpenID Connect), and for linking an account with it."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access import single_sign_on as sso
from apps.accounts.access.pages import PersonRequest, refusal_page
from apps.accounts.access.sessions import let_in
from apps.accounts.actions.identities import link_identity, sign_in_by_identity, unlink_identity
from apps.accounts.actions.sign_ins import SignInRefused
from apps.accounts.core.oidc.flow import begin_flow
from apps.accounts.pages.profile import link_form_of, profile_page
from apps.common.errors import Refusal
from apps.common.web.requests import own_page

View = Callable[..., HttpResponse]
LONGEST_WANTED = 1_000
"""Characters of an address of our own that the cookie has room for."""
LONGEST_INVITATION = 100


def _refusals_as_page(view: View) -> View:
    """Show a refusal with the ways to go on. Whatever was begun in this browser is over, if the answer was for it."""

    @wraps(view)
    def inner(request: HttpRequest) -> HttpResponse:
        context: dict[str, object] = {"sso": sso.configuration_or_404()}
        try:
            return view(request)
        except Refusal as refusal:
            response = render(
                request, "accounts/sso_refused.html", context | {"refusal": refusal}, status=refusal.status
            )
            if refusal.code != sso.NO_STATE:
                sso.forget_flow(response)
            return response

    return inner


@require_safe
@_refusals_as_page
def begin(request: HttpRequest) -> HttpResponse:
    """Leave for the provider."""
    wanted = own_page(request, request.GET.get("next", "")[:LONGEST_WANTED])
    if request.user.is_authenticated:
        return redirect(wanted or "dashboard:start")
    flow = begin_flow(wanted=wanted, invitation=request.GET.get("join", "")[:LONGEST_INVITATION])
    response = redirect(sso.leave(request, flow, timezone.now()))
    sso.keep_flow(response, flow)
    return response


@require_safe
@_refusals_as_page
def come_back(request: HttpRequest) -> HttpResponse:
    """Back from the provider: sign in, or link the account of whoever asked for it."""
    at = timezone.now()
    returned = sso.come_back(request, at)
    response = _link(request, returned) if returned.flow.links else _sign_in(request, returned)
    returned.attempt.delete()
    sso.forget_flow(response)
    return response


def _sign_in(request: HttpRequest, returned: sso.Returned) -> HttpResponse:
    user = sign_in_by_identity(
        claims=returned.claims,
        configuration=sso.configuration_or_404(),
        invitation=returned.flow.invitation,
        at=timezone.now(),
    )
    response = let_in(request, user, own_page(request, returned.flow.wanted) or resolve_url("dashboard:start"))
    request.session[sso.ID_TOKEN] = returned.id_token if len(returned.id_token) <= sso.LONGEST_KEPT_TOKEN else ""
    return response


def _link(request: HttpRequest, returned: sso.Returned) -> HttpResponse:
    if not request.user.is_authenticated or request.user.pk != returned.flow.links:
        raise SignInRefused("Another person is signed in now than who began to link. Begin again.", code="other_person")
    link_identity(user=request.user, claims=returned.claims, at=timezone.now())
    messages.success(request, f"Your account is linked. You can sign in with {sso.configuration_or_404().name} now.")
    return redirect("accounts:profile")


@sensitive_post_parameters()
@require_POST
@login_required
def link(request: PersonRequest) -> HttpResponse:
    """Begin to link the own account, after its password: nobody else's browser or session does it unasked."""
    name = sso.configuration_or_404().name
    form = link_form_of(request.user, request.POST)
    if not form.is_valid():
        return profile_page(request, link_form=form, status=400)
    flow = begin_flow(links=request.user.pk)
    try:
        url = sso.leave(request, flow, timezone.now())
    except Refusal as refusal:
        form.add_error(None, refusal.sentence)
        return profile_page(request, link_form=form, status=refusal.status)
    response = render(request, "accounts/sso_leave.html", {"url": url, "name": name})
    sso.keep_flow(response, flow)
    return response


@require_POST
@login_required
def unlink(request: PersonRequest) -> HttpResponse:
    name = sso.configuration_or_404().name
    try:
        unlink_identity(user_id=request.user.pk, actor=request.user, at=timezone.now())
    except Refusal as refusal:
        return refusal_page(request, refusal)
    messages.success(request, f"Your account is no longer linked with {name}.")
    return redirect("accounts:profile")
