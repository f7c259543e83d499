"""Pages of rounds: the list, a person's own work, and for a lead the board of a round and names in imported ones."""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.common.drawing import charts
from apps.common.errors import Refusal
from apps.common.web.requests import key_in
from apps.judging import rules
from apps.judging.actions.placeholders import ClaimRefused, claim_placeholder, end_claim
from apps.judging.actions.propagation import ALONG
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import return_seats_of
from apps.judging.core.eta import Lately, estimate
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Round
from apps.judging.pages.adjudication import left_words
from apps.judging.selectors import board, my_progress, progress
from apps.judging.selectors.board import (
    Answers,
    Overlap,
    Overlaps,
    RoundAnswers,
    SeatGroup,
    Steadiness,
    answers_in,
    steadiness,
)
from apps.judging.selectors.deciding import left_to_judges
from apps.judging.selectors.differences import Missing, missing_in
from apps.judging.selectors.my_progress import own_progress_in
from apps.judging.selectors.pending_work import waiting_differences
from apps.judging.selectors.placeholders import placeholder_in, placeholders_in
from apps.judging.selectors.plans import pace_of, rounds_of_kept_pairs
from apps.judging.selectors.progress import QueryProgress, left_over, places_in, to_go_by_person
from apps.judging.selectors.rounds import (
    latest_guideline,
    open_rounds_of,
    person_of_round,
    pilot_progress,
    round_in,
    round_summaries,
    rounds_of,
)


@require_safe
@member_view()
def index(request: HttpRequest, project: Project) -> HttpResponse:
    """The rounds: an annotator's own work, or for a lead all of it."""
    member = member_of(request)
    own = []
    if member.holds(Role.ANNOTATOR):
        rounds = list(open_rounds_of(user_of(request), project))
        progress = own_progress_in(rounds, user_of(request))
        waiting = waiting_differences(rounds, user_of(request))
        own = [(round_, progress[round_.pk], waiting[round_.pk]) for round_ in rounds]
    context = {
        "own": own,
        "guideline": latest_guideline(project),
        "rounds": round_summaries(project) if member.is_lead else [],
        "closed": rounds_of(user_of(request), project).filter(state=RoundState.CLOSED),
        "is_annotator": member.holds(Role.ANNOTATOR),
    }
    return render(request, "judging/index.html", context)


@require_safe
@member_view(Role.ANNOTATOR)
def mine(request: HttpRequest, project: Project) -> HttpResponse:
    """A person's own work: speed, consistency, and grades that decisions confirmed. Nobody else's is shown."""
    user = user_of(request)
    context = {
        "weeks": my_progress.own_weeks(user, project),
        "rounds": my_progress.own_rounds(user, project),
        "decisions": my_progress.own_decisions(user, project),
    }
    return render(request, "judging/mine.html", context)


