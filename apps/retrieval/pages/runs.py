"""The pages of runs and fusions, their files, and uploading, previewing and importing run files."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.digests import canonical_json
from apps.common.errors import Forbidden, Refusal
from apps.common.files.csvsafe import csv_lines
from apps.common.files.faults import errors_as_csv
from apps.common.hooks import next_step
from apps.common.web.forms import refusals_shown
from apps.common.web.requests import key_in
from apps.corpus.selectors.corpora import freezable_in, snapshot_in, snapshots_in
from apps.jobs.actions.uploads import upload_in
from apps.jobs.enums import JobState, UploadState
from apps.jobs.models import Job, Upload
from apps.metrics.files.trec_rows import RUN_COLUMNS
from apps.metrics.statistics.usage import failure_rates, usage_in_words
from apps.retrieval import rules
from apps.retrieval.actions.intake import confirm_upload, discard_run_file, upload_run
from apps.retrieval.actions.runs import annotate_run
from apps.retrieval.actions.systems import create_fusion
from apps.retrieval.core.engines.registry import ENGINES
from apps.retrieval.core.ranking import as_results
from apps.retrieval.enums import RUN_DETAILS, RUN_IMPORT, RunState
from apps.retrieval.execution.intake import facts_of_upload
from apps.retrieval.execution.run_reading import next_tag
from apps.retrieval.forms.runs import FusionForm, LedgerForm, TagForm, UploadForm
from apps.retrieval.models import Run
from apps.retrieval.presenters import on_run_page
from apps.retrieval.rules import RunRefused, SystemRefused, TooLong
from apps.retrieval.selectors.pools import pools_with
from apps.retrieval.selectors.question_sets import QueryChoice, asked_in, queries_in, question_sets
from apps.retrieval.selectors.runs import (
    components_of,
    job_of_upload,
    names_of_ranked,
    reach_of_run,
    returned_of,
    run_in,
)

AT_ONCE = 2_000
MISTAKES_SHOWN = 50
SNAPSHOTS_LISTED = 5
NO_FILE_SIGN = str.maketrans("/:", "--")
LONGEST_TAG = 200
OF_TAG = {"tag_taken", "bad_tag", "too_long"}
SHOWN_FIELDS = {"query": "query id", "block": "passage id"}
SHOWN_COLUMNS = "six: query id, Q0, passage id, rank, score, tag"


@require_safe
@member_view(Role.LEAD)
def queries_csv(request: HttpRequest, project: Project) -> StreamingHttpResponse:
    """The queries that are not retired, with their ids and texts; or the questions of the set in `?questions=`."""
    key = request.GET.get("questions", "")
    queries = queries_in(project, QueryChoice(questions=key))
    rows = queries.values_list("outside_id", "text").iterator(chunk_size=AT_ONCE)
    name = f"{key.translate(NO_FILE_SIGN)}-questions.csv" if key else f"{project.slug}-queries.csv"
    return _table(name, ["query", "text"], rows)


@require_safe
@member_view(Role.LEAD)
def passages_csv(request: HttpRequest, project: Project, pk: int) -> StreamingHttpResponse:
    """The passages of a snapshot: ids, titles, documents, addresses where they have one, and texts."""
    snapshot = snapshot_in(project, pk)
    entries = snapshot.entries.order_by("position").values_list(
        "block__outside_id", "version__title", "block__document__outside_id", "version__metadata", "version__text"
    )
    rows = (
        (block, title, document, str(metadata.get("url") or ""), text)
        for block, title, document, metadata, text in entries.iterator(chunk_size=AT_ONCE)
    )
    name = f"{snapshot.corpus.slug}-{snapshot.number}-passages.csv"
    return _table(name, ["passage", "title", "document", "address", "text"], rows)


def _table(name: str, heading: list[str], rows: Iterable[Iterable[str]]) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(csv_lines(chain([heading], rows)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@require_safe
@member_view()
def results_jsonl(request: MemberRequest, project: Project, pk: int) -> StreamingHttpResponse:
    """One line for each result, by outside id of the query and rank: a run that is uploaded so again is the same."""
    run = run_in(project, pk)
    names = names_of_ranked(run)
    if refusal := rules.reading_refusal(request.member, run, names):
        raise Forbidden(refusal, code="results_hidden")
    answer = StreamingHttpResponse(_lines(run, names), content_type="application/jsonl; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{slugify(run.tag)}-results.jsonl"'
    return answer


def _lines(run: Run, names: dict[int, str]) -> Iterator[bytes]:
    for query_id, top in returned_of(run, list(names), with_text=run.returns_passages):
        for rank, one in enumerate(as_results(top), 1):
            yield canonical_json({"qid": names[query_id], "rank": rank, **one}) + b"\n"


@require_safe
@member_view()
def reach(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Which documents the first results of a run come from, and how much they differ; or why that is hidden for now."""
    shown = run_in(project, pk)
    if refusal := rules.results_refusal(request.member.roles, shown):
        raise Forbidden(refusal, code="results_hidden")
    hidden = rules.reading_refusal(request.member, shown, names_of_ranked(shown))
    context = {"run": shown, "hidden": hidden, "reach": None if hidden else reach_of_run(shown)}
    return render(request, "retrieval/reach.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def new_fusion(request: MemberRequest, project: Project) -> HttpResponse:
    """Create a system that fuses the rankings of others."""
    form = FusionForm(request.POST or None, project=project, initial={"name": "Fusion"})
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            system = create_fusion(
                project=project,
                name=form.cleaned_data["name"],
                system_ids=[system.pk for system in form.cleaned_data["systems"]],
                k=form.cleaned_data["k"],
                actor=request.user,
                at=timezone.now(),
            )
            return redirect("retrieval:system", slug=project.slug, pk=system.pk)
    kinds = [(name, engine.title) for name, engine in ENGINES.items()]
    context = {"form": form, "kinds": kinds, "is_enough": len(form.fields["systems"].queryset) > 1}  # type: ignore[attr-defined]
    return render(request, "retrieval/new_fusion.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def run(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """A run: its scores and results once complete, counts, latency and note. Leads edit the note here."""
    shown = run_in(project, pk)
    is_lead = request.member.is_lead
    if request.method == "POST":
        if not is_lead:
            raise Forbidden("Only leads can change the note and commit of a run.", code="leads_only")
        form = LedgerForm(request.POST)
        if form.is_valid():
            annotate_run(run=shown, **form.cleaned_data, actor=request.user, at=timezone.now())
            return redirect("retrieval:run", slug=project.slug, pk=shown.pk)
    else:
        form = LedgerForm(initial={"note": shown.note, "commit": shown.commit})
    components = components_of(shown)
    context = {"run": shown, "form": form, "components": components, "pools": pools_with(shown)}
    context |= {"failures": failure_rates(shown.usage), "used": usage_in_words(shown.usage)}
    context["next"] = next_step(shown) if is_lead else None
    context["panels"] = [panel(request, shown) for panel in on_run_page] if shown.state == RunState.COMPLETE else []
    context["offers_results"] = rules.results_refusal(request.member.roles, shown) is None
    return render(request, "retrieval/run.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def upload(request: MemberRequest, project: Project) -> HttpResponse:
    """Upload a run file; the next page shows its preview."""
    initial = {"snapshot": request.GET.get("snapshot", ""), **_earlier_details(request, project)}
    form = UploadForm(request.POST or None, request.FILES or None, project=project, initial=initial)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        details = {key: values[key].strip() for key in RUN_DETAILS}
        details["abstains_below"] = values["abstains_below"]
        snapshot, at = values["snapshot"], timezone.now()
        with refusals_shown(form, "file"):
            run_file = upload_run(
                project=project,
                snapshot=snapshot,
                file=values["file"],
                details=details,
                usage=values["usage"],
                actor=request.user,
                at=at,
            )
            return redirect("retrieval:preview", slug=project.slug, pk=run_file.pk)
    context = {
        "form": form,
        "snapshots": snapshots_in(project)[:SNAPSHOTS_LISTED],
        "question_sets": question_sets(project)[:SNAPSHOTS_LISTED],
    }
    if not context["snapshots"]:
        context["freezable"] = freezable_in(project)
    return render(request, "retrieval/upload.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def preview(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The preview of a run file: counts and mistakes. While a job reads or imports a large file, its progress."""
    return _preview(request, project, upload_in(project, pk))


def _preview(
    request: MemberRequest, project: Project, run_file: Upload, refusal: Refusal | None = None, tag: str = ""
) -> HttpResponse:
    """The preview, after a refused import with its reason at the tag that was asked for."""
    job = job_of_upload(run_file)
    if run_file.state == UploadState.USED and job is not None and job.result:
        imported = run_in(project, job.result["run_id"])
        return _imported(request, project, imported, is_new=job.result["is_new"])
    if run_file.state != UploadState.STORED:
        raise Refusal(f"This file has been {run_file.get_state_display()}. Upload it again.", code="upload_closed")
    if job is not None and job.state != JobState.DONE:
        return render(request, "retrieval/reading.html", {"upload": run_file, "job": job})
    facts = facts_of_upload(run_file)
    is_importable = facts["queries"] > 0 and not facts["is_spoilt"]
    wanted = run_file.options["tag"] or facts["tag"]
    proposed = next_tag(project.pk, wanted)
    form = TagForm({"tag": tag} if refusal else None, initial={"tag": proposed})
    if refusal and refusal.code in OF_TAG:
        form.add_error("tag", refusal.sentence)
    elif proposed != wanted:
        form.fields["tag"].help_text = f"There is already a run called {wanted}, so this one needs another tag."
    context = {
        "upload": run_file,
        "facts": facts,
        "system": run_file.options["system"] or wanted,
        "tag": proposed,
        "form": form,
        "refusal": refusal if refusal and refusal.code not in OF_TAG else None,
        "snapshot": snapshot_in(project, run_file.options["snapshot"]),
        "same": run_in(project, facts["same_run"]) if facts["same_run"] else None,
        "equal": run_in(project, equal) if (equal := facts.get("equal_run")) else None,
        "is_importable": is_importable,
        "offers_import": is_importable and not facts["same_run"],
        "mistakes": [_in_words_of_pages(error) for error in facts["errors"][:MISTAKES_SHOWN]],
        "unshown": max(0, facts["errors_total"] - MISTAKES_SHOWN),
        "query_total": asked_in(project).count(),
    }
    return render(request, "retrieval/preview.html", context, status=refusal.status if refusal else 200)


@require_safe
@member_view(Role.LEAD)
def mistakes(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The mistakes in a run file as CSV."""
    run_file = upload_in(project, pk)
    errors = facts_of_upload(run_file).get("errors", [])
    response = HttpResponse(errors_as_csv(errors), content_type="text/csv")
    response["Content-Disposition"] = 'attachment; filename="mistakes.csv"'
    return response


@require_POST
@member_view(Role.LEAD)
def confirm(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Import a file: a small one at once, a large one in a job, whose progress the preview shows."""
    run_file = upload_in(project, pk)
    skip, at = request.POST.get("skip_unknown") == "yes", timezone.now()
    tag = request.POST.get("tag", "").strip()[:LONGEST_TAG]
    try:
        outcome = confirm_upload(upload=run_file, skip_unknown=skip, tag=tag, actor=request.user, at=at)
    except (RunRefused, SystemRefused, TooLong) as refusal:
        if refusal.code.startswith("upload_"):  # there is no preview to correct
            raise
        return _preview(request, project, upload_in(project, pk), refusal, tag)
    if isinstance(outcome, Job):
        return redirect("retrieval:preview", slug=project.slug, pk=run_file.pk)
    return _imported(request, project, outcome.run, is_new=outcome.is_new)


@require_POST
@member_view(Role.LEAD)
def discard(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    run_file = upload_in(project, pk)
    discard_run_file(upload_id=run_file.pk, actor=request.user, at=timezone.now())
    if request.POST.get("another") == "yes":
        return redirect(reverse("retrieval:upload", args=[project.slug], query={"again": run_file.pk}))
    return redirect("retrieval:overview", slug=project.slug)


def _imported(request: MemberRequest, project: Project, shown: Run, *, is_new: bool) -> HttpResponse:
    """To the page of an imported run, which names what to do next."""
    if is_new:
        messages.success(request, f"{shown.tag} is imported.")
    else:
        messages.info(request, "Nothing changed: this run is already here.")
    return redirect("retrieval:run", slug=project.slug, pk=shown.pk)


def _in_words_of_pages(error: dict[str, Any]) -> dict[str, Any]:
    """A stored mistake as the preview shows it: files and commands say block, pages say passage."""
    message = error["message"].replace(RUN_COLUMNS, SHOWN_COLUMNS)
    return {**error, "field": SHOWN_FIELDS.get(error["field"], error["field"]), "message": message}


def _earlier_details(request: MemberRequest, project: Project) -> dict[str, Any]:
    """The snapshot, system, tag, note and commit of the run file in `?again=`, to fill in the form."""
    again = key_in(request.GET.get("again", ""))
    if again is None:
        return {}
    run_file = upload_in(project, again)
    if run_file.purpose != RUN_IMPORT:
        return {}
    usage = run_file.options.get("usage") or {}
    return {**run_file.options, "usage": " ".join(f"{name}={value}" for name, value in usage.items())}
