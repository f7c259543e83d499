"""The bench, the lists of triples, and what an author or a lead does to one outside of its reviews."""

import json
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.queries.models import Query
from apps.triples import actions, rules
from apps.triples.bench import Bench, Reading, bench_of, context_of, render_bench, search
from apps.triples.enums import RetireReason, State
from apps.triples.forms import BenchForm, RetireForm
from apps.triples.models import Revision, Triple
from apps.triples.selectors import (
    entry_of_block,
    neighbours,
    newest_snapshot,
    open_revision,
    states_of,
    triple_for,
    visible_triples,
)

WRITERS = (Role.ANNOTATOR, Role.LEAD)
READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
PER_PAGE = 50
MOST_SOUGHT = 500


# Lists -------------------------------------------------------------------------------------------------------------


def _sought(request: HttpRequest) -> str:
    """The words that were typed; PostgreSQL takes no NUL."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]


def _listed(request: HttpRequest, project: Project, found: Any, *, title: str, mine: bool) -> HttpResponse:
    state = request.GET.get("state", "")
    if state == "stale":
        found = found.filter(is_stale=True)
    elif state in State.values:
        found = found.filter(state=state)
    words = _sought(request)
    if words:
        number = words.upper().removeprefix("T-")
        by_number = found.filter(number=int(number)) if number.isdecimal() and len(number) < 9 else found.none()
        found = by_number | found.filter(current__question__icontains=words)
    page = Paginator(found.order_by("-number"), PER_PAGE).get_page(request.GET.get("page"))
    newest = newest_snapshot(project)
    return render(
        request,
        "triples/list.html",
        {
            "section": "Bench",
            "title": title,
            "mine": mine,
            "page": page,
            "states": _state_choices(project),
            "state": state,
            "words": words,
            "newest": newest,
            "can_write": member_of(request).holds(*WRITERS),
        },
    )


def _state_choices(project: Project) -> list[tuple[str, str, int]]:
    counted = states_of(project)
    labels = {state.value: state.label for state in State} | {"stale": "Stale"}
    return [(value, labels[value], count) for value, count in counted.items() if count]


@member_view(*READERS)
@require_GET
def triples(request: HttpRequest, project: Project) -> HttpResponse:
    return _listed(request, project, visible_triples(member_of(request)), title="All triples", mine=False)


@member_view(*READERS)
@require_GET
def mine(request: HttpRequest, project: Project) -> HttpResponse:
    found = visible_triples(member_of(request)).filter(author=member_of(request).user)
    return _listed(request, project, found, title="My triples", mine=True)


@member_view(Role.LEAD)
@require_POST
def refresh(request: HttpRequest, project: Project) -> HttpResponse:
    """Compare what is accepted with the newest snapshot and mark what changed."""
    marked = [
        triple
        for corpus in project.corpora.order_by("pk")
        if (snapshot := newest_snapshot(project, corpus.pk))
        for triple in actions.refresh_staleness(project=project, snapshot=snapshot, at=timezone.now())
    ]
    if marked:
        messages.warning(request, f"Marked stale: {', '.join(triple.label for triple in marked)}.")
    else:
        messages.info(request, "Every accepted triple still rests on the text it was written for.")
    return redirect("triples:list", slug=project.slug)


# Bench -------------------------------------------------------------------------------------------------------------


def _wanted(request: HttpRequest) -> int | None:
    block = request.GET.get("block", "")
    return int(block) if block.isdecimal() and len(block) < 18 else None


def _no_snapshot(request: HttpRequest) -> HttpResponse:
    return render(request, "triples/no_snapshot.html", {"section": "Bench"})


@member_view(*READERS)
@require_GET
def bench(request: HttpRequest, project: Project) -> HttpResponse:
    """An empty bench: from a block (`?block=`), a query (`?query=`) or nothing. Who only reviews gets the list."""
    if not member_of(request).holds(*WRITERS):
        return redirect("triples:list", slug=project.slug)
    snapshot = newest_snapshot(project)
    if snapshot is None:
        return _no_snapshot(request)
    initial: dict[str, Any] = {"seen_version": 0, "spans": "[]", "block": _wanted(request)}
    sought = _sought(request)
    query = request.GET.get("query", "")
    if query.isdecimal() and len(query) < 18:
        need = get_object_or_404(Query, project=project, pk=int(query))
        initial |= {
            "query": need.pk,
            "question": need.text,
            "source": need.source_id,
            "domain": need.domain,
            "difficulty": need.difficulty,
        }
        sought = sought or need.text
    form = BenchForm(project=project, snapshot=snapshot, initial=initial)
    page = Bench(project, member_of(request).user, snapshot, form, sought=sought, wanted_block=_wanted(request))
    return render_bench(request, page)


def _snapshot_for(triple: Triple) -> Snapshot:
    return newest_snapshot(triple.project, triple.snapshot.corpus_id) or triple.snapshot


@member_view(*WRITERS)
@require_GET
def edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The bench of the revision that is being written."""
    triple = triple_for(member_of(request), pk)
    revision = open_revision(triple)
    if revision is None or rules.write_refusal(member_of(request).user, revision):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    page = bench_of(project, member_of(request).user, _snapshot_for(triple), triple, revision)
    page.sought, page.wanted_block = _sought(request), _wanted(request)
    return render_bench(request, page)


