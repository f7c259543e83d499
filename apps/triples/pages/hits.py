"""The panel of every retriever's top hits, and the request for missing indexes."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.retrieval.actions.loading import request_indexes
from apps.triples.edges.writing import query_of, snapshot_or_404
from apps.triples.forms.block_fieldset import whole
from apps.triples.pages.audience import WRITERS
from apps.triples.selectors.retriever_hits import panel, top_hits

LONGEST = 2000


def _panel(request: HttpRequest, project: Project, snapshot: Snapshot) -> HttpResponse:
    data = request.POST or request.GET
    query = query_of(project, data.get("query", ""))
    text = data.get("question", "").replace("\x00", "")[:LONGEST]
    hits = top_hits(project, snapshot, text, query)
    expected = [block for value in data.getlist("block") if (block := whole(value)) is not None]
    shown = panel(snapshot, hits, expected=expected, query=query)
    return render(request, "triples/_hits.html", shown | {"project": project})


@member_view(*WRITERS)
@require_safe
def hits(request: HttpRequest, project: Project) -> HttpResponse:
    """The top hits of every retriever for the text in the question field."""
    return _panel(request, project, snapshot_or_404(request, project))


@member_view(*WRITERS)
@require_POST
def build_hits(request: HttpRequest, project: Project) -> HttpResponse:
    """Enqueue a job that builds the missing indexes of the snapshot."""
    snapshot = snapshot_or_404(request, project)
    job = request_indexes(project=project, snapshot_id=snapshot.pk, actor=member_of(request).user, at=timezone.now())
    if "HX-Request" in request.headers:
        return _panel(request, project, snapshot)
    messages.info(request, f"{job.title}: results appear once it is done.")
    return redirect(f"{reverse('triples:bench', args=[project.slug])}?corpus={snapshot.corpus_id}")
