"""The own profile, and the operator's provider (OpenID Connect), with which people sign in and link their account."""

from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import rules, selectors
from apps.accounts.access import single_sign_on as sso
from apps.accounts.access.pages import PersonRequest, refusal_page
from apps.accounts.access.sessions import let_in
from apps.accounts.actions import people, sign_ins, tokens
from apps.accounts.actions.identities import link_identity, sign_in_by_identity, unlink_identity
from apps.accounts.actions.sign_ins import SignInRefused
from apps.accounts.core.oidc.flow import begin_flow
from apps.accounts.forms import OwnPasswordForm, PasswordForm, ProfileForm
from apps.accounts.models import User
from apps.common.errors import Refusal
from apps.common.templatetags.karat import plural
from apps.common.web.requests import own_page


@login_required
@require_POST
def end_session(request: PersonRequest, visit_id: int) -> HttpResponse:
    sign_ins.end_visit(visit_id=visit_id, user=request.user, at=timezone.now())
    messages.success(request, "The session is ended. Its next request leads to the sign-in page.")
    return _back_to("sessions")


@login_required
@require_POST
def end_sessions(request: PersonRequest) -> HttpResponse:
    key = request.session.session_key
    number = sign_ins.end_visits(user=request.user, actor=request.user, keep=key, at=timezone.now())
    messages.success(request, f"{plural(number, 'other session')} ended. You stay signed in here.")
    return _back_to("sessions")


@login_required
@require_POST
def revoke_token(request: PersonRequest, token_id: int) -> HttpResponse:
    token = tokens.revoke_token(token_id=token_id, user=request.user, at=timezone.now())
    messages.success(request, f"{token.name} is revoked. Requests that use it are rejected from now on.")
    return _back_to("tokens")


@login_required
@require_POST
def revoke_tokens(request: PersonRequest) -> HttpResponse:
    number = tokens.revoke_tokens(user=request.user, actor=request.user, at=timezone.now())
    messages.success(request, f"{plural(number, 'token')} revoked. Requests that use them are rejected from now on.")
    return _back_to("tokens")


def _back_to(section: str) -> HttpResponse:
    return redirect(f"{reverse('accounts:profile')}#{section}")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: PersonRequest) -> HttpResponse:
    form = ProfileForm(request.POST or None, initial=_start(request))
    if request.method == "POST" and form.is_valid():
        people.change_profile(user=request.user, **form.cleaned_data, at=timezone.now())
        messages.success(request, "Your profile is saved.")
        return redirect("accounts:profile")
    return profile_page(request, form=form)


@sensitive_post_parameters()
@login_required
@require_POST
def password(request: PersonRequest) -> HttpResponse:
    user = request.user
    form = PasswordForm(request.POST, user=user)
    if form.is_valid():
        people.change_password(
            user=user, password=form.cleaned_data["new"], session_key=request.session.session_key, at=timezone.now()
        )
        update_session_auth_hash(request, user)
        messages.success(request, "Your password is changed. Other sessions are signed out.")
        return redirect("accounts:profile")
    return profile_page(request, password_form=form, status=400)


def profile_page(
    request: PersonRequest,
    *,
    form: ProfileForm | None = None,
    password_form: PasswordForm | None = None,
    link_form: OwnPasswordForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page with the forms that were sent, and fresh ones in place of the others."""
    user, sso, at = request.user, settings.SINGLE_SIGN_ON, timezone.now()
    context = {
        "form": form or ProfileForm(initial=_start(request)),
        "password_form": password_form or PasswordForm(user=user),
        "password_refusal": _password_refusal(user),
        "sso": sso,
        "identity": selectors.identity_of(user, sso.issuer) if sso else None,
        "unlink_refusal": rules.unlink_refusal(user),
        "link_form": link_form or link_form_of(user),
        "visits": selectors.visits_of(user, at),
        "this_session": request.session.session_key,
        "tokens": selectors.own_tokens(user, at),
    }
    return render(request, "accounts/profile.html", context, status=status)


def link_form_of(user: User, data: QueryDict | None = None) -> OwnPasswordForm:
    """The form to link the account, whose field has an id of its own beside that of the other form."""
    return OwnPasswordForm(data, user=user, auto_id="id_link_%s")


def _password_refusal(user: User) -> str | None:
    if not user.has_usable_password():
        return "Your account has no password: you sign in without one."
    return rules.password_refusal(user.email, is_operator=user.is_operator)


def _start(request: PersonRequest) -> dict[str, str]:
    return {"name": request.user.name, "time_zone": request.user.time_zone}


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
