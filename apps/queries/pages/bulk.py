"""The page that changes many queries at once: what is chosen, a preview, and the change that was previewed."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.edges.access import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.digests import digest_of
from apps.queries import actions, rules, selectors
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.forms import BulkForm, FilterForm
from apps.queries.models import Source


@require_POST
@member_view(Role.LEAD)
def change(request: HttpRequest, project: Project) -> HttpResponse:
    """Change the ticked queries, or all that match the filter in the address, once the preview was seen."""
    query_ids = _chosen(request, project)
    if not query_ids:
        messages.warning(request, "Select queries first, or change all that match the filter.")
        return _to_list(request, project)
    step = request.POST.get("step", "")
    form = BulkForm(request.POST if step else None, project=project)
    seen: dict[str, Any] = {}
    if step and form.is_valid():
        seen = _preview(project, query_ids, form.change)
        if reason := rules.bulk_refusal(project, form.change, len(query_ids)):
            form.add_error(None, reason)
        elif step == "apply" and request.POST.get("seen") == seen["seen"]:
            return _applied(request, project, query_ids, form.change)
    context = {
        "form": form,
        "number": len(query_ids),
        "which": request.POST.get("which", ""),
        "ticked": query_ids if request.POST.get("which") != "all" else [],
        "is_outdated": step == "apply" and bool(seen),
        "section": "Queries",
        **({} if form.errors else seen),
    }
    return render(request, "queries/change.html", context, status=400 if form.errors else 200)


def _applied(request: HttpRequest, project: Project, query_ids: list[int], change: BulkChange) -> HttpResponse:
    changed = actions.change_queries(
        project=project, query_ids=query_ids, change=change, actor=user_of(request), at=timezone.now()
    )
    queries = "1 query was" if changed == 1 else f"{changed:,} queries were"
    messages.success(request, f"{queries} changed. The audit has each change.")
    return _to_list(request, project)


def _preview(project: Project, query_ids: list[int], change: BulkChange) -> dict[str, Any]:
    """The counts to show, and a digest of what they are about: only what was seen is applied."""
    preview = selectors.preview_of(project, query_ids, change)
    values = [[row.field, _slug(row.before), _slug(row.after), row.number] for row in preview.transitions]
    labels = {**selectors.STRATA, "group_key": "Group", "tags": "Tags"}
    return {
        "preview": preview,
        "rows": [(labels[row.field], row.before, row.after, row.number) for row in preview.transitions],
        "staying": preview.queries - preview.changing,
        "retired": len(query_ids) - preview.queries,
        "seen": digest_of([sorted(query_ids), values]),
    }


def _slug(value: Any) -> Any:
    return value.slug if isinstance(value, Source) else value


def _chosen(request: HttpRequest, project: Project) -> list[int]:
    queries = selectors.queries_in(project)
    if request.POST.get("which") == "all":
        queries = selectors.narrowed(queries, FilterForm(request.GET, project=project).filters())
    else:
        ticked = [int(pk) for pk in request.POST.getlist("query") if pk.isdecimal() and len(pk) <= 18]
        queries = queries.filter(pk__in=ticked)
    return list(queries.values_list("pk", flat=True))


def _to_list(request: HttpRequest, project: Project) -> HttpResponse:
    return redirect(f"{reverse('queries:list', args=[project.slug])}?{request.GET.urlencode()}".removesuffix("?"))
