from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access import MemberRequest, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Forbidden, Refusal
from apps.common.inputs import as_row, errors_as_csv
from apps.corpus.selectors import snapshot_in, snapshots_in
from apps.jobs.enums import UploadState
from apps.jobs.models import Upload
from apps.jobs.uploads import discard_upload, store_upload, upload_in
from apps.retrieval import actions, selectors
from apps.retrieval.forms import LedgerForm, UploadForm
from apps.retrieval.imports import Draft
from apps.retrieval.reading import draft_of_file

SECTION = {"section": "Runs"}
MISTAKES_SHOWN = 50
PURPOSE = "run import"


@require_http_methods(["GET", "HEAD", "POST"])
@member_view()
def run(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """A run: state, counts, latency, ledger note. Leads write the note here."""
    shown = selectors.run_in(project, pk)
    is_lead = request.member.is_lead
    if request.method == "POST":
        if not is_lead:
            raise Forbidden("The ledger is kept by leads.", code="leads_only")
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
    form = UploadForm(request.POST or None, request.FILES or None, project=project)
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        options = {key: values[key].strip() for key in ("system", "tag", "note", "commit")}
        try:
            kept = store_upload(
                project=project,
                kind="run",
                purpose=PURPOSE,
                file=values["file"],
                options={**options, "snapshot": values["snapshot"].pk},
                actor=request.user,
                at=timezone.now(),
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
    """What a run file would come to: counts, and every id the project or the snapshot does not know."""
    kept = upload_in(project, pk)
    if kept.state != UploadState.STORED:
        raise Refusal(f"This file has been {kept.get_state_display()}.", code="upload_closed")
    draft = _draft(project, kept)
    system = kept.options["system"] or kept.options["tag"] or (draft.tags[0] if draft.tags else "")
    snapshot = snapshot_in(project, kept.options["snapshot"])
    same = None
    if draft.rankings and not draft.is_spoilt:
        same = actions.same_run(project=project, snapshot=snapshot, draft=draft, system=system)
    context = {
        **SECTION,
        "upload": kept,
        "draft": draft,
        "system": system,
        "tag": kept.options["tag"] or (draft.tags[0] if draft.tags else ""),
        "snapshot": snapshot,
        "same": same,
        "mistakes": list(draft.errors)[:MISTAKES_SHOWN],
        "unshown": max(0, draft.errors.total - MISTAKES_SHOWN),
        "query_total": selectors.queries_in(project).count(),
    }
    return render(request, "retrieval/preview.html", context)


@require_safe
@member_view(Role.LEAD)
def mistakes(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    """The mistakes of a run file as CSV."""
    draft = _draft(project, upload_in(project, pk))
    answer = HttpResponse(errors_as_csv(as_row(error) for error in draft.errors), content_type="text/csv")
    answer["Content-Disposition"] = 'attachment; filename="mistakes.csv"'
    return answer


@require_POST
@member_view(Role.LEAD)
def confirm(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    kept = upload_in(project, pk)
    imported = actions.import_upload(
        upload=kept,
        draft=_draft(project, kept),
        skip_unknown=request.POST.get("skip_unknown") == "yes",
        actor=request.user,
        at=timezone.now(),
    )
    if not imported.is_new:
        messages.info(request, "Nothing changed: exactly this run is here already.")
    return redirect("retrieval:run", slug=project.slug, pk=imported.run.pk)


@require_POST
@member_view(Role.LEAD)
def discard(request: MemberRequest, project: Project, pk: int) -> HttpResponse:
    kept = upload_in(project, pk)
    discard_upload(upload_id=kept.pk, actor=request.user, at=timezone.now())
    return redirect("retrieval:overview", slug=project.slug)


def _draft(project: Project, kept: Upload) -> Draft:
    if kept.purpose != PURPOSE or kept.state == UploadState.DISCARDED:
        raise Refusal("This file is not a run that waits to be taken in.", code="upload_closed")
    snapshot = snapshot_in(project, kept.options["snapshot"])
    return draft_of_file(kept.file, project=project, snapshot=snapshot, name=kept.filename)
