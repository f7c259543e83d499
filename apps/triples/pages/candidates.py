"""The pages of machine-written candidates, and the hits of retrievers that the bench shows."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.models import Project
from apps.corpus.models import Snapshot
from apps.retrieval.actions.loading import request_indexes
from apps.triples import rules
from apps.triples.actions.adoption import CandidateRefused, adopt_candidate, reject_candidate
from apps.triples.forms.block_fieldset import whole
from apps.triples.models import Triple
from apps.triples.pages.triples import WRITERS
from apps.triples.presenters import query_of, snapshot_or_404
from apps.triples.selectors.draft_checks import checks_of
from apps.triples.selectors.retriever_hits import candidate_in, next_candidate, page_of, panel, top_hits
from apps.triples.selectors.triples import expected_blocks

LONGEST = 2000


def _panel(request: HttpRequest, project: Project, snapshot: Snapshot) -> HttpResponse:
    data = request.POST or request.GET
    query = query_of(project, data.get("query", ""))
    text = data.get("question", "").replace("\x00", "")[:LONGEST]
    hits = top_hits(project, snapshot, text, query)
    expected = [block for value in data.getlist("block") if (block := whole(value)) is not None]
    shown = panel(snapshot, hits, expected=expected, query=query)
    return render(request, "triples/_hits.html", shown | {"project": project})


@member_view(*WRITERS)
@require_safe
def hits(request: HttpRequest, project: Project) -> HttpResponse:
    """The top hits of every retriever for the text in the question field."""
    return _panel(request, project, snapshot_or_404(request, project))


@member_view(*WRITERS)
@require_POST
def build_hits(request: HttpRequest, project: Project) -> HttpResponse:
    """Enqueue a job that builds the missing indexes of the snapshot."""
    snapshot = snapshot_or_404(request, project)
    job = request_indexes(project=project, snapshot_id=snapshot.pk, actor=member_of(request).user, at=timezone.now())
    if "HX-Request" in request.headers:
        return _panel(request, project, snapshot)
    messages.info(request, f"{job.title}: results appear once it is done.")
    return redirect(f"{reverse('triples:bench', args=[project.slug])}?corpus={snapshot.corpus_id}")


def _number(request: HttpRequest, name: str) -> int:
    """A number from the address; 0 for anything else."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


@member_view(*WRITERS)
@require_safe
def candidates(request: HttpRequest, project: Project) -> HttpResponse:
    """Candidates by number, a page after `?after=` or before `?before=`."""
    page = page_of(project, after=_number(request, "after"), before=_number(request, "before"))
    return render(request, "triples/candidates.html", {"section": "Q&A", "page": page})


def _page(
    request: HttpRequest, triple: Triple, *, fault: str = "", posted: str = "", status: int = 200
) -> HttpResponse:
    member = member_of(request)
    revision = triple.revision
    context = {
        "section": "Q&A",
        "triple": triple,
        "revision": revision,
        "blocks": expected_blocks(revision),
        "checks": checks_of(triple.project, member.user, revision),
        "refusal": rules.candidate_refusal(member.roles, triple),
        "following": next_candidate(triple.project, triple.number),
        "fault": fault,
        "posted": posted,
    }
    return render(request, "triples/candidate.html", context, status=status)


@member_view(*WRITERS)
@require_safe
def candidate(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _page(request, candidate_in(project, pk))


@member_view(*WRITERS)
@require_POST
def adopt(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Become the author, and open it on the bench."""
    person = member_of(request).user
    triple = adopt_candidate(project=project, triple_id=pk, person=person, at=timezone.now())
    messages.info(request, f"{triple.label} is now your draft. Check and correct it, then submit it to two reviewers.")
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(*WRITERS)
@require_POST
def reject(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Reject it, and show the next."""
    pending = candidate_in(project, pk)
    reason = request.POST.get("reason", "").replace("\x00", "")
    person = member_of(request).user
    try:
        triple = reject_candidate(
            project=project, triple_id=pending.pk, person=person, reason=reason, at=timezone.now()
        )
    except CandidateRefused as refusal:
        if refusal.code not in {"reason_missing", "reason_too_long"}:
            raise
        return _page(request, pending, fault=refusal.sentence, posted=reason, status=400)
    messages.info(request, f"{triple.label} is rejected; the reason is saved with it.")
    following = next_candidate(project, triple.number)
    if following is None:
        return redirect("triples:candidates", slug=project.slug)
    return redirect("triples:candidate", slug=project.slug, pk=following.pk)
