"""The lead's board, a lead's actions on several triples at once, and the export of triples."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.text.wording import plural
from apps.common.web.requests import key_in, keys_in
from apps.review.actions.reminding import remind_reviewers
from apps.review.actions.seating import SeatRefused, reseat, reseat_many
from apps.review.forms import BoardForm, ReseatForm
from apps.review.presenters import export_response
from apps.review.selectors.board import board_page, people_of_board
from apps.review.selectors.exports import STATES, Selection
from apps.triples.enums import State
from apps.triples.formats import FORMATS, WRITTEN
from apps.triples.rules import READERS


@member_view(*READERS)
@require_safe
def export(request: HttpRequest, project: Project) -> HttpResponse:
    state = request.GET.get("state", State.ACCEPTED.value)
    selection = Selection(project, state, member=member_of(request), at=timezone.now())
    context = {
        "section": "Q&A",
        "state": state,
        "states": STATES,
        "forms": {form: FORMATS[form] for form in WRITTEN},
        "label": STATES[state],
        "held": selection.held(),
        "left_out": selection.left_out(),
    }
    return render(request, "review/export.html", context)


@member_view(*READERS)
@require_safe
def export_file(request: HttpRequest, project: Project) -> StreamingHttpResponse:
    wanted = request.GET
    return export_response(
        member_of(request), state=wanted.get("state", State.ACCEPTED.value), form=wanted.get("format", "jsonl")
    )


MOST_TICKED = 200
MOST_TOLD = 5
STUCK_REASON = "Its reviewer can no longer answer."


@member_view(Role.LEAD)
@require_safe
def board(request: HttpRequest, project: Project) -> HttpResponse:
    """Every triple in progress, longest wait first."""
    people = list(people_of_board(project))
    form = BoardForm(request.GET, project=project, people=people)
    filters = form.filters()
    after = request.GET.get("after", "")
    page = board_page(project, user_of(request), filters, timezone.now(), after=after)
    context = {
        "form": form,
        "page": page,
        "is_first": not after,
        "is_narrowed": any(filters),
        "acting": ReseatForm(project=project, people=people),
        "first_stuck": next((row.triple.pk for row in page.rows if row.is_stuck), None),
    }
    return render(request, "review/board.html", context)


def _back(request: HttpRequest, project: Project) -> HttpResponse:
    query = request.GET.urlencode()
    return redirect(reverse("review:board", args=[project.slug]) + (f"?{query}" if query else ""))


def _ticked(request: HttpRequest) -> list[int]:
    return keys_in(request.POST.getlist("triple")[:MOST_TICKED])


def _show_messages(request: HttpRequest, left: list[str]) -> None:
    for sentence in left[:MOST_TOLD]:
        messages.warning(request, sentence)
    if len(left) > MOST_TOLD:
        messages.warning(request, f"{len(left) - MOST_TOLD} more stay unchanged for similar reasons.")


def _seats(count: int) -> str:
    return plural(count, "review went", "reviews went")


@member_view(Role.LEAD)
@require_POST
def re_seat(request: HttpRequest, project: Project) -> HttpResponse:
    """Give away one seat (`one`: the triple's and its holder's key, 0 for nobody's) or those of the ticked triples."""
    if "one" in request.POST:
        return _re_seat_one(request, project)
    form, ticked = ReseatForm(request.POST, project=project), _ticked(request)
    if not form.is_valid() or not ticked:
        messages.warning(
            request,
            "Select the Q&As to reassign first."
            if form.is_valid()
            else "Choose from the lists whom to replace and by whom.",
        )
        return _back(request, project)
    try:
        done = reseat_many(
            project=project,
            triple_ids=ticked,
            reviewer=form.cleaned_data["whose"],
            successor=form.cleaned_data["to"],
            lead=user_of(request),
            reason=form.cleaned_data["reason"],
            at=timezone.now(),
        )
    except SeatRefused as refusal:
        messages.warning(request, refusal.sentence)
        return _back(request, project)
    if done.seats:
        messages.info(request, f"{_seats(len(done.seats))} to somebody else.")
    _show_messages(request, [f"{left.triple} stays unchanged. {left.sentence}" for left in done.left])
    return _back(request, project)


def _re_seat_one(request: HttpRequest, project: Project) -> HttpResponse:
    triple, _, holder = request.POST["one"].partition(".")
    keys = key_in(triple), key_in(holder)
    if keys[0] is None or keys[1] is None:
        messages.warning(request, "That is not a valid choice.")
        return _back(request, project)
    reviewer = User.objects.filter(pk=keys[1], memberships__project=project).distinct().first() if keys[1] else None
    if keys[1] and reviewer is None:
        messages.warning(request, "That person is not in this project.")
        return _back(request, project)
    try:
        seat = reseat(
            project=project,
            triple_id=keys[0],
            reviewer=reviewer,
            lead=user_of(request),
            reason=STUCK_REASON,
            at=timezone.now(),
        )
    except SeatRefused as refusal:
        messages.warning(request, refusal.sentence)
    else:
        messages.info(request, f"{seat.revision.triple} is assigned to {seat.reviewer}.")
    return _back(request, project)


@member_view(Role.LEAD)
@require_POST
def remind(request: HttpRequest, project: Project) -> HttpResponse:
    """Remind reviewers who have not answered in the ticked triples, or in the `one` that is named."""
    one = key_in(request.POST.get("one", ""))
    ticked = [one] if one is not None else _ticked(request)
    if not ticked:
        messages.warning(request, "Select the Q&As whose reviewers you want to remind.")
        return _back(request, project)
    done = remind_reviewers(project=project, triple_ids=ticked, lead=user_of(request), at=timezone.now())
    if done.triples:
        names = ", ".join(triple.label for triple in done.triples[:MOST_TOLD])
        more = f" and {len(done.triples) - MOST_TOLD} more" if len(done.triples) > MOST_TOLD else ""
        messages.info(request, f"Reviewers who have not answered {names}{more} are reminded, at most once a day.")
    _show_messages(request, [f"{triple}: nobody is reminded. {sentence}" for triple, sentence in done.left])
    return _back(request, project)
