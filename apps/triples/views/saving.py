"""Saving what the bench holds, by its button or while somebody writes."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.access import member_of, member_view
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.queries.models import Query
from apps.triples import actions, rules
from apps.triples.bench import Bench, render_bench
from apps.triples.chosen import changed, whole
from apps.triples.drafting import EMPTY
from apps.triples.forms import BenchForm
from apps.triples.models import Revision, Triple
from apps.triples.selectors import (
    open_revision,
    triple_for,
)
from apps.triples.views import WRITERS
from apps.triples.views.writing import snapshot_or_404, started_draft


@transaction.atomic
def save_bench(request: HttpRequest, project: Project, pk: int | None) -> tuple[Bench, Triple | None]:
    """Save what the bench posted, as a new draft or into the open revision.

    Returns the bench, and the triple, or None when a field is wrong or somebody saved in between: then the bench
    still holds all that was posted and says what is wrong. A new draft that was posted before, whose answer got lost
    or whose button was pressed twice, is saved into what it became then.
    """
    triple = triple_for(member_of(request), pk) if pk else started_draft(request, project)
    snapshot = snapshot_or_404(request, project, triple)
    form = BenchForm(changed(request.POST), project=project, snapshot=snapshot)
    page = Bench(project, member_of(request).user, snapshot, form, triple=triple)
    if triple is not None:
        page.revision, page.query = _writable(request, triple), triple.query
    if not form.is_valid():
        page.notice = "Nothing was saved: a field needs another look."
        return page, None
    try:
        return page, _store(request, page)
    except actions.AlreadyStarted as meanwhile:
        return save_bench(request, project, meanwhile.triple.pk)
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
        idempotency_key=data["key"],
        at=at,
    )


@member_view(*WRITERS)
@require_POST
def save(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save by the button; the bench comes back, with another block to read when that was asked for."""
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
