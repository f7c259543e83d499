"""My work, the review screen, and the verdict."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.common.web.requests import key_in
from apps.review import rules
from apps.review.actions.seating import give_back_seat, pull_seat
from apps.review.actions.submitting import VerdictRefused, give_verdict
from apps.review.enums import VerdictChoice
from apps.review.forms import VerdictForm, fresh_key
from apps.review.models import ReviewSeat, Verdict
from apps.review.pages.work import WORDS, guideline_html, sections_of
from apps.review.presenters.choices import categories_shown, reasons_shown
from apps.review.selectors.participation import Participation, participation_for
from apps.review.selectors.queues import next_in_queue, offered_tally, open_seats_of, review_queue, tally
from apps.review.selectors.reviews import last_difference
from apps.review.selectors.seats import is_pulled
from apps.triples.enums import State
from apps.triples.models import ImportedEntry, Triple
from apps.triples.rules import READERS
from apps.triples.selectors.triples import expected_blocks, triple_for

LAST_REVIEWED = "review-last"
LAST_RESULT = "review-result"


@member_view(*READERS)
@require_safe
def queue(request: HttpRequest, project: Project) -> HttpResponse:
    """My work: this person's open triples, by section; `?show=` selects one, `?after=` a later page of it."""
    member, at = member_of(request), timezone.now()
    alone = show if (show := request.GET.get("show", "")) in WORDS else ""
    sections = sections_of(member, at, alone=alone, after=request.GET.get("after", ""))
    reviews = next((section.rows for section in sections if section.name == "review"), [])
    pulls = is_pulled(project) and member.holds(Role.REVIEWER)
    context = {
        "sections": sections,
        "reviews": reviews,
        "offer": offered_tally(member.user, project, at) if pulls and not reviews else None,
        "pulls": pulls,
        "alone": alone,
        "lease_hours": policy(project, "review_lease_hours"),
    }
    return render(request, "review/queue.html", context | _last_answer(request, project))


@member_view(Role.REVIEWER)
@require_safe
def next_triple(request: HttpRequest, project: Project) -> HttpResponse:
    """The next triple in which the person has a seat, after `?after=`; My work when there is none."""
    return _to_next(request, project, key_in(request.GET.get("after", "")))


def _to_next(request: HttpRequest, project: Project, after: int | None = None) -> HttpResponse:
    """Redirect to the screen itself: an address that redirects again would cost a second trip."""
    triple = next_in_queue(user_of(request), project, after)
    if triple is None:
        return redirect("review:queue", slug=project.slug)
    return redirect("review:screen", slug=project.slug, pk=triple.pk)


@member_view(Role.REVIEWER)
@require_POST
def pull(request: HttpRequest, project: Project) -> HttpResponse:
    """Take the next seat and show its triple."""
    seat = pull_seat(project=project, reviewer=user_of(request), at=timezone.now())
    if seat is None:
        messages.info(request, "Nothing left to review now.")
        return redirect("review:queue", slug=project.slug)
    return redirect("review:screen", slug=project.slug, pk=seat.revision.triple_id)


