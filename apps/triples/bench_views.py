"""The bench's endpoints: opening it, saving what it holds, and the parts that it asks for while somebody writes."""

import json
import secrets
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import member_of, member_view
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.queries.selectors import Filters, live_queries, narrowed
from apps.triples import actions, rules
from apps.triples.bench import Bench, Reading, bench_of, context_of, render_bench, search
from apps.triples.chosen import Row, changed, whole
from apps.triples.drafting import EMPTY
from apps.triples.forms import BenchForm
from apps.triples.models import Revision, Triple
from apps.triples.selectors import (
    entry_of_block,
    neighbours,
    newest_snapshot,
    newest_snapshot_of_block,
    open_revision,
    triple_for,
    writing_snapshot,
)
from apps.triples.views import READERS, WRITERS, words_sought

STARTED = "bench-started"
MOST_STARTED = 20
MOST_QUERIES = 8


# Opening it --------------------------------------------------------------------------------------------------------


def _wanted(request: HttpRequest) -> int | None:
    return whole(request.GET.get("block", ""))


def _snapshot(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot | None:
    """What is written against: the newest of the triple's corpus, of the corpus that was named, or of all."""
    if triple is not None:
        return writing_snapshot(triple)
    corpus = whole((request.POST or request.GET).get("corpus", ""))
    named = newest_snapshot(project, corpus) if corpus else None
    return named or newest_snapshot(project)


def _snapshot_or_404(request: HttpRequest, project: Project, triple: Triple | None = None) -> Snapshot:
    snapshot = _snapshot(request, project, triple)
    if snapshot is None:
        raise Http404("No snapshot is frozen.")
    return snapshot


@member_view(*READERS)
@require_GET
def bench(request: HttpRequest, project: Project) -> HttpResponse:
    """An empty bench: from a block (`?block=`), a query (`?query=`) or nothing. Who only reviews gets the list."""
    if not member_of(request).holds(*WRITERS):
        return redirect("triples:list", slug=project.slug)
    wanted = _wanted(request)
    snapshot = (newest_snapshot_of_block(project, wanted) if wanted else None) or _snapshot(request, project)
    if snapshot is None:
        return render(request, "triples/no_snapshot.html", {"section": "Bench"})
    query = _query(project, request.GET.get("query", ""))
    # Behind a search a block is only read.
    expected = wanted if wanted and not words_sought(request) and entry_of_block(snapshot, wanted) else None
    initial = {
        "seen_version": 0,
        "corpus": snapshot.corpus_id,
        "started": secrets.token_urlsafe(12),
        "blocks": [Row(expected)] if expected else [],
    }
    form = BenchForm(project=project, snapshot=snapshot, initial=initial | (_from_query(query) if query else {}))
    page = Bench(project, member_of(request).user, snapshot, form, query=query, wanted_block=wanted)
    page.sought = words_sought(request) or (query.text if query else "")
    return render_bench(request, page)


def _query(project: Project, text: str) -> Query | None:
    number = whole(text)
    return get_object_or_404(Query, project=project, pk=number) if number is not None else None


def _from_query(query: Query) -> dict[str, Any]:
    return {
        "query": query.pk,
        "question": query.text,
        "source": query.source_id,
        "domain": query.domain,
        "difficulty": query.difficulty,
    }


@member_view(*WRITERS)
@require_GET
def edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The bench of the revision that is being written."""
    triple = triple_for(member_of(request), pk)
    revision = open_revision(triple)
    if revision is None or rules.write_refusal(member_of(request).user, revision):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    page = bench_of(project, member_of(request).user, writing_snapshot(triple), triple, revision)
    page.sought, page.wanted_block = words_sought(request), _wanted(request)
    return render_bench(request, page)


# Saving ------------------------------------------------------------------------------------------------------------


def save_bench(request: HttpRequest, project: Project, pk: int | None) -> tuple[Bench, Triple | None]:
    """Save what the bench posted, as a new draft or into the open revision.

    Returns the bench, and the triple, or None when a field is wrong or somebody saved in between: then the bench
    still holds all that was posted and says what is wrong. A new draft that was posted before, whose answer got lost
    or whose button was pressed twice, is saved into what it became then.
    """
    pk = pk or _started(request)
    triple = triple_for(member_of(request), pk) if pk else None
    snapshot = _snapshot_or_404(request, project, triple)
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = _writable(request, triple), triple.query
    if not form.is_valid():
        page.notice = "Nothing was saved: a field needs another look."
        return page, None
    try:
        saved = _store(request, page)
    except actions.EditConflict as conflict:
        page.notice = conflict.sentence
        return page, None
    if triple is None:
        _remember(request, form.cleaned_data["started"], saved)
    return page, saved


def _started(request: HttpRequest) -> int | None:
    """The draft that this bench became by an earlier post, as this session remembers it."""
    return request.session.get(STARTED, {}).get(request.POST.get("started", ""))


def _remember(request: HttpRequest, key: str, triple: Triple) -> None:
    if key:
        known = list(request.session.get(STARTED, {}).items())[1 - MOST_STARTED :]
        request.session[STARTED] = dict(known) | {key: triple.pk}


def _writable(request: HttpRequest, triple: Triple) -> Revision:
    revision = open_revision(triple)
    if revision is None:
        raise actions.DraftRefused("No revision is open; its wording is fixed.", code="no_open_revision")
    if reason := rules.write_refusal(member_of(request).user, revision):
        raise actions.DraftRefused(reason, code="not_editable")
    return revision


def _store(request: HttpRequest, page: Bench) -> Triple:
    data, at = page.form.cleaned_data, timezone.now()
    if page.triple is not None:
        return actions.save_draft(
            project=page.project,
            triple_id=page.triple.pk,
            author=page.person,
            seen_version=data["seen_version"] or 0,
            snapshot=page.snapshot,
            wording=page.form.wording(),
            at=at,
        )
    query = get_object_or_404(Query, project=page.project, pk=data["query"]) if data["query"] else None
    return actions.start_draft(
        project=page.project,
        author=page.person,
        snapshot=page.snapshot,
        wording=page.form.wording(),
        query=query,
        at=at,
    )


@member_view(*WRITERS)
@require_POST
def save(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    page, triple = save_bench(request, project, pk)
    if triple is None:
        return render_bench(request, page, status=409 if page.form.is_valid() else 400)
    address = reverse("triples:edit", args=[project.slug, triple.pk])
    verb, _, block = request.POST.get("do", "").partition(":")
    if verb == "add" and whole(block):
        return redirect(f"{address}?block={whole(block)}")
    messages.info(request, f"{triple.label} is saved. Only you and leads see it until you submit.")
    return redirect(address)


@member_view(*WRITERS)
@require_POST
def autosave(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save as the button does and answer in JSON: the version and where the draft lives now, or what is wrong.

    204: a new bench that holds nothing yet; there is nothing to save.
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
    """The form of a new draft in which nobody has written or chosen anything."""
    form = BenchForm(request.POST, project=project, snapshot=_snapshot_or_404(request, project))
    return form.is_valid() and form.wording()._replace(answers=()) == EMPTY and _started(request) is None


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


# Parts -------------------------------------------------------------------------------------------------------------


@member_view(*WRITERS)
@require_GET
def find(request: HttpRequest, project: Project) -> HttpResponse:
    """The list of found blocks, for the search field."""
    snapshot = _snapshot_or_404(request, project)
    sought = words_sought(request)
    context = {"results": search(snapshot, sought), "sought": sought, "snapshot": snapshot, "project": project}
    return render(request, "triples/_results.html", context)


@member_view(*WRITERS)
@require_GET
def queries(request: HttpRequest, project: Project) -> HttpResponse:
    """Imported queries with the typed words, to start a triple from."""
    sought = words_sought(request)
    found = narrowed(live_queries(project), Filters(text=sought))[:MOST_QUERIES] if sought else []
    return render(request, "triples/_queries.html", {"queries": found, "sought": sought, "project": project})


@member_view(*WRITERS)
@require_GET
def block(request: HttpRequest, project: Project, block_id: int) -> HttpResponse:
    """One block to read, with the marks that the page holds on it."""
    snapshot = newest_snapshot_of_block(project, block_id)
    entry = entry_of_block(snapshot, block_id) if snapshot else None
    if entry is None:
        raise Http404("No such block in the newest snapshot.")
    marks = request.GET.get("spans")
    try:
        spans = [(int(start), int(end)) for start, end in json.loads(marks or "[]")]
    except (ValueError, TypeError, OverflowError):
        spans = []
    reading = Reading(entry, spans, neighbours(entry), is_expected=marks is not None)
    return render(request, "triples/_block.html", {"reading": reading, "swapped": True, "project": project})


@member_view(*WRITERS)
@require_POST
def chosen(request: HttpRequest, project: Project) -> HttpResponse:
    """The expected blocks that the form holds, drawn anew; nothing is saved."""
    form = BenchForm(changed(request.POST), project=project, snapshot=_snapshot_or_404(request, project))
    return render(request, "triples/_chosen.html", {"form": form, "expected": form.expected, "project": project})


@member_view(*WRITERS)
@require_POST
def checks(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """The checks on what the form holds now; nothing is saved."""
    pk = pk or _started(request)
    triple = triple_for(member_of(request), pk) if pk else None
    snapshot = _snapshot_or_404(request, project, triple)
    form = BenchForm(request.POST, project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = open_revision(triple), triple.query
    else:
        page.query = _query(project, request.POST.get("query", ""))
    return render(request, "triples/_checks.html", context_of(page) | {"swapped": True})
