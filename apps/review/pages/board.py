"""The lead's board, a lead's actions on several triples at once, and the export of triples."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.web.requests import key_in
from apps.review.actions.reminding import remind_reviewers
from apps.review.actions.seating import SeatRefused, reseat
from apps.review.pages.bulk import back_to_board, board_context, ticked
from apps.review.presenters.choices import export_response
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


MOST_TOLD = 5
STUCK_REASON = "Its reviewer can no longer answer."


@member_view(Role.LEAD)
@require_safe
def board(request: HttpRequest, project: Project) -> HttpResponse:
    """Every triple in progress, longest wait first; with `?select=all`, all that match are selected."""
    which = "all" if request.GET.get("select") == "all" else ""
    return render(request, "review/board.html", board_context(request, project, which=which))


def _show_messages(request: HttpRequest, left: list[str]) -> None:
    for sentence in left[:MOST_TOLD]:
        messages.warning(request, sentence)
    if len(left) > MOST_TOLD:
        messages.warning(request, f"{len(left) - MOST_TOLD} more stay unchanged for similar reasons.")


@member_view(Role.LEAD)
@require_POST
def re_seat(request: HttpRequest, project: Project) -> HttpResponse:
    """Give away one seat: `one` is the triple's key and its holder's, 0 for nobody's."""
    triple, _, holder = request.POST.get("one", "").partition(".")
    keys = key_in(triple), key_in(holder)
    if keys[0] is None or keys[1] is None:
        messages.warning(request, "That is not a valid choice.")
        return back_to_board(request, project)
    reviewer = User.objects.filter(pk=keys[1], memberships__project=project).distinct().first() if keys[1] else None
    if keys[1] and reviewer is None:
        messages.warning(request, "That person is not in this project.")
        return back_to_board(request, project)
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
    return back_to_board(request, project)


@member_view(Role.LEAD)
@require_POST
def remind(request: HttpRequest, project: Project) -> HttpResponse:
    """Remind reviewers who have not answered in the ticked triples, or in the `one` that is named."""
    one = key_in(request.POST.get("one", ""))
    chosen = [one] if one is not None else ticked(request)
    if not chosen:
        messages.warning(request, "Select the Q&As whose reviewers you want to remind.")
        return back_to_board(request, project)
    done = remind_reviewers(project=project, triple_ids=chosen, lead=user_of(request), at=timezone.now())
    if done.triples:
        names = ", ".join(triple.label for triple in done.triples[:MOST_TOLD])
        more = f" and {len(done.triples) - MOST_TOLD} more" if len(done.triples) > MOST_TOLD else ""
        messages.info(request, f"Reviewers who have not answered {names}{more} are reminded, at most once a day.")
    _show_messages(request, [f"{triple}: nobody is reminded. {sentence}" for triple, sentence in done.left])
    return back_to_board(request, project)
