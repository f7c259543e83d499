"""The lists of triples and of candidates, and what an author or a lead does with one outside of its reviews."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import key_in
from apps.triples import rules
from apps.triples.actions.imports import CandidateRefused, adopt_candidate, reject_candidate
from apps.triples.actions.triples import RetireRefused, reopen_as_draft, retire_triple, withdraw_draft
from apps.triples.enums import RetireReason
from apps.triples.forms import ListForm, RetireForm
from apps.triples.models import Triple
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.draft_checks import checks_of
from apps.triples.selectors.retriever_hits import candidate_in, next_candidate
from apps.triples.selectors.retriever_hits import page_of as page_of_candidates
from apps.triples.selectors.triples import expected_blocks, page_of, triple_for, writing_snapshot

MOST_SOUGHT = 500


def words_sought(request: HttpRequest) -> str:
    """The search words of the request, without NUL, which PostgreSQL rejects."""
    return request.GET.get("q", "").replace("\x00", "").strip()[:MOST_SOUGHT]


# Lists -------------------------------------------------------------------------------------------------------------


def _listed(request: HttpRequest, project: Project, *, title: str, mine: bool) -> HttpResponse:
    member = member_of(request)
    form = ListForm(request.GET, project=project, mine=mine)
    narrowing = form.narrowing(words=words_sought(request))
    filters = narrowing._replace(author=member.user) if mine else narrowing
    before = key_in(request.GET.get("before", ""))
    context = {
        "title": title,
        "mine": mine,
        "form": form,
        "page": page_of(member, filters, before=before),
        "words": narrowing.words,
        "is_narrowed": any(narrowing),
        "is_first": before is None,
        "can_write": member.holds(*WRITERS),
    }
    return render(request, "triples/list.html", context)


@member_view(*READERS)
@require_safe
def triples(request: HttpRequest, project: Project) -> HttpResponse:
    return _listed(request, project, title="All Q&As", mine=False)


@member_view(*READERS)
@require_safe
def mine(request: HttpRequest, project: Project) -> HttpResponse:
    return _listed(request, project, title="My Q&As", mine=True)


# Candidates ---------------------------------------------------------------------------------------------------------


def _number(request: HttpRequest, name: str) -> int:
    """A number from the address; 0 for anything else."""
    return key_in(request.GET.get(name, "")) or 0


@member_view(*WRITERS)
@require_safe
def candidates(request: HttpRequest, project: Project) -> HttpResponse:
    """Candidates by number, a page after `?after=` or before `?before=`."""
    page = page_of_candidates(project, after=_number(request, "after"), before=_number(request, "before"))
    return render(request, "triples/candidates.html", {"page": page})


def _candidate_page(
    request: HttpRequest, triple: Triple, *, fault: str = "", posted: str = "", status: int = 200
) -> HttpResponse:
    member = member_of(request)
    revision = triple.revision
    context = {
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
    return _candidate_page(request, candidate_in(project, pk))


@member_view(*WRITERS)
@require_POST
def adopt(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Become the author, and open it on the bench."""
    person = user_of(request)
    triple = adopt_candidate(project=project, triple_id=pk, person=person, at=timezone.now())
    messages.info(request, f"{triple.label} is now your draft. Check and correct it, then submit it to two reviewers.")
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(*WRITERS)
@require_POST
def reject(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Reject it, and show the next."""
    pending = candidate_in(project, pk)
    reason = request.POST.get("reason", "").replace("\x00", "")
    person = user_of(request)
    try:
        triple = reject_candidate(
            project=project, triple_id=pending.pk, person=person, reason=reason, at=timezone.now()
        )
    except CandidateRefused as refusal:
        if refusal.code not in {"reason_missing", "reason_too_long"}:
            raise
        return _candidate_page(request, pending, fault=refusal.sentence, posted=reason, status=400)
    messages.info(request, f"{triple.label} is rejected; the reason is saved with it.")
    following = next_candidate(project, triple.number)
    if following is None:
        return redirect("triples:candidates", slug=project.slug)
    return redirect("triples:candidate", slug=project.slug, pk=following.pk)


# Ends --------------------------------------------------------------------------------------------------------------


@member_view(*WRITERS)
@require_POST
def withdraw(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    withdraw_draft(project=project, triple_id=triple.pk, author=user_of(request), at=timezone.now())
    messages.info(request, f"{triple.label} is withdrawn.")
    return redirect("triples:mine", slug=project.slug)


@member_view(*WRITERS)
@require_POST
def reopen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    reopen_as_draft(
        project=project,
        triple_id=triple.pk,
        author=user_of(request),
        snapshot=writing_snapshot(triple),
        at=timezone.now(),
    )
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(Role.LEAD)
@require_POST
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = RetireForm(request.POST)
    if not form.is_valid():
        raise RetireRefused("Choose one of the three reasons to retire it.", code="reason_missing")
    retire_triple(
        project=project,
        triple_id=triple.pk,
        lead=user_of(request),
        roles=member_of(request).roles,
        reason=RetireReason(form.cleaned_data["reason"]),
        at=timezone.now(),
    )
    messages.info(request, f"{triple.label} is retired.")
    return redirect("review:triple", slug=project.slug, pk=triple.pk)
