"""The review queue and screen, and the verdict."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.review import rules
from apps.review.actions import VerdictRefused, give_verdict
from apps.review.diffs import last_difference
from apps.review.enums import CATEGORY_KEYS, REASON_HELP, REASON_KEYS, Category, Choice, Reason
from apps.review.forms import VerdictForm, fresh_key
from apps.review.models import Verdict
from apps.review.policies import POLICIES
from apps.review.selectors import disputed_with, next_in_queue, open_seats_of, review_queue, to_adjudicate
from apps.review.standing import Standing, standing_for
from apps.triples.models import Triple
from apps.triples.selectors import expected_blocks, triple_for

READERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
LAST_REVIEWED = "review-last"
LAST_SAID = "review-said"


@member_view(*READERS)
@require_GET
def queue(request: HttpRequest, project: Project) -> HttpResponse:
    """What waits: to review, to settle, and for leads to adjudicate."""
    member = member_of(request)
    person = member.user
    waiting = list(review_queue(person, project))
    answered = {seat.pk for seat in open_seats_of(person, project)} - {seat.pk for seat in waiting}
    return render(
        request,
        "review/queue.html",
        {
            "section": "Review",
            "waiting": waiting,
            "answered": [seat for seat in open_seats_of(person, project) if seat.pk in answered],
            "disputes": list(disputed_with(person, project)),
            "adjudications": list(to_adjudicate(person, project)) if member.is_lead else [],
        }
        | _just_said(request, project),
    )


@member_view(Role.REVIEWER)
@require_GET
def next_triple(request: HttpRequest, project: Project) -> HttpResponse:
    """The next triple of the queue, behind `?after=`; the queue itself when nothing waits."""
    after = request.GET.get("after", "")
    triple = next_in_queue(
        member_of(request).user, project, int(after) if after.isdecimal() and len(after) < 18 else None
    )
    if triple is None:
        return redirect("review:queue", slug=project.slug)
    return redirect("review:screen", slug=project.slug, pk=triple.pk)


def _reasons(chosen: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "value": reason.value,
            "label": reason.label,
            "help": REASON_HELP[reason],
            "key": REASON_KEYS[reason],
            "checked": reason.value in chosen,
        }
        for reason in Reason
    ]


def _categories(chosen: str) -> list[dict[str, Any]]:
    return [
        {
            "value": category.value,
            "label": category.label,
            "help": POLICIES[category].short,
            "key": CATEGORY_KEYS[category],
            "checked": category.value == chosen,
        }
        for category in Category
    ]


def _undo(request: HttpRequest, project: Project) -> Triple | None:
    """The triple answered last, while its round is open; else None."""
    last = request.session.get(LAST_REVIEWED)
    if last is None:
        return None
    seat = open_seats_of(member_of(request).user, project).filter(revision__triple=last).first()
    return seat.revision.triple if seat else None


def _just_said(request: HttpRequest, project: Project) -> dict[str, Any]:
    """What the person answered just now, to be said once, and the way back while there is one."""
    return {"said": request.session.pop(LAST_SAID, ""), "undo": _undo(request, project)}


def _screen(
    request: HttpRequest,
    triple: Triple,
    standing: Standing,
    given: dict[str, Any],
    *,
    fault: str = "",
    status: int = 200,
) -> HttpResponse:
    revision = triple.revision
    context = {
        "section": "Review",
        "triple": triple,
        "revision": revision,
        "blocks": expected_blocks(revision),
        "difference": last_difference(revision),
        "reasons": _reasons(given.get("reasons", [])),
        "categories": _categories(given.get("category", "")),
        "choice": given.get("choice", ""),
        "note": given.get("note", ""),
        "own": standing.own,
        "key": fresh_key(),
        "fault": fault,
        "waiting": review_queue(member_of(request).user, triple.project).count(),
    } | _just_said(request, triple.project)
    if context["undo"] == triple:
        context["undo"] = None
    return render(request, "review/screen.html", context, status=status)


def _as_given(verdict: Verdict | None) -> dict[str, Any]:
    if verdict is None:
        return {}
    return {
        "choice": verdict.choice,
        "reasons": verdict.reasons,
        "category": verdict.category,
        "note": verdict.note,
    }


@member_view(Role.REVIEWER)
@require_GET
def screen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One triple to confirm or flag. Whoever has no seat in its open round is sent to its page."""
    triple = triple_for(member_of(request), pk)
    standing = standing_for(triple, member_of(request))
    if rules.verdict_refusal(triple, standing):
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    return _screen(request, triple, standing, _as_given(standing.own))


@member_view(Role.REVIEWER)
@require_POST
def verdict(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take the answer and go on to the next; a fault shows the same screen with what was chosen."""
    triple = triple_for(member_of(request), pk)
    form = VerdictForm(request.POST)
    if not form.is_valid():
        return _again(request, triple, "Choose confirm or flag first.")
    try:
        given = give_verdict(
            project=project,
            triple_id=triple.pk,
            reviewer=member_of(request).user,
            at=timezone.now(),
            **form.verdict(),
        )
    except VerdictRefused as refusal:
        if refusal.code != "bad_verdict":
            raise
        return _again(request, triple, refusal.sentence)
    request.session[LAST_REVIEWED] = triple.pk
    word = "confirmed" if given.choice == Choice.CONFIRM else "flagged"
    request.session[LAST_SAID] = f"{triple.label} {word}."
    return redirect("review:next", slug=project.slug)


def _again(request: HttpRequest, triple: Triple, fault: str) -> HttpResponse:
    standing = standing_for(triple, member_of(request))
    if reason := rules.verdict_refusal(triple, standing):
        raise VerdictRefused(reason, code="no_verdict")
    posted = request.POST
    given = {
        "choice": posted.get("choice", ""),
        "reasons": posted.getlist("reasons"),
        "category": posted.get("category", ""),
        "note": posted.get("note", ""),
    }
    return _screen(request, triple, standing, given, fault=fault, status=400)