@require_POST
@member_view(Role.LEAD)
def close(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    round_ = round_in(project, pk)
    close_round(round_id=round_.pk, actor=user_of(request), at=timezone.now())
    return redirect("judging:round", slug=project.slug, pk=pk)


SHOWN_QUERIES = 500
COUNTED_AT_ONCE = 50_000


class PersonRow(NamedTuple):
    """A person on the board. `overlap` and `steadiness` are None where the reader grades in the open round."""

    person: User
    answers: Answers
    held: int
    to_go: int
    overlap: Overlap | None
    steadiness: Steadiness | None


class BoardQuery(NamedTuple):
    progress: QueryProgress
    overlap: Overlap | None


@require_safe
@member_view(Role.LEAD)
def round_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """One round for its leads: by person and by query, and what is to be decided. Shows no grade."""
    round_ = round_in(project, pk)
    totals, undecided = board.totals_and_undecided(round_, user_of(request))
    is_imported = round_.kind in (RoundKind.IMPORTED, RoundKind.PROPAGATED)
    now = timezone.now()
    answers, seats = answers_in(round_, at=now), board.taken_seats(round_, at=now)
    is_blind = round_.state != RoundState.CLOSED and board.is_asked(round_, user_of(request))
    is_put_off = totals.done > COUNTED_AT_ONCE and "differ" not in request.GET
    is_open = round_.state == RoundState.OPEN
    stuck = progress.stuck(round_) if is_open else 0
    missing = _missing(round_, user_of(request), is_counted=is_put_off)
    whose = rules.words_on_missing(missing)
    plan = round_.pool.plan or {}
    context = {
        "is_full": is_open and totals.planned > 0 and not totals.to_go,
        "round": round_,
        "totals": totals,
        "meter": charts.meter("Judgements given", totals.done, totals.planned),
        "stuck": stuck,
        "left_over": left_over(round_) if is_open else None,
        "waiting": undecided if _has_disputes(round_) else 0,
        "left": left_words(round_, user_of(request)),
        "is_asked": board.is_asked(round_, user_of(request)),
        "pilot": pilot_progress(round_),
        "close_refusal": rules.close_refusal(round_),
        "closing": rules.words_on_closing(totals.to_go, unsettled=whose),
        "missing": missing,
        "whose": whose,
        "left_open": totals.to_go if round_.state == RoundState.CLOSED and not is_imported else 0,
        "is_imported": is_imported,
        "is_carried": round_.kind == RoundKind.PROPAGATED,
        "along": plan if plan.get("how") == ALONG["how"] else None,
        "lately": answers.lately,
        "kept": rounds_of_kept_pairs(round_),
        "is_several": is_imported and round_.judges > 1,
        **_rows(round_, answers, board.held_by(seats), is_hidden=is_blind or is_put_off),
        "is_blind": is_blind,
        "is_put_off": is_put_off,
        **_forecast(round_, totals.to_go - stuck, answers.lately, seats, at=now),
    }
    return render(request, "judging/round.html", context)


def _missing(round_: Round, reader: User, *, is_counted: bool) -> Missing:
    """The answers that the round waits for. In a large one it is only counted how many pairs there are."""
    if not is_counted:
        return missing_in(round_, reader)
    return Missing(0 if board.is_asked(round_, reader) else left_to_judges(round_.project, [round_])[round_.pk])


def _has_disputes(round_: Round) -> bool:
    return round_.state != RoundState.OPENING and (round_.kind == RoundKind.JUDGING or round_.judges != 1)


def _rows(round_: Round, answers: RoundAnswers, held: Counter[int], *, is_hidden: bool) -> dict[str, object]:
    """People and queries. Differences are hidden from a reader who still grades here.

    In a large round they are counted only on request, since that reads every grade.
    """
    queries = progress.by_query(round_)
    by_query, by_person = Overlaps({}, {}) if is_hidden else board.overlaps(round_)
    steady = {} if is_hidden else steadiness(round_)
    shown = queries[:SHOWN_QUERIES]
    to_go = to_go_by_person(round_) if round_.state == RoundState.OPEN else Counter[int]()
    return {
        "is_hidden": is_hidden,
        "shows_steadiness": bool(steady),
        "overlap": None if is_hidden else board.overlap_of(by_query),
        "people": [
            PersonRow(
                person,
                answers.of(person),
                held[person.pk],
                to_go[person.pk],
                None if is_hidden else by_person.get(person.pk, Overlap()),
                steady.get(person.pk),
            )
            for person in (place.person for place in places_in(round_))
        ],
        "queries": [
            BoardQuery(each, None if is_hidden else by_query.get(each.outside_id, Overlap())) for each in shown
        ],
        "unshown": max(0, len(queries) - SHOWN_QUERIES),
        "query_count": len(queries),
    }


def _forecast(round_: Round, to_go: int, lately: Lately, seats: list[SeatGroup], *, at: datetime) -> dict[str, object]:
    """The expected end of an open round, its additional seats, and people with stuck seats."""
    if round_.state != RoundState.OPEN:
        return {"eta": None, "on_top": None, "holders": []}
    return {
        "eta": estimate(to_go, lately, today=timezone.localdate(at)) if to_go > 0 else None,
        "work": pace_of(round_.project).words_for(to_go) if to_go > 0 else "",
        "on_top": board.on_top(seats),
        "holders": board.stuck_holders(round_, seats),
    }


@require_POST
@member_view(Role.LEAD)
def give_back(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Return somebody else's leased pairs to the queue."""
    round_ = round_in(project, pk)
    key = key_in(request.POST.get("person", ""))
    person = person_of_round(round_, key) if key is not None else None
    if person is None:
        messages.error(request, "No person of this round was chosen, so nothing was given back.")
        return redirect("judging:round", slug=project.slug, pk=pk)
    try:
        n = return_seats_of(round_=round_, holder=person, actor=user_of(request), at=timezone.now())
        word = "pair is" if n == 1 else "pairs are"
        messages.success(request, f"{n} {word} free for others again.")
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:round", slug=project.slug, pk=pk)


@require_safe
@member_view(Role.LEAD)
def placeholders(request: HttpRequest, project: Project) -> HttpResponse:
    context = {"placeholders": placeholders_in(project), "people": members_of(project)}
    return render(request, "judging/placeholders.html", context)


@require_POST
@member_view(Role.LEAD)
def join_placeholder(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Join a name to the member whom it is."""
    placeholder = placeholder_in(project, pk)
    member_id = key_in(request.POST.get("person", "")) or 0
    try:
        joined = claim_placeholder(
            project=project, placeholder=placeholder, member_id=member_id, actor=user_of(request), at=timezone.now()
        )
        messages.success(request, f"{placeholder.name} is {joined.member}. The grades stay as they were given.")
    except ClaimRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:placeholders", slug=project.slug)


@require_POST
@member_view(Role.LEAD)
def free_placeholder(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Take back whom a name was joined to."""
    placeholder = placeholder_in(project, pk)
    try:
        end_claim(project=project, placeholder=placeholder, actor=user_of(request), at=timezone.now())
        messages.success(request, f"{placeholder.name} is only a name again.")
    except ClaimRefused as refusal:
        messages.error(request, refusal.sentence)
    return redirect("judging:placeholders", slug=project.slug)