@member_view(Role.REVIEWER)
@require_POST
def skip(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Skip to another triple. A pulled seat is given back first."""
    triple, person, at = triple_for(member_of(request), pk), user_of(request), timezone.now()
    if is_pulled(project) and not rules.give_back_refusal(triple, participation_for(triple, member_of(request)), True):
        give_back_seat(project=project, triple_id=triple.pk, reviewer=person, at=at)
        pull_seat(project=project, reviewer=person, at=at, again=False)
        return _to_next(request, project)
    return _to_next(request, project, triple.pk)


def _undo(request: HttpRequest, project: Project) -> Triple | None:
    """The triple answered last, while its round is open; else None."""
    last = request.session.get(LAST_REVIEWED)
    if last is None:
        return None
    seat = open_seats_of(user_of(request), project).filter(revision__triple=last).first()
    return seat.revision.triple if seat else None


def _last_answer(request: HttpRequest, project: Project, given: Verdict | None = None) -> dict[str, Any]:
    """The person's last answer, to be shown once, with a link back while it can be changed.

    `given` is that answer, when this request has just stored it.
    """
    result = request.session.pop(LAST_RESULT, "")
    if given is None:
        return {"result": result, "undo": _undo(request, project)}
    triple = given.revision.triple
    return {"result": result, "undo": triple if triple.state == State.IN_REVIEW else None}


def _screen(
    request: HttpRequest,
    triple: Triple,
    participation: Participation,
    given: dict[str, Any],
    *,
    fault: str = "",
    address: str = "",
    status: int = 200,
    answered: Verdict | None = None,
) -> HttpResponse:
    """The screen; `address` is its own, where the browser knows it by another. `answered` was just stored."""
    revision = triple.revision
    context = {
        "triple": triple,
        "revision": revision,
        "blocks": expected_blocks(revision),
        "difference": last_difference(revision),
        "reasons": reasons_shown(given.get("reasons", [])),
        "categories": categories_shown(given.get("category", "")),
        "choice": given.get("choice", ""),
        "note": given.get("note", ""),
        "own": participation.own,
        "origin": ImportedEntry.objects.filter(triple=triple).first() if triple.is_machine_written else None,
        "guideline": guideline_html(triple.project),
        "pulled": is_pulled(triple.project),
        "key": fresh_key(),
        "fault": fault,
        "address": address,
        "waiting": tally(review_queue(user_of(request), triple.project), "opened_at"),
    } | _last_answer(request, triple.project, answered)
    if context["undo"] == triple:
        context["undo"] = None
    return render(request, "review/screen.html", context, status=status)


def _form_values(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    return {
        "choice": verdict.choice,
        "reasons": verdict.reasons,
        "category": verdict.category,
        "note": verdict.note,
    }


@member_view(Role.REVIEWER)
@require_safe
def screen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One triple to confirm or flag. Redirects to the triple's page without a seat in its open round."""
    triple = triple_for(member_of(request), pk)
    participation = participation_for(triple, member_of(request))
    if rules.verdict_refusal(triple, participation):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    return _screen(request, triple, participation, _form_values(participation.own))


@member_view(Role.REVIEWER)
@require_POST
def verdict(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Store the answer and show the next; a fault shows the same screen with what was chosen.

    Where the page's script asks for it (`straight`) the answer is the next screen, and the script names its address in
    the browser: one trip. Without a script it is a redirect there, so that reloading sends nothing again.
    """
    triple = triple_for(member_of(request), pk)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        return _again(request, triple, "Choose confirm or flag first.")
    at = timezone.now()
    try:
        given = give_verdict(
            project=project,
            triple_id=triple.pk,
            reviewer=user_of(request),
            at=at,
            **form.verdict(),
        )
    except VerdictRefused as refusal:
        if refusal.code != "bad_verdict":
            raise
        return _again(request, triple, refusal.sentence)
    seat = pull_seat(project=project, reviewer=user_of(request), at=timezone.now(), again=False)
    request.session[LAST_REVIEWED] = triple.pk
    word = "confirmed" if given.choice == VerdictChoice.CONFIRM else "flagged"
    request.session[LAST_RESULT] = f"{triple.label} {word}."
    if seat is None:
        return redirect("review:queue", slug=project.slug)
    address = reverse("review:screen", args=[project.slug, seat.revision.triple_id])
    if "straight" not in request.POST:
        return redirect(address)
    return _straight(request, seat, address, given if given.given_at == at else None)


def _straight(request: HttpRequest, seat: ReviewSeat, address: str, given: Verdict | None) -> HttpResponse:
    """The screen of a seat that was just read, in answer to the verdict before it."""
    following = triple_for(member_of(request), seat.revision.triple_id)
    participation = participation_for(following, member_of(request))
    if rules.verdict_refusal(following, participation):
        return redirect(address)
    own = _form_values(participation.own)
    return _screen(request, following, participation, own, address=address, answered=given)


def _again(request: HttpRequest, triple: Triple, fault: str) -> HttpResponse:
    participation = participation_for(triple, member_of(request))
    VerdictRefused.raise_for(rules.verdict_refusal(triple, participation), code="no_verdict")
    posted = request.POST
    given = {
        "choice": posted.get("choice", ""),
        "reasons": posted.getlist("reasons"),
        "category": posted.get("category", ""),
        "note": posted.get("note", ""),
    }
    return _screen(request, triple, participation, given, fault=fault, status=400)
