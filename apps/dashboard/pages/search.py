"""The search box: a page of what was found, and the few best while somebody types."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.models import Project
from apps.dashboard.pages.search_results import MOST_SOUGHT, search_results

ON_A_PAGE = 20
WHILE_TYPING = 4


@member_view()
@require_safe
@vary_on_headers("HX-Request")
def search(request: MemberRequest, project: Project) -> HttpResponse:
    """What the words find, by kind. htmx gets the list alone."""
    is_typing = "HX-Request" in request.headers
    sought = request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]
    groups = search_results(request.member, sought, limit=WHILE_TYPING if is_typing else ON_A_PAGE)
    context = {"sought": sought, "groups": groups, "section": "Search"}
    return render(request, "dashboard/_search_results.html" if is_typing else "dashboard/search.html", context)
