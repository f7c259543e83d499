"""The page of the key that signs a project's exports."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.goldsets.actions.signing import make_signing_key
from apps.goldsets.selectors.signing import keys_of


@require_safe
@member_view()
def signing(request: HttpRequest, project: Project) -> HttpResponse:
    keys = keys_of(project)
    context = {
        "section": "Versions",
        "current": next((key for key in keys if key.ended_at is None), None),
        "earlier": [key for key in keys if key.ended_at is not None],
    }
    return render(request, "goldsets/signing.html", context)


@member_view(Role.LEAD)
@require_POST
def make_key(request: HttpRequest, project: Project) -> HttpResponse:
    key = make_signing_key(project=project, actor=member_of(request).user, at=timezone.now())
    messages.success(request, f"Downloads are signed from now on, with the key {key.fingerprint}.")
    return redirect("goldsets:signing", slug=project.slug)
