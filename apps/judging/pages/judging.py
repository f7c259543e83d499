"""The judging screen and its keys: a page that works alone and is the base for the script."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.rules import ProjectArchived
from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.common.errors import Refusal
from apps.common.text.markdown import to_html
from apps.judging import rules
from apps.judging.actions.judgements import KeysRefused, choose_keys, give_judgement, reset_keys
from apps.judging.actions.seats import claim_query_seats, claim_seats, release_seats
from apps.judging.core.eta import ticks
from apps.judging.core.guidelines import highest_first
from apps.judging.enums import CantJudgeReason
from apps.judging.forms.judging import GradeForm, KeysForm
from apps.judging.models import Judgement, Round, Seat
from apps.judging.rules import USUAL_PAIRS
from apps.judging.selectors.deciding import is_reconciled_in
from apps.judging.selectors.my_progress import OwnPlace, OwnProgress, own_place, share_question
from apps.judging.selectors.pending_work import waiting_differences
from apps.judging.selectors.plans import USUAL_PACE, plan_of, undecided_pilot_queries
from apps.judging.selectors.progress import leased_now
from apps.judging.selectors.reading import PairReading, ReadSeats, earlier_answers, own_answer, read_seats, readings
from apps.judging.selectors.rounds import keys_question, own_keys, own_round, seat_in


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.ANNOTATOR)
def keys(request: HttpRequest, project: Project) -> HttpResponse:
    """Give each act of the judging screen a key."""
    person = user_of(request)
    form = KeysForm(request.POST or None, scale=project.scale, chosen=own_keys(person))
    if request.method == "POST" and form.is_valid():
        try:
            choose_keys(person=person, keys=form.keys, digits_are_free=form.cleaned_data["digits_are_free"])
        except KeysRefused as refusal:
            form.blame(refusal.faults)
        else:
            messages.success(request, "Your keys are saved. They apply in every project.")
            return redirect("judging:keys", project.slug)
    status = 400 if form.is_bound else 200
    return render(request, "judging/keys.html", {"form": form}, status=status)


@require_POST
@member_view(Role.ANNOTATOR)
def keys_reset(request: HttpRequest, project: Project) -> HttpResponse:
    """Give every act its default key again."""
    reset_keys(person=user_of(request))
    messages.success(request, "The default keys are restored.")
    return redirect("judging:keys", project.slug)


SHOWN_EXAMPLES = 1
EARLIER = 5
MOST_KNOWN = 200
BY_PAIR, BY_QUERY = "pair", "query"
VIEW, GOES_ON = "judging_view", "judging_goes_on"


@require_safe
@member_view(Role.ANNOTATOR)
def judge(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The next pair, or the one named by `seat` that this person graded before.

    `view` chooses between one pair at a time and all pairs of a query, and is stored until changed.
    """
    place = own_place(user_of(request), project, pk)
    round_ = place.round
    if rules.grading_refusal(round_.state):
        return render(request, "judging/ended.html", {"round": round_})
    view, own = _view_of(request), _own_answer(request, round_)
    progress, keys = _progress_and_keys(request, place)
    if progress.is_past and not own and not _goes_on(request, round_):
        return _share_done(request, place, progress, keys)
    seats = _claim(request, round_, view, USUAL_PAIRS)
    before = earlier_answers(round_, user_of(request), before=own.seat_id if own else None, n=1)
    answers = [*before, own] if own else before
    shown = [*seats, *(answer.seat for answer in answers)]
    known = read_seats(shown, annotator_id=user_of(request).pk, answers=answers)
    readings = _readings(request, round_, seats, view, known)
    again = _readings(request, round_, [own.seat], BY_QUERY, known)[0] if own else None
    if again is None and all(reading.judgement for reading in readings):
        return render(request, "judging/done.html", _done_context(request, place))
    last = next(iter(_readings(request, round_, [answer.seat for answer in before], BY_PAIR, known)), None)
    context = _context(request, place, progress, keys, readings, again)
    return render(
        request, "judging/judge.html", context | {"last": last, "view": view, "usual_time": USUAL_PACE.minutes}
    )


def _share_done(request: HttpRequest, place: OwnPlace, progress: OwnProgress, keys: Mapping[str, str]) -> HttpResponse:
    """The stop at the end of one's share. What was leased ahead goes back to the others."""
    round_ = place.round
    ProjectArchived.unless_open(round_.project)
    release_seats(round_=round_, annotator=user_of(request))
    last = next(iter(earlier_answers(round_, user_of(request), before=None, n=1)), None)
    context = {"round": round_, "progress": progress, "keys": keys, "last": last, **_differing(request, round_)}
    return render(request, "judging/share_done.html", context)


def _view_of(request: HttpRequest) -> str:
    requested = request.GET.get("view")
    if requested in (BY_PAIR, BY_QUERY) and request.session.get(VIEW, BY_PAIR) != requested:
        request.session[VIEW] = requested
    return BY_QUERY if request.session.get(VIEW) == BY_QUERY else BY_PAIR


def _goes_on(request: HttpRequest, round_: Round) -> bool:
    """Whether this person has chosen to judge pairs of others' shares too. Stored until they sign out."""
    chosen = request.session.get(GOES_ON, [])
    if "more" in request.GET and round_.pk not in chosen:
        chosen = request.session[GOES_ON] = [*chosen, round_.pk]
    return round_.pk in chosen


def _claim(request: HttpRequest, round_: Round, view: str, n: int) -> list[Seat]:
    """Asking for pairs is no reading: they are leased. Raises ProjectArchived."""
    ProjectArchived.unless_open(round_.project)
    now = timezone.now()
    if view == BY_QUERY:
        return claim_query_seats(round_=round_, annotator=user_of(request), at=now)
    return claim_seats(round_=round_, annotator=user_of(request), n=n, at=now)


