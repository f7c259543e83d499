"""The bench: opening it, its parts as fragments, what the retrievers find, and saving."""

import json
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.web.requests import key_in
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import freezable_in
from apps.queries.models import Query
from apps.queries.selectors import QueryFilters, live_queries, narrowed
from apps.retrieval.actions.systems import request_indexes
from apps.triples import rules
from apps.triples.forms import BenchForm, SentBlock, changed
from apps.triples.models import Triple
from apps.triples.pages.triples import words_sought
from apps.triples.presenters import (
    Bench,
    BlockReading,
    bench_of,
    context_of,
    query_of,
    render_bench,
    save_bench,
    search,
    snapshot_for,
    snapshot_or_404,
    started_draft,
)
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.draft_checks import EMPTY
from apps.triples.selectors.retriever_hits import panel, top_hits
from apps.triples.selectors.triples import (
    entry_of_block,
    last_about,
    neighbours,
    newest_snapshot_of_block,
    open_revision,
    triple_for,
    writing_snapshot,
)

MOST_QUERIES = 8
ABOUT = ("source", "domain", "difficulty")
"""Fields of an empty bench that its address may fill, as the balance board does."""
LONGEST_QUESTION = 2000


@member_view(*WRITERS)
@require_safe
def find(request: HttpRequest, project: Project) -> HttpResponse:
    """The list of matching blocks, for the search field."""
    snapshot = snapshot_or_404(request, project)
    sought = words_sought(request)
    context = {"results": search(snapshot, sought), "sought": sought, "snapshot": snapshot}
    return render(request, "triples/_results.html", context)


@member_view(*WRITERS)
@require_safe
def queries(request: HttpRequest, project: Project) -> HttpResponse:
    """Imported queries that match the search, to start a triple from."""
    sought = words_sought(request)
    rows = narrowed(live_queries(project), QueryFilters(text=sought))[:MOST_QUERIES] if sought else []
    return render(request, "triples/_queries.html", {"queries": rows, "sought": sought})


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
    return render(request, "triples/_block.html", {"reading": reading, "swapped": True})


@member_view(*WRITERS)
@require_POST
def chosen(request: HttpRequest, project: Project) -> HttpResponse:
    """The expected blocks of the form, rendered again; nothing is saved."""
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot_or_404(request, project))
    return render(request, "triples/_chosen.html", {"form": form, "expected": form.expected})


