"""The own profile: name, time zone, password, sessions, tokens, and the link with the provider of single sign-on."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts import rules, selectors
from apps.accounts.access.pages import PersonRequest
from apps.accounts.actions import people, sign_ins, tokens
from apps.accounts.forms import OwnPasswordForm, PasswordForm, ProfileForm
from apps.accounts.models import User
from apps.common.templatetags.karat import plural


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
