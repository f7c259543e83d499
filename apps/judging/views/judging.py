"""The judging screen: one pair at a time, as a page that works by itself and as the ground for the script."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST, require_safe

from apps.accounts.access import member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.judging import rules, selectors
from apps.judging.actions import claim_seats, give_judgement, release_seats
from apps.judging.api import USUAL_PAIRS
from apps.judging.enums import CantJudgeReason, SeatState
from apps.judging.forms import GradeForm
from apps.judging.guidelines import highest_first, to_html
from apps.judging.models import Round
from apps.judging.selectors import Reading
from apps.judging.strip import ticks
from apps.judging.views import user_of

REASON_KEYS = "qwer"
SHOWN_EXAMPLES = 1


@require_safe
@member_view(Role.ANNOTATOR)
def judge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The next pair, or the one named by `seat` that this person graded before."""
    round_ = selectors.own_round(user_of(request), project, pk)
    if rules.grading_refusal(round_):
        return render(request, "judging/ended.html", {"round": round_, "section": "Judging"})
    now = timezone.now()
    seats = claim_seats(round_=round_, annotator=user_of(request), n=USUAL_PAIRS, at=now)
    readings = selectors.readings(seats, annotator_id=user_of(request).pk)
    again = _own_reading(request, round_)
    if not readings and again is None:
        return render(request, "judging/done.html", _done_context(request, round_))
    return render(request, "judging/judge.html", _context(request, round_, readings, again))


def _own_reading(request: HttpRequest, round_: Round) -> Reading | None:
    seat = request.GET.get("seat", "")
    if not (seat.isascii() and seat.isdigit()):
        return None
    row = selectors.seat_in(round_, int(seat[:12]))
    if row.annotator_id != user_of(request).pk or row.state != SeatState.DONE:
        return None
    return selectors.readings([row], annotator_id=user_of(request).pk)[0]


def _context(request: HttpRequest, round_: Round, readings: list[Reading], again: Reading | None) -> dict[str, object]:
    progress = selectors.own_progress(round_, user_of(request))
    recent = selectors.recent_pairs(round_, user_of(request), 1)
    reading = again or readings[0]
    grades = round_.guideline.grades if round_.guideline else []
    return {
        "round": round_,
        "section": "Judging",
        "reading": reading,
        "next": [other for other in readings if other.seat_id != reading.seat_id],
        "progress": progress,
        "place": min(progress.done + (0 if again else 1), progress.total),
        "ticks": ticks(progress.done, progress.total),
        "last": None if again else (recent[0] if recent else None),
        "scale": round_.project.scale,
        "grades": highest_first(grades),
        "guideline_html": mark_safe(to_html(round_.guideline.markdown)) if round_.guideline else "",
        "limit": f":{SHOWN_EXAMPLES}",
        "more": sum(max(0, len(entry["examples"]) - SHOWN_EXAMPLES) for entry in grades),
        "reasons": list(zip(REASON_KEYS, CantJudgeReason.choices, strict=True)),
        "key": uuid4().hex,
    }


def _done_context(request: HttpRequest, round_: Round) -> dict[str, object]:
    recent = selectors.recent_pairs(round_, user_of(request), 1)
    return {
        "round": round_,
        "section": "Judging",
        "progress": selectors.own_progress(round_, user_of(request)),
        "last": recent[0] if recent else None,
        "held_by_others": selectors.totals(round_).held,
    }


@require_GET
@member_view(Role.ANNOTATOR)
def pairs(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The next pairs as fragments that lie ready in the page."""
    round_ = selectors.own_round(user_of(request), project, pk)
    asked = request.GET.get("n", "")
    n = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 3 else USUAL_PAIRS
    seats = claim_seats(round_=round_, annotator=user_of(request), n=n, at=timezone.now())
    readings = selectors.readings(seats, annotator_id=user_of(request).pk)
    return render(request, "judging/_pairs.html", {"readings": readings})


@require_POST
@member_view(Role.ANNOTATOR)
def grade(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take a grade from the plain form and show the next pair."""
    round_ = selectors.own_round(user_of(request), project, pk)
    screen = reverse("judging:judge", args=[project.slug, pk])
    form = GradeForm(request.POST, scale=project.grades)
    if not form.is_valid():
        messages.error(request, "Choose a grade, or a reason why the pair can’t be judged.")
        return redirect(screen)
    try:
        give_judgement(
            seat=selectors.seat_in(round_, form.cleaned_data["seat"]),
            annotator=user_of(request),
            answer=form.answer(),
            idempotency_key=form.cleaned_data["key"],
            at=timezone.now(),
        )
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return redirect(screen)


@require_POST
@member_view(Role.ANNOTATOR)
def release(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Give back the pairs this person holds."""
    round_ = selectors.own_round(user_of(request), project, pk)
    n = release_seats(round_=round_, annotator=user_of(request))
    word = "pair is" if n == 1 else "pairs are"
    messages.success(request, f"{n} {word} free for others again.")
    return redirect("judging:index", project.slug)