@member_view(*WRITERS)
@require_POST
def checks(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """The checks on the form as it is now; nothing is saved."""
    triple = triple_for(member_of(request), pk) if pk else started_draft(request, project)
    snapshot = snapshot_or_404(request, project, triple)
    form = BenchForm(request.POST, project=project, snapshot=snapshot)
    page = Bench(project, user_of(request), snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = open_revision(triple), triple.query
    else:
        page.query = query_of(project, request.POST.get("query", ""))
    return render(request, "triples/_checks.html", context_of(page) | {"swapped": True})


@member_view(*WRITERS)
@require_POST
def save(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save by the button; returns the bench, with another block to read when one was requested."""
    page, triple = save_bench(request, project, pk)
    if triple is None:
        return render_bench(request, page, status=409 if page.form.is_valid() else 400)
    address = reverse("triples:edit", args=[project.slug, triple.pk])
    verb, _, block = request.POST.get("do", "").partition(":")
    if verb == "add" and key_in(block):
        return redirect(f"{address}?block={key_in(block)}")
    messages.info(request, f"{triple.label} is saved. Only you and leads see it until you submit it.")
    return redirect(address)


@member_view(*WRITERS)
@require_POST
def autosave(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save as the button does and answer in JSON: the version and the draft's address, or the faults.

    204: a new bench without any content, not saved.
    """
    try:
        if pk is None and _is_blank(request, project):
            return HttpResponse(status=204)
        page, triple = save_bench(request, project, pk)
    except Refusal as refusal:
        return JsonResponse({"problem": refusal.sentence}, status=refusal.status)
    if triple is None:
        if page.form.is_valid():
            return JsonResponse({"problem": page.notice}, status=409)
        faults = dict.fromkeys(str(fault) for faults in page.form.errors.values() for fault in faults)
        return JsonResponse({"problem": " ".join(faults)}, status=400)
    return JsonResponse(_saved(project, triple))


def _is_blank(request: HttpRequest, project: Project) -> bool:
    """Whether this is a new draft in which nothing was written or chosen."""
    form = BenchForm(request.POST, project=project, snapshot=snapshot_or_404(request, project))
    return form.is_valid() and form.wording()._replace(answers=()) == EMPTY and started_draft(request, project) is None


def _saved(project: Project, triple: Triple) -> dict[str, Any]:
    names = {
        "edit": "triples:edit",
        "save": "triples:save",
        "autosave": "triples:autosave",
        "checks": "triples:checks",
        "submit": "review:submit",
        "withdraw": "triples:withdraw",
    }
    return {
        "label": triple.label,
        "version": triple.edit_version,
        "saved_at": timezone.now().isoformat(),
        "addresses": {name: reverse(view, args=[project.slug, triple.pk]) for name, view in names.items()},
    }


def _panel(request: HttpRequest, project: Project, snapshot: Snapshot) -> HttpResponse:
    data = request.POST or request.GET
    query = query_of(project, data.get("query", ""))
    text = data.get("question", "").replace("\x00", "")[:LONGEST_QUESTION]
    hits = top_hits(project, snapshot, text, query)
    expected = [block for value in data.getlist("block") if (block := key_in(value)) is not None]
    shown = panel(snapshot, hits, expected=expected, query=query)
    return render(request, "triples/_hits.html", shown)


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
    job = request_indexes(project=project, snapshot_id=snapshot.pk, actor=user_of(request), at=timezone.now())
    if "HX-Request" in request.headers:
        return _panel(request, project, snapshot)
    messages.info(request, f"{job.title}: results appear once it is done.")
    return redirect(f"{reverse('triples:bench', args=[project.slug])}?corpus={snapshot.corpus_id}")


def wanted_block(request: HttpRequest) -> int | None:
    return key_in(request.GET.get("block", ""))


@member_view(*READERS)
@require_safe
def bench(request: HttpRequest, project: Project) -> HttpResponse:
    """An empty bench: from a block (`?block=`), a query (`?query=`) or nothing. People who only review get the list."""
    if not member_of(request).holds(*WRITERS):
        return redirect("triples:list", slug=project.slug)
    wanted = wanted_block(request)
    snapshot = (newest_snapshot_of_block(project, wanted) if wanted else None) or snapshot_for(request, project)
    if snapshot is None:
        context = {"section": "Write Q&A", "freezable": freezable_in(project)}
        return render(request, "triples/no_snapshot.html", context)
    query = query_of(project, request.GET.get("query", ""))
    # With a search, a block is only shown to read.
    expected = wanted if wanted and not words_sought(request) and entry_of_block(snapshot, wanted) else None
    last = None if query else last_about(project, user_of(request))
    about: dict[str, Any] = {"source": last.source_id, "domain": last.domain} if last else {}
    about |= {name: request.GET[name] for name in ABOUT if name in request.GET}
    initial = {
        "seen_version": 0,
        "corpus": snapshot.corpus_id,
        "key": uuid4().hex,
        "blocks": [SentBlock(expected)] if expected else [],
    }
    form = BenchForm(project=project, snapshot=snapshot, initial=initial | (_from_query(query) if query else about))
    page = Bench(project, user_of(request), snapshot, form, query=query, wanted_block=wanted)
    page.about_from = last.label if last else ""
    page.sought = words_sought(request) or (query.text if query else "")
    return render_bench(request, page)


def _from_query(query: Query) -> dict[str, Any]:
    return {
        "query": query.pk,
        "question": query.text,
        "source": query.source_id,
        "domain": query.domain,
        "difficulty": query.difficulty,
    }


@member_view(*WRITERS)
@require_safe
def edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The bench of the open revision."""
    triple = triple_for(member_of(request), pk)
    revision = open_revision(triple)
    if revision is None or rules.write_refusal(user_of(request), revision):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    page = bench_of(project, user_of(request), writing_snapshot(triple), triple, revision)
    page.sought, page.wanted_block = words_sought(request), wanted_block(request)
    return render_bench(request, page)
