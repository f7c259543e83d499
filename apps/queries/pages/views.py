"""Pages of queries, one or many, of sources and of permissions."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.digests import digest_of
from apps.common.text.wording import plural
from apps.common.web.requests import key_in, keys_in
from apps.queries import rules, selectors
from apps.queries.actions import failures as failures_actions
from apps.queries.actions import queries as queries_actions
from apps.queries.actions import sources as sources_actions
from apps.queries.actions.sources import resting_on
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.core.strata import STRATA
from apps.queries.enums import ReportState, VariantKind
from apps.queries.forms import (
    BulkForm,
    FailureForm,
    FilterForm,
    NewQueryForm,
    PermissionForm,
    QueryForm,
    SourceForm,
    VariantsForm,
)
from apps.queries.models import Source
from apps.queries.pages import balance_board


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
        **({} if form.errors else seen),
    }
    return render(request, "queries/change.html", context, status=400 if form.errors else 200)


def _applied(request: HttpRequest, project: Project, query_ids: list[int], change: BulkChange) -> HttpResponse:
    changed = queries_actions.change_queries(
        project=project, query_ids=query_ids, change=change, actor=user_of(request), at=timezone.now()
    )
    queries = plural(changed, "query was", "queries were")
    messages.success(request, f"{queries} changed. The audit has each change.")
    return _to_list(request, project)


def _preview(project: Project, query_ids: list[int], change: BulkChange) -> dict[str, Any]:
    """The counts to show, and a digest of what they are about: only what was seen is applied."""
    preview = selectors.preview_of(project, query_ids, change)
    values = [[row.field, _slug(row.before), _slug(row.after), row.number] for row in preview.transitions]
    labels = {**STRATA, "group_key": "Group", "tags": "Tags"}
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
        queries = queries.filter(pk__in=keys_in(request.POST.getlist("query")))
    return list(queries.values_list("pk", flat=True))


def _to_list(request: HttpRequest, project: Project) -> HttpResponse:
    return redirect(f"{reverse('queries:list', args=[project.slug])}?{request.GET.urlencode()}".removesuffix("?"))


SOURCES = "Permissions"
PAGE_SIZE = 50
SHOWN_VARIANTS = 100
READ_WRITE = ["GET", "HEAD", "POST"]


@require_safe
@member_view()
def query_list(request: HttpRequest, project: Project) -> HttpResponse:
    form = FilterForm(request.GET, project=project)
    filters = form.filters()
    queries = selectors.narrowed(selectors.queries_in(project), filters)
    page = Paginator(queries, PAGE_SIZE).get_page(request.GET.get("page"))
    is_filtered = filters != selectors.QueryFilters()
    context = {"form": form, "page": page, "is_filtered": is_filtered}
    return render(request, "queries/list.html", context)


@require_safe
@member_view()
def query_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    query = selectors.query_in(project, pk)
    context = {
        "query": query,
        "retire_refusal": rules.retire_refusal(query, "a reason"),
    }
    return render(request, "queries/query.html", context)


@require_http_methods(READ_WRITE)
@member_view(Role.LEAD)
def query_new(request: HttpRequest, project: Project) -> HttpResponse:
    form = NewQueryForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        seen = request.POST.getlist("seen")
        try:
            query = queries_actions.create_query(
                project=project, actor=user_of(request), at=timezone.now(), seen=seen, **form.cleaned_data
            )
        except queries_actions.QueryRefused as refusal:
            return _refused(request, form, refusal, seen)
        return redirect("queries:query", slug=project.slug, pk=query.pk)
    return _form_page(request, "queries/query_form.html", form)


def _refused(
    request: HttpRequest, form: Any, refusal: queries_actions.QueryRefused, seen: list[str], **context: Any
) -> HttpResponse:
    """The form again: with what is wrong, or with what the checks warn of, which a second press lets pass."""
    if isinstance(refusal, queries_actions.QueryDoubted):
        passed = {*seen, *(remark.key for remark in refusal.remarks)}
        return render(
            request, "queries/query_form.html", {"form": form, "doubts": refusal.remarks, "seen": passed, **context}
        )
    form.add_error("outside_id" if refusal.code == "query_exists" else None, refusal.sentence)
    return _form_page(request, "queries/query_form.html", form, **context)


@require_http_methods(READ_WRITE)
@member_view(Role.LEAD)
def query_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    query = selectors.query_in(project, pk)
    form = QueryForm(request.POST or None, project=project, query=query)
    if request.method == "POST" and form.is_valid():
        seen = request.POST.getlist("seen")
        try:
            queries_actions.edit_query(
                query_id=query.pk, actor=user_of(request), at=timezone.now(), seen=seen, **form.cleaned_data
            )
        except queries_actions.QueryRefused as refusal:
            return _refused(request, form, refusal, seen, query=query)
        return redirect("queries:query", slug=project.slug, pk=query.pk)
    return _form_page(request, "queries/query_form.html", form, query=query)


@require_POST
@member_view(Role.LEAD)
def settle(request: HttpRequest, project: Project) -> HttpResponse:
    """The open remarks on the ticked queries, or on all that match the filter in the address, are all right."""
    settled = queries_actions.settle_remarks(
        project=project, query_ids=_chosen(request, project), actor=user_of(request), at=timezone.now()
    )
    queries = plural(settled, "query has", "queries have")
    messages.success(request, f"{queries} no open remarks any more. The audit has what they were.")
    return _to_list(request, project)


@require_POST
@member_view(Role.LEAD)
def variants(request: HttpRequest, project: Project) -> HttpResponse:
    """Degraded wordings of the ticked queries, or of all that match the filter, once they were seen."""
    query_ids = _chosen(request, project)
    step = request.POST.get("step", "")
    form = VariantsForm(request.POST if step else None)
    is_valid = bool(step) and form.is_valid()
    chosen: dict[str, Any] = form.cleaned_data if is_valid else {"kinds": VariantKind.values, "seed": 1}
    if is_valid and step == "apply":
        seen = selectors.new_variants(project, query_ids, **chosen)[:SHOWN_VARIANTS]
        left_out = {variant.key for variant in seen} - set(request.POST.getlist("take"))
        by: dict[str, Any] = {"actor": user_of(request), "at": timezone.now(), "left_out": left_out}
        added = queries_actions.add_variants(project=project, query_ids=query_ids, **by, **chosen)
        were = plural(len(added), "variant was", "variants were")
        messages.success(request, f"{were} added. They have the grades of their originals, and nobody judges them.")
        return _to_list(request, project)
    reason = rules.variants_refusal(len(query_ids), chosen["kinds"])
    new = [] if reason or form.errors else selectors.new_variants(project, query_ids, **chosen)
    context = {
        "form": form,
        "refusal": reason,
        "new": len(new),
        "number": len(query_ids),
        "shown": new[:SHOWN_VARIANTS],
        "which": request.POST.get("which", ""),
        "ticked": query_ids if request.POST.get("which") != "all" else [],
    }
    return render(request, "queries/variants.html", context, status=400 if form.errors else 200)


@require_POST
@member_view(Role.LEAD)
def query_retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    query = selectors.query_in(project, pk)
    reason = request.POST.get("reason", "")
    queries_actions.retire_query(query_id=query.pk, reason=reason, actor=user_of(request), at=timezone.now())
    return redirect("queries:query", slug=project.slug, pk=query.pk)


@require_safe
@member_view()
def failures(request: HttpRequest, project: Project) -> HttpResponse:
    return _failures_page(request, project, FailureForm())


@require_POST
@member_view()
def failure_report(request: HttpRequest, project: Project) -> HttpResponse:
    form = FailureForm(request.POST)
    if form.is_valid():
        try:
            report = failures_actions.report_failure(
                project=project, actor=user_of(request), at=timezone.now(), **form.cleaned_data
            )
        except queries_actions.QueryRefused as refusal:
            form.add_error("passage" if refusal.code == "passage_unknown" else "text", refusal.sentence)
        else:
            messages.success(request, f"Reported as: “{report.text}”. A lead takes it as a query or rejects it.")
            return redirect("queries:failures", slug=project.slug)
    return _failures_page(request, project, form)


@require_POST
@member_view(Role.LEAD)
def failure_decide(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take the report as a query, or reject it; the next one is on the page that follows."""
    report = selectors.report_in(project, pk)
    by: dict[str, Any] = {"report_id": report.pk, "actor": user_of(request), "at": timezone.now()}
    if request.POST.get("step") == "take":
        query = failures_actions.take_report(**by).query
        messages.success(request, f"Taken as {query}.")
    else:
        failures_actions.reject_report(reason=request.POST.get("reason", ""), **by)
        messages.success(request, "Rejected. Its words are deleted.")
    return redirect("queries:failures", slug=project.slug)


