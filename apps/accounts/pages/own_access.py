"""Ending own sessions and revoking own tokens, which the profile lists."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts import selectors
from apps.accounts.actions import tokens, visits
from apps.accounts.edges.access import PersonRequest
from apps.common.templatetags.karat import plural


@login_required
@require_POST
def end_session(request: PersonRequest, visit_id: int) -> HttpResponse:
    visits.end_visit(visit_id=visit_id, user=request.user, at=timezone.now())
    messages.success(request, "The session is ended. Its next request leads to the sign-in page.")
    return _back_to("sessions")


@login_required
@require_POST
def end_sessions(request: PersonRequest) -> HttpResponse:
    """End every other session."""
    key = request.session.session_key
    number = visits.end_visits(user=request.user, actor=request.user, keep=key, at=timezone.now())
    messages.success(request, f"{plural(number, 'other session')} ended. You stay signed in here.")
    return _back_to("sessions")


@login_required
@require_POST
def revoke_token(request: PersonRequest, token_id: int) -> HttpResponse:
    token = selectors.own_token(request.user, token_id)
    tokens.revoke_token(token_id=token.pk, project=token.project, user=request.user, at=timezone.now())
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
