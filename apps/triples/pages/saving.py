"""Saving the bench, by its button or automatically."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.edges.access import member_view
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.triples.edges.bench import render_bench
from apps.triples.edges.saving import save_bench
from apps.triples.edges.writing import snapshot_or_404, started_draft
from apps.triples.forms.bench import BenchForm
from apps.triples.forms.block_fieldset import whole
from apps.triples.models import Triple
from apps.triples.pages.audience import WRITERS
from apps.triples.selectors.draft_checks import EMPTY


@member_view(*WRITERS)
@require_POST
def save(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save by the button; returns the bench, with another block to read when one was requested."""
    page, triple = save_bench(request, project, pk)
    if triple is None:
        return render_bench(request, page, status=409 if page.form.is_valid() else 400)
    address = reverse("triples:edit", args=[project.slug, triple.pk])
    verb, _, block = request.POST.get("do", "").partition(":")
    if verb == "add" and whole(block):
        return redirect(f"{address}?block={whole(block)}")
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
