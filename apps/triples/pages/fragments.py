"""The fragments that the bench loads while somebody writes. None of them saves anything."""

import json

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.queries.selectors import QueryFilters, live_queries, narrowed
from apps.triples.edges.bench import Bench, BlockReading, context_of, search
from apps.triples.edges.writing import query_of, snapshot_or_404, started_draft
from apps.triples.forms.bench import BenchForm
from apps.triples.forms.block_fieldset import changed
from apps.triples.pages.audience import WRITERS, words_sought
from apps.triples.selectors.triples import (
    entry_of_block,
    neighbours,
    newest_snapshot_of_block,
    open_revision,
    triple_for,
)

MOST_QUERIES = 8


@member_view(*WRITERS)
@require_safe
def find(request: HttpRequest, project: Project) -> HttpResponse:
    """The list of matching blocks, for the search field."""
    snapshot = snapshot_or_404(request, project)
    sought = words_sought(request)
    context = {"results": search(snapshot, sought), "sought": sought, "snapshot": snapshot, "project": project}
    return render(request, "triples/_results.html", context)


@member_view(*WRITERS)
@require_safe
def queries(request: HttpRequest, project: Project) -> HttpResponse:
    """Imported queries that match the search, to start a triple from."""
    sought = words_sought(request)
    rows = narrowed(live_queries(project), QueryFilters(text=sought))[:MOST_QUERIES] if sought else []
    return render(request, "triples/_queries.html", {"queries": rows, "sought": sought, "project": project})


@member_view(*WRITERS)
@require_safe
def block(request: HttpRequest, project: Project, block_id: int) -> HttpResponse:
    """One block to read, with its marks on the page."""
    snapshot = newest_snapshot_of_block(project, block_id)
    entry = entry_of_block(snapshot, block_id) if snapshot else None
    if entry is None:
        raise Http404("No such passage in the newest snapshot.")
    marks = request.GET.get("spans")
    try:
        spans = [(int(start), int(end)) for start, end in json.loads(marks or "[]")]
    except (ValueError, TypeError, OverflowError):
        spans = []
    reading = BlockReading(entry, spans, neighbours(entry), is_expected=marks is not None)
    return render(request, "triples/_block.html", {"reading": reading, "swapped": True, "project": project})


@member_view(*WRITERS)
@require_POST
def chosen(request: HttpRequest, project: Project) -> HttpResponse:
    """The expected blocks of the form, rendered again; nothing is saved."""
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot_or_404(request, project))
    return render(request, "triples/_chosen.html", {"form": form, "expected": form.expected, "project": project})


@member_view(*WRITERS)
@require_POST
def checks(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """The checks on the form as it is now; nothing is saved."""
    triple = triple_for(member_of(request), pk) if pk else started_draft(request, project)
    snapshot = snapshot_or_404(request, project, triple)
    form = BenchForm(request.POST, project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = open_revision(triple), triple.query
    else:
        page.query = query_of(project, request.POST.get("query", ""))
    return render(request, "triples/_checks.html", context_of(page) | {"swapped": True})
