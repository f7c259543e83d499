"""What there is to judge, and how far it is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.access import member_view
from apps.accounts.models import Project


@require_safe
@member_view()
def index(request: HttpRequest, project: Project) -> HttpResponse:
    """The rounds: a lead sees all of them, an annotator their own work."""
    return render(request, "judging/index.html", {"section": "Judging"})