def _readings(
    request: HttpRequest, round_: Round, seats: Sequence[Seat], view: str, known: ReadSeats | None = None
) -> list[PairReading]:
    seed = round_.seed if view == BY_QUERY else None
    return readings(seats, annotator_id=user_of(request).pk, seed=seed, known=known)


def _own_answer(request: HttpRequest, round_: Round) -> Judgement | None:
    """What this person answered on the seat that the address names; None where it names none, or another's."""
    seat = request.GET.get("seat", "")
    if not (seat.isascii() and seat.isdigit()):
        return None
    answer = own_answer(round_, user_of(request), int(seat[:12]))
    if answer is None:
        seat_in(round_, int(seat[:12]))  # which is not found where there is no such seat
    return answer


def _context(
    request: HttpRequest,
    place: OwnPlace,
    progress: OwnProgress,
    keys: Mapping[str, str],
    readings: list[PairReading],
    again: PairReading | None,
) -> dict[str, Any]:
    round_ = place.round
    reading = again or next(reading for reading in readings if reading.judgement is None)
    grades = round_.guideline.grades if round_.guideline else []
    return {
        "round": round_,
        "reading": reading,
        "next": [other for other in readings if other.seat_id != reading.seat_id],
        "progress": progress,
        "place": progress.done + (0 if again else 1),
        "ticks": ticks(progress.done, progress.total),
        "scale": [{**entry, "key": keys.get(f"grade_{entry['grade']}", "")} for entry in round_.project.scale],
        "grades": highest_first(grades),
        "guideline_html": mark_safe(to_html(round_.guideline.markdown)) if round_.guideline else "",
        "limit": f":{SHOWN_EXAMPLES}",
        "more": sum(max(0, len(entry["examples"]) - SHOWN_EXAMPLES) for entry in grades),
        "keys": keys,
        "reasons": [(keys[value], value, label) for value, label in CantJudgeReason.choices],
        "key": uuid4().hex,
        "goes_on": _goes_on(request, round_),
    }


def _progress_and_keys(request: HttpRequest, place: OwnPlace) -> tuple[OwnProgress, dict[str, str]]:
    """In one statement."""
    questions: dict[str, BatchedRead[Any]] = {
        "progress": share_question(place),
        "keys": keys_question(user_of(request)),
    }
    found = answer_to(place.round, joined(questions))
    return found["progress"], found["keys"]


def _done_context(request: HttpRequest, place: OwnPlace) -> dict[str, object]:
    round_ = place.round
    recent = earlier_answers(round_, user_of(request), before=None, n=1)
    progress, keys = _progress_and_keys(request, place)
    return {
        "round": round_,
        "progress": progress,
        "last": recent[0].seat if recent else None,
        "undo_key": keys["undo"],
        "is_in_pilot": undecided_pilot_queries(round_) is not None,
        "held_by_others": leased_now(round_),
        **_differing(request, round_),
    }


def _differing(request: HttpRequest, round_: Round) -> dict[str, object]:
    """The differences that wait for this person, and whether some may follow."""
    plan = plan_of(round_)
    is_shared = (plan.overlap > 0 and plan.judges > 1) or plan.pilot > 0
    return {
        "differing": waiting_differences([round_], user_of(request))[round_.pk],
        "may_differ": is_shared and is_reconciled_in(round_),
    }


@require_safe
@member_view(Role.ANNOTATOR)
def pairs(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The next pairs as fragments that the page preloads. Those in `has` keep their lease and are not sent again."""
    round_ = own_round(user_of(request), project, pk)
    view = BY_QUERY if request.GET.get("view") == BY_QUERY else BY_PAIR
    requested = request.GET.get("n", "")
    n = int(requested) if requested.isascii() and requested.isdigit() and len(requested) < 3 else USUAL_PAIRS
    loaded = set(request.GET.get("has", "").split(",", MOST_KNOWN))
    readings = _readings(request, round_, _claim(request, round_, view, n), view)
    fresh = [reading for reading in readings if str(reading.seat_id) not in loaded]
    return render(request, "judging/_pairs.html", {"readings": fresh})


@require_safe
@member_view(Role.ANNOTATOR)
def earlier(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The person's grades before that of `seat`, latest first, for undo."""
    round_ = own_round(user_of(request), project, pk)
    requested = request.GET.get("seat", "")
    before = int(requested[:12]) if requested.isascii() and requested.isdigit() else None
    answers = earlier_answers(round_, user_of(request), before=before, n=EARLIER)
    seats = [answer.seat for answer in answers]
    known = read_seats(seats, annotator_id=user_of(request).pk, answers=answers)
    return render(request, "judging/_pairs.html", {"readings": _readings(request, round_, seats, BY_QUERY, known)})


@require_POST
@member_view(Role.ANNOTATOR)
def grade(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Store a grade from the plain form and show the next pair."""
    round_ = own_round(user_of(request), project, pk)
    screen = reverse("judging:judge", args=[project.slug, pk])
    form = GradeForm(request.POST, scale=project.grades)
    if not form.is_valid():
        messages.error(request, "Choose a grade, or a reason why the pair can’t be judged.")
        return redirect(screen)
    try:
        give_judgement(
            round_=round_,
            seat_id=form.cleaned_data["seat"],
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
    """Return the person's leased pairs to the queue."""
    round_ = own_round(user_of(request), project, pk)
    n = release_seats(round_=round_, annotator=user_of(request))
    word = "pair is" if n == 1 else "pairs are"
    messages.success(request, f"{n} {word} free for others again.")
    return redirect("judging:index", project.slug)
