from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.edges.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Forbidden, Refusal
from apps.common.files.faults import errors_as_csv
from apps.corpus.selectors.corpora import snapshot_in, snapshots_in
from apps.jobs.actions.uploads import upload_in
from apps.jobs.enums import JobState, UploadState
from apps.jobs.models import Job
from apps.retrieval import actions, selectors
from apps.retrieval.enums import RUN_IMPORT
from apps.retrieval.execution.intake import facts_of_upload
from apps.retrieval.forms import LedgerForm, UploadForm

SECTION = {"section": "Runs"}
MISTAKES_SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def run(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """A run: state, counts, latency, ledger note. Leads write the note here."""
    shown = selectors.run_in(project, pk)
    is_lead = request.member.is_lead
    if request.method == "POST":
        if not is_lead:
            raise Forbidden("Only leads can change the ledger.", code="leads_only")
        form = LedgerForm(request.POST)
        if form.is_valid():
            actions.annotate_run(run=shown, **form.cleaned_data, actor=request.user, at=timezone.now())
            return redirect("retrieval:run", slug=project.slug, pk=shown.pk)
    else:
        form = LedgerForm(initial={"note": shown.note, "commit": shown.commit})
    components = selectors.components_of(shown)
    context = {**SECTION, "run": shown, "form": form, "components": components, "pools": selectors.pools_with(shown)}
    return render(request, "retrieval/run.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def upload(request: MemberRequest, project: Project) -> HttpResponse:
    """Hand in a run file; the next page shows what it would come to."""
    form = UploadForm(request.POST or None, request.FILES or None, project=project, initial=_said(request, project))
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        said = {key: values[key].strip() for key in ("system", "tag", "note", "commit")}
        snapshot, at = values["snapshot"], timezone.now()
        try:
            kept = actions.hand_in_run(
                project=project, snapshot=snapshot, file=values["file"], said=said, actor=request.user, at=at
            )
        except Refusal as refusal:
            form.add_error("file", refusal.sentence)
        else:
            return redirect("retrieval:preview", slug=project.slug, pk=kept.pk)
    context = {**SECTION, "form": form, "has_snapshot": snapshots_in(project).exists()}
    return render(request, "retrieval/upload.html", context, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def preview(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """What a run file would come to: counts, and every id the project or the snapshot does not know.

    While a job reads a large file, or takes it in, the page shows how far it is.
    """
    kept = upload_in(project, pk)
    job = selectors.job_of_upload(kept)
    if kept.state == UploadState.USED and job is not None and job.result:
        return redirect("retrieval:run", slug=project.slug, pk=job.result["run_id"])
    if kept.state != UploadState.STORED:
        raise Refusal(f"This file has been {kept.get_state_display()}.", code="upload_closed")
    if job is not None and job.state != JobState.DONE:
        return render(request, "retrieval/reading.html", {**SECTION, "upload": kept, "job": job})
    found = facts_of_upload(kept)
    context = {
        **SECTION,
        "upload": kept,
        "found": found,
        "system": kept.options["system"] or kept.options["tag"] or found["tag"],
        "tag": kept.options["tag"] or found["tag"],
        "snapshot": snapshot_in(project, kept.options["snapshot"]),
        "same": selectors.run_in(project, found["same_run"]) if found["same_run"] else None,
        "equal": selectors.run_in(project, equal) if (equal := found.get("equal_run")) else None,
        "mistakes": found["errors"][:MISTAKES_SHOWN],
        "unshown": max(0, found["errors_total"] - MISTAKES_SHOWN),
        "query_total": selectors.queries_in(project).count(),
    }
    return render(request, "retrieval/preview.html", context)


@require_safe
@member_view(Role.LEAD)
def mistakes(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The mistakes of a run file as CSV."""
    kept = upload_in(project, pk)
    found = facts_of_upload(kept).get("errors", [])
    answer = HttpResponse(errors_as_csv(found), content_type="text/csv")
    answer["Content-Disposition"] = 'attachment; filename="mistakes.csv"'
    return answer


@require_POST
@member_view(Role.LEAD)
def confirm(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """Take a file in: a small one at once, a large one in a job, which the file's page then shows."""
    kept = upload_in(project, pk)
    skip, at = request.POST.get("skip_unknown") == "yes", timezone.now()
    taken = actions.confirm_upload(upload=kept, skip_unknown=skip, actor=request.user, at=at)
    if isinstance(taken, Job):
        return redirect("retrieval:preview", slug=project.slug, pk=kept.pk)
    if not taken.is_new:
        messages.info(request, "Nothing changed: this run is already here.")
    return redirect("retrieval:run", slug=project.slug, pk=taken.run.pk)


@require_POST
@member_view(Role.LEAD)
def discard(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    kept = upload_in(project, pk)
    actions.discard_run_file(upload_id=kept.pk, actor=request.user, at=timezone.now())
    if request.POST.get("another") == "yes":
        return redirect(f"{reverse('retrieval:upload', args=[project.slug])}?again={kept.pk}")
    return redirect("retrieval:overview", slug=project.slug)


def _said(request: MemberRequest, project: Project) -> dict[str, Any]:
    """What was said of the run file that `?again=` names: its snapshot, system, tag, note and commit."""
    again = request.GET.get("again", "")
    if not again.isdecimal():
        return {}
    kept = upload_in(project, int(again[:18]))
    return kept.options if kept.purpose == RUN_IMPORT else {}
