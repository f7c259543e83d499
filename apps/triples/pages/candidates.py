"""The pages of machine-written candidates: the list, one to read, and the two decisions on it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.models import Project
from apps.triples import rules
from apps.triples.actions.adoption import CandidateRefused, adopt_candidate, reject_candidate
from apps.triples.models import Triple
from apps.triples.pages.audience import WRITERS
from apps.triples.selectors.candidates import candidate_in, next_candidate, page_of
from apps.triples.selectors.draft_checks import checks_of
from apps.triples.selectors.triples import expected_blocks


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
