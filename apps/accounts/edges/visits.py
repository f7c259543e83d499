"""Letting a person in: the session in this browser, which is known from then on."""

from django.contrib.auth import login as start_session
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from apps.accounts.edges.known_devices import remember_device
from apps.accounts.models import User

BACKEND = "django.contrib.auth.backends.ModelBackend"


def let_in(request: HttpRequest, user: User, where: str) -> HttpResponse:
    """Start a session and lead to a page of our own. Whoever lets somebody in has found out who it is."""
    start_session(request, user, backend=BACKEND)
    response = redirect(where)
    remember_device(response, request, user.email)
    return response
