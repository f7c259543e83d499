"""Pages of imports: the upload, the preview with what can be chosen there, applying and undoing."""

from typing import Any, NamedTuple

from django.conf import settings
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.drawing.charts import figures, svg
from apps.common.drawing.svg import tag, text, title
from apps.common.files.faults import errors_as_csv
from apps.common.hooks import next_step
from apps.common.web.requests import key_in
from apps.corpus.actions import imports
from apps.corpus.core.documents import DEFAULT, HEADINGS, PAGES, PARAGRAPHS, USUAL_PARAGRAPHS, WHOLE, Recipe, recipe_of
from apps.corpus.core.import_plans import SKIP, UNTOUCHED, named_columns
from apps.corpus.enums import ImportState
from apps.corpus.formats.documents.records import ROLE_WORDS, SAID
from apps.corpus.formats.documents.registry import TABLES
from apps.corpus.forms import ImportForm, TableForm
from apps.corpus.models import Corpus, Import
from apps.corpus.presenters import panels_of
from apps.corpus.rules import undo_refusal
from apps.corpus.selectors.corpora import freezable_in, import_in, imports_in, snapshots_in
from apps.corpus.selectors.import_kinds import ImportKind, kind_named

WIDTH, BOTTOM, TOP = 264.0, 94.0, 16.0
GAP = 2.0
FEW_WORDS = 25
"""Passages below this are mostly headings and lists of links: worth a look."""
HIGHEST_LABEL = 5


def lengths(found: dict[str, Any]) -> SafeString:
    """The lengths of passages as a histogram. Its ends, where passages are short or long, are gold."""
    bins = found["bins"]
    step = WIDTH / len(bins)
    top = max(each["passages"] for each in bins)
    parts = []
    for place, each in enumerate(bins):
        height = (BOTTOM - TOP) * each["passages"] / top
        is_end = each["to"] is None or (each["to"] or 0) <= FEW_WORDS
        parts.append(
            tag(
                "rect",
                title(f"{_words(each)}: {each['passages']:,}"),
                class_="b" if is_end else "bar-fill",
                x=place * step,
                y=BOTTOM - height,
                width=max(1.0, step - GAP),
                height=height,
            )
        )
    parts.append(tag("path", class_="axis", d=f"M0 {BOTTOM + 0.5:.1f}H{WIDTH:.0f}"))
    parts += _median(found, step)
    parts += _labels(bins, step)
    name = f"Length of {found['passages']:,} passages in words; half have at most {found['median']:,}"
    return svg(WIDTH, BOTTOM + 24, name, parts)


def length_figures(found: dict[str, Any]) -> SafeString:
    return figures(["Words", "Passages"], [[_words(each), f"{each['passages']:,}"] for each in found["bins"]])


def _words(each: dict[str, Any]) -> str:
    if each["to"] is None:
        return f"{each['from']:,} words and more"
    return f"{each['from']:,} to {each['to'] - 1:,} words"


def _median(found: dict[str, Any], step: float) -> list[str]:
    width = found["bins"][0]["to"] or 1
    x = min(found["median"] / width, len(found["bins"])) * step
    words = f"half have at most {found['median']:,}"
    is_left = x > WIDTH / 2
    label = text(x - 5 if is_left else x + 5, 11, words, anchor="end" if is_left else None, class_="halo word")
    return [tag("path", class_="limit", d=f"M{x:.1f} 2V{BOTTOM:.0f}"), label]