def _failures_page(request: HttpRequest, project: Project, form: FailureForm) -> HttpResponse:
    """Leads see the open reports, from one on; everybody sees their own."""
    reports = selectors.reports_in(project)
    waiting = reports.filter(state=ReportState.OPEN)
    after = key_in(request.GET.get("after", "")) or 0
    own = list(reports.filter(reported_by=user_of(request)).order_by("-pk")[:PAGE_SIZE])
    return _form_page(
        request,
        "queries/failures.html",
        form,
        own=own,
        waiting=waiting.count(),
        shown=list(waiting.filter(pk__gt=after)[:PAGE_SIZE]) if member_of(request).is_lead else [],
        is_first=not after,
    )


@require_safe
@member_view()
def source_list(request: HttpRequest, project: Project) -> HttpResponse:
    return _sources_page(request, project, SourceForm())


@require_POST
@member_view(Role.LEAD)
def source_new(request: HttpRequest, project: Project) -> HttpResponse:
    form = SourceForm(request.POST)
    if form.is_valid():
        try:
            source = sources_actions.create_source(
                project=project,
                name=form.cleaned_data["name"],
                kind=form.cleaned_data["kind"],
                target_share=form.target_share(),
                actor=user_of(request),
                at=timezone.now(),
            )
        except sources_actions.SourceRefused as refusal:
            form.add_error("name", refusal.sentence)
        else:
            return redirect("queries:source", slug=project.slug, pk=source.pk)
    return _sources_page(request, project, form)


