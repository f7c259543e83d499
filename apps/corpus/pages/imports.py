"""Pages of imports: the upload, the preview with what can be chosen there, applying and undoing."""

from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.files.faults import errors_as_csv
from apps.common.web.next_steps import next_step
from apps.corpus.actions import imports
from apps.corpus.core.import_plans import UNTOUCHED
from apps.corpus.enums import ImportState
from apps.corpus.forms import ImportForm, TableForm
from apps.corpus.models import Import
from apps.corpus.pages.cutting import cut_context
from apps.corpus.rules import undo_refusal
from apps.corpus.selectors.corpora import import_in, imports_in
from apps.corpus.selectors.import_kinds import ImportKind, kind_named

PAGE_SIZE = 50


@require_safe
@member_view(Role.LEAD)
def import_list(request: HttpRequest, project: Project) -> HttpResponse:
    """All imports, or those of one kind, newest first."""
    found = imports_in(project)
    kind = kind_named(request.GET["kind"]) if request.GET.get("kind") else None
    if kind:
        found = found.filter(kind=kind.name)
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    rows = [(item, kind_named(item.kind).contents) for item in page]
    context = {"page": page, "rows": rows, "kind": kind, "section": kind.section if kind else "Documents"}
    return render(request, "corpus/imports.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def import_new(request: HttpRequest, project: Project, kind: str) -> HttpResponse:
    chosen = kind_named(kind)
    if request.method == "POST":
        form = chosen.form_class(request.POST, request.FILES, project=project)
        if form.is_valid():
            item = imports.start_import(
                project=project,
                kind=kind,
                file=form.cleaned_data["file"],
                options=form.options(),
                actor=member_of(request).user,
                at=timezone.now(),
            )
            return redirect("corpus:import", slug=project.slug, pk=item.pk)
    else:
        form = chosen.form_class(project=project, initial=_initial(request, project, kind))
    context = {"kind": chosen, "form": form, "most_bytes": settings.UPLOAD_MAX_BYTES, "section": chosen.section}
    return render(request, "corpus/import_new.html", context, status=400 if form.errors else 200)


def _initial(request: HttpRequest, project: Project, kind: str) -> dict[str, Any]:
    """Initial values of the form: the query parameters, or with `?again=` the options of an earlier import."""
    again = request.GET.get("again", "")
    if not again.isdecimal():
        return request.GET.dict()
    earlier = import_in(project, int(again[:18]))
    if earlier.kind != kind:
        return {}
    form: type[ImportForm] = kind_named(kind).form_class
    return form.kept_for_another(earlier.options, earlier.upload.filename)


@require_safe
@member_view(Role.LEAD)
def import_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    if _is_open_table(item):
        return _table_page(request, item)
    kind = kind_named(item.kind)
    if _are_documents(item):
        return _documents(request, project, item, kind)
    applied = item.state == ImportState.APPLIED
    is_in_force = applied and item.undone_at is None
    refusal = undo_refusal(item) if is_in_force else None
    context = {
        "item": item,
        "kind": kind,
        "job": item.job,
        "is_waiting": item.state in {ImportState.READING, ImportState.APPLYING},
        "plan": item.result if applied else item.plan,
        "to_import": _to_import_count(item.plan),
        "target": kind.target(project, item.options),
        "next": next_step(item) if is_in_force else None,
        "edition": kind.edition_of(item) if is_in_force else None,
        "done_url": kind.done_url(project, item.options) if applied else "",
        "earlier": kind.earlier(project, item.options) if item.state == ImportState.READY else None,
        "undo_refusal": refusal,
        "untouched": kind.untouched(item) if refusal else 0,
        "undone": kind.what_became(item) if item.undone_at else "",
        "section": kind.section,
    }
    return render(request, "corpus/import.html", context)


def _documents(
    request: HttpRequest, project: Project, item: Import, kind: ImportKind, form: ImportForm | None = None
) -> HttpResponse:
    """The preview of documents: what was read, how it reads, how it is cut. `form` holds options that do not fit."""
    usual = kind.form_class(project=project, uploaded=item.upload.filename, initial=item.options)
    context = {
        "item": item,
        "kind": kind,
        "plan": item.plan,
        "to_import": _to_import_count(item.plan),
        "form": form or usual,
        "target": kind.target(project, item.options),
        "earlier": kind.earlier(project, item.options),
        "section": kind.section,
        **cut_context(item.plan, item.options),
    }
    return render(request, "corpus/import_documents.html", context)


def _to_import_count(plan: dict[str, Any]) -> int:
    """The rows that importing adds or changes."""
    return plan.get("rows", 0) - plan.get("counts", {}).get(UNTOUCHED, 0)


def _are_documents(item: Import) -> bool:
    return item.state == ImportState.READY and "files_read" in item.plan


def _is_open_table(item: Import) -> bool:
    return "table" in item.plan and item.state in {ImportState.READY, ImportState.FAULTY}


def _table_page(request: HttpRequest, item: Import, form: TableForm | None = None) -> HttpResponse:
    context = {"item": item, "table": item.plan["table"], "section": kind_named(item.kind).section, "form": form}
    return render(request, "corpus/import_columns.html", context, status=400 if form else 200)


@require_POST
@member_view(Role.LEAD)
def import_columns(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The choices for a table: they are read again, or imported when `import` is sent and nothing was changed."""
    item = import_in(project, pk)
    if not _is_open_table(item):
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    form = TableForm(request.POST, table=item.plan["table"])
    if not form.is_valid():
        return _table_page(request, item, form)
    imports.choose_columns(
        import_id=item.pk,
        choice=form.choice(),
        is_final="import" in request.POST,
        actor=member_of(request).user,
        at=timezone.now(),
    )
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def import_options(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The form of the upload without its file: the stored one is read again.

    The preview of documents sends the same form with each choice, and shows what the answer has of it.
    """
    item = import_in(project, pk)
    kind = kind_named(item.kind)
    name = item.upload.filename
    is_part = "HX-Request" in request.headers
    if request.method == "POST":
        form = kind.form_class(request.POST, project=project, uploaded=name, initial=item.options)
        if form.is_valid():
            member = member_of(request)
            again = imports.change_options(
                import_id=item.pk, options=form.options(), actor=member.user, at=timezone.now()
            )
            return _to_import(project, item, is_part=is_part and not _are_documents(again))
        if is_part and _are_documents(item):
            return _documents(request, project, item, kind, form)
    else:
        form = kind.form_class(project=project, uploaded=name, initial=item.options)
    context = {"kind": kind, "form": form, "item": item, "section": kind.section}
    return render(request, "corpus/import_options.html", context, status=400 if form.errors else 200)


def _to_import(project: Project, item: Import, *, is_part: bool) -> HttpResponse:
    """Lead to the page of the import; a whole page where only a part of one was requested."""
    if not is_part:
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    return HttpResponse(headers={"HX-Redirect": reverse("corpus:import", args=[project.slug, item.pk])})


@require_POST
@member_view(Role.LEAD)
def import_fix(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    name = request.POST.get("fix", "")
    imports.take_fix(import_id=item.pk, name=name, actor=member_of(request).user, at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_POST
@member_view(Role.LEAD)
def import_confirm(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    imports.confirm_import(import_id=item.pk, actor=member_of(request).user, at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_POST
@member_view(Role.LEAD)
def import_discard(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    imports.discard_import(import_id=item.pk, actor=member_of(request).user, at=timezone.now())
    return redirect(f"{reverse('corpus:import-new', args=[project.slug, item.kind])}?again={item.pk}")


@require_POST
@member_view(Role.LEAD)
def import_undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    undo = imports.undo_untouched if request.POST.get("only") == "untouched" else imports.undo_import
    undo(import_id=item.pk, actor=member_of(request).user, at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_safe
@member_view(Role.LEAD)
def import_errors(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The mistakes as CSV: file, line, field, value, message."""
    item = import_in(project, pk)
    answer = HttpResponse(errors_as_csv(item.plan.get("errors", [])), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="mistakes-{item.pk}.csv"'
    return answer