def _labels(bins: list[dict[str, Any]], step: float) -> list[str]:
    """The lower ends of some bins under the axis, the last with its unit."""
    every = max(1, -(-len(bins) // HIGHEST_LABEL))
    places = [place for place in range(0, len(bins), every) if place * step < WIDTH - 90]
    marks = [text(place * step, BOTTOM + 16, f"{bins[place]['from']:,}") for place in places]
    last = bins[-1]
    end = f"{last['from']:,}+ words" if last["to"] is None else f"{last['to']:,} words"
    return [*marks, text(WIDTH, BOTTOM + 16, end, anchor="end")]


class RecipeChoice(NamedTuple):
    """A recipe as a choice with a key; `passages` is None when nobody has counted."""

    key: str
    name: str
    words: str
    passages: int | None
    is_chosen: bool


def cut_context(plan: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    recipe = recipe_of(options.get("recipe") or str(DEFAULT))
    found = plan["lengths"]
    kinds = {kind["kind"] for kind in plan["files"]}
    has_pdf = "pdf" in kinds
    return {
        "passages": found.get("passages", 0),
        "is_cut": bool(plan["recipe"]),
        "recipes": _choices(recipe, plan.get("recipe_counts", {}), has_pdf=has_pdf),
        "has_tables": not kinds.isdisjoint(TABLES),
        "tables": [_columns(table, options.get("columns", "")) for table in plan.get("tables", ())],
        "own": [kind for kind in plan["files"] if kind.get("own")],
        "paragraphs": recipe if recipe.name == PARAGRAPHS else USUAL_PARAGRAPHS,
        "chart": lengths(found) if found else "",
        "figures": length_figures(found) if found else "",
    }


def _columns(table: dict[str, Any], written: str) -> dict[str, Any]:
    """The columns of a table with what each can be said to be; the first choice of each is as it was recognised."""
    said = named_columns(written, SAID)
    roles = {heading: role for role, heading in table["roles"].items() if heading}
    examples = table["sample"][0] if table["sample"] else [""] * len(table["headings"])
    columns = [
        {
            "heading": heading,
            "said": f"{heading}={said[heading]}" if heading in said else "",
            "choices": [
                ("", "as recognised" if heading in said else f"{ROLE_WORDS[roles.get(heading, SKIP)]}, recognised"),
                *((f"{heading}={role}", word) for role, word in ROLE_WORDS.items()),
            ],
            "example": example,
        }
        for heading, example in zip(table["headings"], examples, strict=True)
        if "=" not in heading
    ]
    return {"path": table["path"], "columns": columns, "is_said": not said.keys().isdisjoint(table["headings"])}


def _choices(chosen: Recipe, counts: dict[str, int], *, has_pdf: bool) -> list[RecipeChoice]:
    """The recipes; that of PDF pages only where it can make a difference."""
    paragraphs = chosen if chosen.name == PARAGRAPHS else USUAL_PARAGRAPHS
    overlap = f", {paragraphs.overlap} of them overlapping" if paragraphs.overlap else ""
    rows = (
        ("h", HEADINGS, "By heading", str(DEFAULT)),
        ("p", PARAGRAPHS, f"Paragraphs up to {paragraphs.words} words{overlap}", str(paragraphs)),
        ("f", PAGES, "PDF by page, the rest by heading", PAGES),
        ("w", WHOLE, "Whole documents", WHOLE),
    )
    return [
        RecipeChoice(key, name, words, counts.get(full), chosen.name == name)
        for key, name, words, full in rows
        if has_pdf or name != PAGES or chosen.name == PAGES
    ]


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
                actor=user_of(request),
                at=timezone.now(),
            )
            return redirect("corpus:import", slug=project.slug, pk=item.pk)
    else:
        form = chosen.form_class(project=project, initial=_initial(request, project, kind))
    context = {"kind": chosen, "form": form, "most_bytes": settings.UPLOAD_MAX_BYTES, "section": chosen.section}
    return render(request, "corpus/import_new.html", context, status=400 if form.errors else 200)


def _initial(request: HttpRequest, project: Project, kind: str) -> dict[str, Any]:
    """Initial values of the form: the query parameters, or with `?again=` the options of an earlier import."""
    again = key_in(request.GET.get("again", ""))
    if again is None:
        return request.GET.dict()
    earlier = import_in(project, again)
    if earlier.kind != kind:
        return {}
    form: type[ImportForm] = kind_named(kind).form_class
    return form.kept_for_another(earlier.options, earlier.upload.filename)


@require_safe
@member_view(Role.LEAD)
def import_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    if item.state == ImportState.FAULTY and item.plan.get("readings"):
        return render(request, "corpus/import_reading.html", {"item": item, "section": kind_named(item.kind).section})
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
        "freezable": _to_freeze(project, item) if is_in_force else [],
        "edition": kind.edition_of(item) if is_in_force else None,
        "done_url": kind.done_url(item) if applied else "",
        "earlier": kind.earlier(project, item.options) if item.state == ImportState.READY else None,
        "undo_refusal": refusal,
        "untouched": kind.untouched(item) if refusal else 0,
        "undone": kind.what_became(item) if item.undone_at else "",
        "section": kind.section,
        "panels": panels_of(item, member_of(request)) if is_in_force else [],
    }
    return render(request, "corpus/import.html", context)


def _to_freeze(project: Project, item: Import) -> list[Corpus]:
    """The corpora without any snapshot, after documents; after anything else only while the project has none."""
    frozen = set(snapshots_in(project).order_by().values_list("corpus", flat=True))
    if frozen and item.kind != "corpus":
        return []
    return [corpus for corpus in freezable_in(project) if corpus.pk not in frozen and not corpus.is_being_frozen]


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


def _table_page(request: HttpRequest, item: Import, form: Form | None = None) -> HttpResponse:
    kind = kind_named(item.kind)
    context = {"item": item, "table": item.plan["table"], "section": kind.section, "form": form}
    context |= {"beside": _beside(kind, item), **kind.page_context(item)}
    return render(request, kind.columns_page, context, status=400 if form else 200)


def _beside(kind: ImportKind, item: Import, data: QueryDict | None = None) -> ImportForm:
    """The form of the options that are chosen on the page of the columns."""
    form: ImportForm = kind.form_class(data, project=item.project, uploaded=item.upload.filename, initial=item.options)
    for name in set(form.fields) - set(kind.beside_columns):
        del form.fields[name]
    return form


@require_POST
@member_view(Role.LEAD)
def import_columns(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The choices for a table: they are read again, or imported when `import` is sent and nothing was changed."""
    item = import_in(project, pk)
    if not _is_open_table(item):
        return redirect("corpus:import", slug=project.slug, pk=item.pk)
    form = TableForm(request.POST, table=item.plan["table"])
    beside = _beside(kind_named(item.kind), item, request.POST)
    if not (form.is_valid() and beside.is_valid()):
        return _table_page(request, item, form if form.errors else beside)
    imports.choose_columns(
        import_id=item.pk,
        choice=form.choice(),
        is_final="import" in request.POST,
        beside=beside.cleaned_data,
        actor=user_of(request),
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
    imports.take_fix(import_id=item.pk, name=name, actor=user_of(request), at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_POST
@member_view(Role.LEAD)
def import_confirm(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    imports.confirm_import(import_id=item.pk, actor=user_of(request), at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_POST
@member_view(Role.LEAD)
def import_discard(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    imports.discard_import(import_id=item.pk, actor=user_of(request), at=timezone.now())
    return redirect(f"{reverse('corpus:import-new', args=[project.slug, item.kind])}?again={item.pk}")


@require_POST
@member_view(Role.LEAD)
def import_undo(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    item = import_in(project, pk)
    undo = imports.undo_untouched if request.POST.get("only") == "untouched" else imports.undo_import
    undo(import_id=item.pk, actor=user_of(request), at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_safe
@member_view(Role.LEAD)
def import_errors(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The mistakes as CSV: file, line, field, value, message."""
    item = import_in(project, pk)
    answer = HttpResponse(errors_as_csv(item.plan.get("errors", [])), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="mistakes-{item.pk}.csv"'
    return answer