def save_bench(request: HttpRequest, project: Project, pk: int | None) -> tuple[Bench, Triple | None]:
    """Save what the bench posted, as a new draft or into the open revision.

    Returns the bench, and the triple, or None when a field is wrong or somebody saved in between: then the bench
    still holds all that was posted and says what is wrong.
    """
    triple = triple_for(member_of(request), pk) if pk else None
    snapshot = _snapshot_for(triple) if triple else newest_snapshot(project)
    if snapshot is None:
        raise Http404("No snapshot is frozen.")
    form = BenchForm(request.POST, project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision = _writable(request, triple)
    if not form.is_valid():
        page.notice = "Nothing was saved: a field needs another look."
        return page, None
    try:
        return page, _store(request, page)
    except actions.EditConflict as conflict:
        page.notice = conflict.sentence
        return page, None


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
    messages.info(request, f"{triple.label} is saved. Only you and leads see it until you submit.")
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(*WRITERS)
@require_GET
def find(request: HttpRequest, project: Project) -> HttpResponse:
    """The list of found blocks, for the search field."""
    snapshot = newest_snapshot(project)
    if snapshot is None:
        raise Http404("No snapshot is frozen.")
    sought = _sought(request)
    context = {"results": search(snapshot, sought), "sought": sought, "snapshot": snapshot, "project": project}
    return render(request, "triples/_results.html", context)


@member_view(*WRITERS)
@require_GET
def block(request: HttpRequest, project: Project, block_id: int) -> HttpResponse:
    """One block to read, with the marks that the page holds on it."""
    snapshot = newest_snapshot(project)
    entry = entry_of_block(snapshot, block_id) if snapshot else None
    if entry is None:
        raise Http404("No such block in the newest snapshot.")
    try:
        spans = [(int(start), int(end)) for start, end in json.loads(request.GET.get("spans") or "[]")]
    except (ValueError, TypeError, OverflowError):
        spans = []
    context = {"reading": Reading(entry, spans, neighbours(entry)), "swapped": True, "project": project}
    return render(request, "triples/_block.html", context)


@member_view(*WRITERS)
@require_POST
def checks(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """The checks on what the form holds now; nothing is saved."""
    triple = triple_for(member_of(request), pk) if pk else None
    snapshot = _snapshot_for(triple) if triple else newest_snapshot(project)
    if snapshot is None:
        raise Http404("No snapshot is frozen.")
    form = BenchForm(request.POST, project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    return render(request, "triples/_checks.html", context_of(page) | {"swapped": True})


# Ends --------------------------------------------------------------------------------------------------------------


@member_view(*WRITERS)
@require_POST
def withdraw(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    actions.withdraw_draft(project=project, triple_id=triple.pk, author=member_of(request).user, at=timezone.now())
    messages.info(request, f"{triple.label} is withdrawn.")
    return redirect("triples:mine", slug=project.slug)


@member_view(*WRITERS)
@require_POST
def reopen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    actions.reopen_as_draft(
        project=project,
        triple_id=triple.pk,
        author=member_of(request).user,
        snapshot=_snapshot_for(triple),
        at=timezone.now(),
    )
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(Role.LEAD)
@require_POST
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = RetireForm(request.POST)
    if not form.is_valid():
        raise actions.RetireRefused("Retiring needs one of the three reasons.", code="reason_missing")
    actions.retire_triple(
        project=project,
        triple_id=triple.pk,
        lead=member_of(request).user,
        roles=member_of(request).roles,
        reason=RetireReason(form.cleaned_data["reason"]),
        at=timezone.now(),
    )
    messages.info(request, f"{triple.label} is retired.")
    return redirect("review:triple", slug=project.slug, pk=triple.pk)