@require_safe
@member_view()
def source_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    source = selectors.source_in(project, pk)
    return _source_page(request, source, _filled(source), PermissionForm())


@require_POST
@member_view(Role.LEAD)
def source_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    source = selectors.source_in(project, pk)
    form = SourceForm(request.POST)
    if not form.is_valid():
        return _source_page(request, source, form, PermissionForm())
    sources_actions.edit_source(
        source_id=source.pk,
        name=form.cleaned_data["name"],
        kind=form.cleaned_data["kind"],
        target_share=form.target_share(),
        actor=user_of(request),
        at=timezone.now(),
    )
    return redirect("queries:source", slug=project.slug, pk=source.pk)


@require_POST
@member_view(Role.LEAD)
def permission_grant(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    source = selectors.source_in(project, pk)
    form = PermissionForm(request.POST)
    if not form.is_valid():
        return _source_page(request, source, _filled(source), form)
    sources_actions.grant_permission(
        source_id=source.pk,
        owner=form.cleaned_data["owner"],
        scope=form.cleaned_data["scope"],
        evidence=form.cleaned_data["evidence"],
        licence=form.cleaned_data["licence"],
        expires_at=form.expires_at(),
        actor=user_of(request),
        at=timezone.now(),
    )
    return redirect("queries:source", slug=project.slug, pk=source.pk)


@require_POST
@member_view(Role.LEAD)
def permission_revoke(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    permission = selectors.permission_in(project, pk)
    revoked = sources_actions.revoke_permission(
        permission_id=permission.pk,
        reason=request.POST.get("reason", ""),
        actor=user_of(request),
        at=timezone.now(),
    )
    messages.success(request, revoked.sentence)
    return redirect("queries:source", slug=project.slug, pk=permission.source_id)


@require_safe
@member_view()
def balance(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"board": balance_board.balance_board(project)}
    return render(request, "queries/balance.html", context)


def _filled(source: Source) -> SourceForm:
    target = None if source.target_share is None else f"{source.target_share * 100:.3g}"
    return SourceForm(initial={"name": source.name, "kind": source.kind, "target": target})


def _sources_page(request: HttpRequest, project: Project, form: SourceForm) -> HttpResponse:
    at = timezone.now()
    triples = selectors.triples_by_source(project)
    rows = [
        (source, selectors.valid_permission(source, at), triples[source.pk]) for source in selectors.sources_in(project)
    ]
    return _form_page(request, "queries/sources.html", form, section=SOURCES, rows=rows)


def _source_page(request: HttpRequest, source: Source, form: SourceForm, grant: PermissionForm) -> HttpResponse:
    at = timezone.now()
    return _form_page(
        request,
        "queries/source.html",
        form,
        section=SOURCES,
        source=source,
        grant=grant,
        standing=selectors.valid_permission(source, at),
        triples=selectors.triples_by_source(source.project)[source.pk],
        resting=resting_on(source),
        now=at,
    )


def _form_page(request: HttpRequest, template: str, form: Any, **context: Any) -> HttpResponse:
    """A page with forms; status 400 when one of them is invalid."""
    wrong = bool(form.errors) or bool(getattr(context.get("grant"), "errors", False))
    return render(request, template, {"form": form, **context}, status=400 if wrong else 200)
