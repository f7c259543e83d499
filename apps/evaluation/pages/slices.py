"""The page of a version's slices."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from apps.accounts.access.pages import member_view
from apps.accounts.models import Project
from apps.evaluation.pages.slices_context import SlicesPage
from apps.evaluation.presenters.run_panels import on_slices_page
from apps.evaluation.presenters.version_choice import (
    SECTION,
    hits_of,
    offered_versions,
    requested_hit,
    requested_version,
)
from apps.goldsets.enums import GROWING


@require_safe
@member_view()
def slices(request: HttpRequest, project: Project) -> HttpResponse:
    """How much of the full set's signal each slice keeps, how the quarter's is balanced, and how it rotates."""
    version = requested_version(request, project)
    if version is None:
        return render(request, "evaluation/slices.html", {**SECTION, "version": None})
    hit = requested_hit(request, version)
    page = SlicesPage(version, hit, request.GET.get("measure", ""), timezone.localdate())
    context = {
        **SECTION,
        "version": version,
        "versions": offered_versions(project),
        "hit": hit,
        "hits": hits_of(version, hit),
        "slices": page,
        "panels": [panel(version) for panel in on_slices_page],
        "growing": GROWING,
    }
    return render(request, "evaluation/slices.html", context)
