"""One passage that may be right as well: two reviewers answer, and a lead decides where they differ."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.web.requests import key_in
from apps.review.actions.candidate_blocks import (
    CandidateRefused,
    answer_candidate,
    decide_candidate,
    withdraw_candidate,
)
from apps.review.enums import CandidateChoice
from apps.review.forms import CandidateAnswerForm, CandidateDecisionForm, fresh_key
from apps.review.models import CandidateBlock
from apps.review.selectors.candidate_blocks import CandidateView, asked_of, next_to_answer, to_answer, view_of
from apps.review.selectors.queues import tally
from apps.triples.rules import READERS
from apps.triples.selectors.triples import expected_blocks, triple_for

LAST = "candidate-last"


def _found(request: HttpRequest, candidate_pk: int) -> CandidateBlock:
    rows = CandidateBlock.objects.select_related("version__block__document", "proposed_by")
    candidate = rows.filter(pk=candidate_pk, triple__project=member_of(request).project).first()
    if candidate is None:
        raise Http404("No such passage is being asked about.")
    candidate.triple = triple_for(member_of(request), candidate.triple_id)
    return candidate


@member_view(Role.REVIEWER)
@require_safe
def following(request: HttpRequest, project: Project) -> HttpResponse:
    """The next passage that this reviewer may answer, after `?after=`; My work when there is none."""
    return _to_next(request, project, key_in(request.GET.get("after", "")))


def _to_next(request: HttpRequest, project: Project, after: int | None) -> HttpResponse:
    candidate = next_to_answer(user_of(request), project, after)
    if candidate is None:
        return redirect("review:queue", slug=project.slug)
    return redirect("review:candidate", slug=project.slug, candidate_pk=candidate.pk)


@member_view(*READERS)
@require_safe
def screen(request: HttpRequest, project: Project, candidate_pk: int) -> HttpResponse:
    """The passage beside the expected one. Redirects to the Q&A for people who neither answer nor decide."""
    candidate = _found(request, candidate_pk)
    view = view_of(candidate, member_of(request))
    if not (view.may_answer or view.may_decide):
        return redirect("review:triple", slug=project.slug, pk=candidate.triple_id)
    return _screen(request, view)


def _screen(
    request: HttpRequest, view: CandidateView, *, fault: str = "", note: str = "", status: int = 200
) -> HttpResponse:
    triple, person = view.candidate.triple, user_of(request)
    context = {
        "view": view,
        "candidate": view.candidate,
        "triple": triple,
        "revision": triple.revision,
        "blocks": expected_blocks(triple.revision),
        "waiting": tally(to_answer(person, triple.project), "proposed_at"),
        "undo": _undo(request, view.candidate),
        "note": note or (view.own.note if view.own else ""),
        "key": fresh_key(),
        "fault": fault,
    }
    return render(request, "review/candidate_block.html", context, status=status)


def _undo(request: HttpRequest, shown: CandidateBlock) -> CandidateBlock | None:
    """The passage answered last, while it is open; else None."""
    last = request.session.get(LAST)
    if last is None or last == shown.pk:
        return None
    return asked_of(user_of(request), shown.triple.project).filter(pk=last).first()


@member_view(Role.REVIEWER)
@require_POST
def answer(request: HttpRequest, project: Project, candidate_pk: int) -> HttpResponse:
    """Store the answer and show the next passage."""
    candidate, form = _found(request, candidate_pk), CandidateAnswerForm(request.POST)
    if not form.is_valid():
        view = view_of(candidate, member_of(request))
        fault = "Press c if the passage answers the question as well, f if it does not."
        return _screen(request, view, fault=fault, note=request.POST.get("note", ""), status=400)
    given = answer_candidate(
        project=project,
        pk=candidate.pk,
        reviewer=user_of(request),
        choice=form.cleaned_data["choice"],
        note=form.cleaned_data["note"],
        idempotency_key=form.cleaned_data["key"],
        at=timezone.now(),
    )
    request.session[LAST] = candidate.pk
    word = "also right" if given.choice == CandidateChoice.CONFIRM else "not right"
    messages.info(request, f"{candidate.triple.label}: you answered “{word}”.")
    return _to_next(request, project, candidate.pk)


@member_view(Role.LEAD)
@require_POST
def decide(request: HttpRequest, project: Project, candidate_pk: int) -> HttpResponse:
    candidate, form = _found(request, candidate_pk), CandidateDecisionForm(request.POST)
    form.is_valid()
    try:
        decided = decide_candidate(
            project=project,
            pk=candidate.pk,
            lead=user_of(request),
            step=form.cleaned_data.get("step", ""),
            reason=form.cleaned_data.get("reason", ""),
            at=timezone.now(),
        )
    except CandidateRefused as refusal:
        if refusal.code != "bad_decision":
            raise
        view = view_of(candidate, member_of(request))
        return _screen(request, view, fault=refusal.sentence, note=request.POST.get("reason", ""), status=400)
    word = "added" if decided.added else "not added"
    messages.info(request, f"Decided: the passage is {word}. The Q&A stays accepted.")
    return redirect("review:triple", slug=project.slug, pk=candidate.triple_id)


@member_view(*READERS)
@require_POST
def withdraw(request: HttpRequest, project: Project, candidate_pk: int) -> HttpResponse:
    candidate = _found(request, candidate_pk)
    withdraw_candidate(project=project, pk=candidate.pk, person=user_of(request), at=timezone.now())
    messages.info(request, "Withdrawn: nobody is asked about this passage any more.")
    return redirect("review:triple", slug=project.slug, pk=candidate.triple_id)
