"""Calibrations: their list, the blind screen, and the page that compares."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.calibration import actions, rules
from apps.calibration.actions import CalibrationRefused
from apps.calibration.forms import OpenForm, TextForm
from apps.calibration.models import Calibration, CalibrationItem, CalibrationVerdict
from apps.calibration.selectors import calibrations
from apps.calibration.selectors.comparisons import comparison, in_words
from apps.calibration.selectors.openings import why_in_words
from apps.review.edges.choices import categories_shown, reasons_shown
from apps.review.enums import RateSide, VerdictChoice
from apps.review.forms import AnswerForm, fresh_key
from apps.triples.selectors.triples import expected_blocks

SECTION = "Agreement"
PARTICIPANTS = rules.PARTICIPANTS
PER_PAGE = 50
LAST_ANSWERED = "calibration_last"


# The list ----------------------------------------------------------------------------------------------------------


@member_view(*PARTICIPANTS)
@require_safe
def listing(request: HttpRequest, project: Project) -> HttpResponse:
    return _list(request, project, OpenForm(project=project))


def _list(
    request: HttpRequest, project: Project, form: OpenForm, *, fault: str = "", status: int = 200
) -> HttpResponse:
    member = member_of(request)
    page = Paginator(calibrations.calibrations_for(member), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": SECTION,
        "part": "calibration",
        "page": page,
        "rows": [(row, why_in_words(row.why)) for row in page.object_list],
        "waiting": calibrations.waiting_in(member.user, project).select_related("calibration"),
        "form": form,
        "fault": fault,
    }
    return render(request, "calibration/calibrations.html", context, status=status)


@member_view(Role.LEAD)
@require_POST
def open_one(request: HttpRequest, project: Project) -> HttpResponse:
    form = OpenForm(request.POST, project=project)
    if not form.is_valid():
        return _list(request, project, form, fault="Choose the two people.", status=400)
    chosen = form.cleaned_data
    try:
        made = actions.open_calibration(
            project=project,
            subject=chosen["subject"],
            partner=chosen["partner"],
            side=RateSide(chosen["side"]),
            lead=member_of(request).user,
            reason=chosen["reason"],
            at=timezone.now(),
        )
    except CalibrationRefused as refusal:
        return _list(request, project, form, fault=refusal.sentence, status=refusal.status)
    messages.info(request, f"{made} is open: both review {made.item_count} past Q&As.")
    return redirect("calibration:calibrations", slug=project.slug)


@member_view(Role.LEAD)
@require_POST
def check(request: HttpRequest, project: Project) -> HttpResponse:
    """Look at the charts now, as the task does every few hours."""
    checked = actions.check_project(project=project, actor=member_of(request).user, at=timezone.now())
    for sentence in checked.refused:
        messages.warning(request, f"A flag rate is out of its limits, but no calibration could be opened. {sentence}")
    if checked.opened:
        opened = ", ".join(f"{row} for {row.subject} {row.get_side_display()}" for row in checked.opened)
        messages.info(request, f"Opened: {opened}.")
    elif not checked.refused:
        messages.info(request, "No flag rate needs a new calibration.")
    return redirect("calibration:calibrations", slug=project.slug)


# One calibration ---------------------------------------------------------------------------------------------------


@member_view(*PARTICIPANTS)
@require_safe
def calibration(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    return _page(request, _found(request, number))


def _found(request: HttpRequest, number: int) -> Calibration:
    if number >= 2**31:
        raise Http404("No such calibration.")
    return calibrations.calibration_for(member_of(request), number)


def _page(
    request: HttpRequest, found: Calibration, *, fault: str = "", note: str = "", status: int = 200
) -> HttpResponse:
    """Until both have answered, the two see their own progress alone; a lead without a part sees how far each is."""
    member = member_of(request)
    is_mine = found.includes(member.user)
    own = calibrations.own_verdicts(found, member.user) if is_mine else {}
    watches = found.is_open and not is_mine
    progress = calibrations.answered_by(found) if watches else {}
    context = {
        "section": SECTION,
        "part": "calibration",
        "found": found,
        "why": why_in_words(found.why),
        "is_mine": is_mine,
        "done": len(own),
        "own": _own_answers(found, own) if found.is_open else [],
        "next": _next_item(found, own) if is_mine and found.is_open else None,
        "progress": [(person, progress.get(person.pk, 0)) for person in (found.subject, found.partner)]
        if watches
        else [],
        "compared": None if found.is_open else comparison(found),
        "thread": [] if found.is_open else calibrations.messages_of(found),
        "discuss_refusal": rules.discuss_refusal(found, member),
        "close_refusal": rules.close_refusal(found, member),
        "fault": fault,
        "note": note,
    }
    return render(request, "calibration/calibration.html", context, status=status)


def _own_answers(found: Calibration, own: dict[int, CalibrationVerdict]) -> list[tuple[int, str]]:
    """Number and words of what the person has said, so that they can go back to it."""
    items = found.items.filter(pk__in=own).order_by("number")
    return [(item.number, in_words(own[item.pk].choice, own[item.pk].reasons, own[item.pk].category)) for item in items]


def _next_item(found: Calibration, own: dict[int, CalibrationVerdict], after: int = 0) -> CalibrationItem | None:
    """The next item without an answer behind number `after`, then from the first on."""
    waiting = [item for item in found.items.order_by("number") if item.pk not in own]
    return next((item for item in waiting if item.number > after), waiting[0] if waiting else None)


@member_view(*PARTICIPANTS)
@require_POST
def message(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    found = _found(request, number)
    form = TextForm(request.POST)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    try:
        actions.post_calibration_message(
            project=project, calibration_id=found.pk, author=member_of(request).user, text=text, at=timezone.now()
        )
    except CalibrationRefused as refusal:
        if refusal.code != "text_missing":
            raise
        return _page(request, found, fault=refusal.sentence, status=400)
    return redirect("calibration:calibration", slug=project.slug, number=number)


@member_view(*PARTICIPANTS)
@require_POST
def close(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    found = _found(request, number)
    form = TextForm(request.POST)
    note = form.cleaned_data["text"] if form.is_valid() else ""
    try:
        closed = actions.close_calibration(
            project=project, calibration_id=found.pk, person=member_of(request).user, note=note, at=timezone.now()
        )
    except CalibrationRefused as refusal:
        if refusal.code != "note_missing":
            raise
        return _page(request, found, fault=refusal.sentence, note=note, status=400)
    messages.info(request, f"{closed} is closed.")
    return redirect("calibration:calibration", slug=project.slug, number=number)


# The blind screen --------------------------------------------------------------------------------------------------


def _item(request: HttpRequest, number: int, place: int) -> tuple[Calibration, CalibrationItem]:
    """The item, for the two who answer it and nobody else."""
    found = _found(request, number)
    item = found.items.filter(number=min(place, 2**15 - 1)).select_related("revision__triple__source").first()
    if item is None or not found.includes(member_of(request).user):
        raise Http404("No such item.")
    item.calibration = found
    return found, item


@member_view(*PARTICIPANTS)
@require_safe
def screen(request: HttpRequest, project: Project, number: int, place: int) -> HttpResponse:
    found, item = _item(request, number, place)
    if rules.answer_refusal(found, member_of(request).user):
        return redirect("calibration:calibration", slug=project.slug, number=number)
    return _screen(request, item)


def _screen(
    request: HttpRequest,
    item: CalibrationItem,
    posted: dict[str, Any] | None = None,
    *,
    fault: str = "",
    status: int = 200,
) -> HttpResponse:
    found, person = item.calibration, member_of(request).user
    own = calibrations.own_verdicts(found, person)
    mine = own.get(item.pk)
    given = posted or (
        {"choice": mine.choice, "reasons": mine.reasons, "category": mine.category, "note": mine.note} if mine else {}
    )
    skip = _next_item(found, {**own, item.pk: mine} if mine else own, item.number)
    context = {
        "section": "Calibration",
        "found": found,
        "item": item,
        "revision": item.revision,
        "triple": item.revision.triple,
        "blocks": expected_blocks(item.revision),
        "reasons": reasons_shown(given.get("reasons", [])),
        "categories": categories_shown(given.get("category", "")),
        "choice": given.get("choice", ""),
        "text": given.get("note", ""),
        "own": mine,
        "key": fresh_key(),
        "fault": fault,
        "left": found.item_count - len(own),
        "undo": _undo(request, item, own),
        "skip": skip if skip and skip.pk != item.pk else None,
    }
    return render(request, "calibration/screen.html", context, status=status)


def _undo(request: HttpRequest, item: CalibrationItem, own: dict[int, CalibrationVerdict]) -> int | None:
    """The number of the item answered last, to go back to it."""
    last = request.session.get(LAST_ANSWERED)
    if not isinstance(last, list) or last[:1] != [item.calibration_id] or last[1] == item.number:
        return None
    return int(last[1])


@member_view(*PARTICIPANTS)
@require_POST
def answer(request: HttpRequest, project: Project, number: int, place: int) -> HttpResponse:
    """Take the answer and go on to the next; a fault shows the same screen with what was chosen."""
    found, item = _item(request, number, place)
    person = member_of(request).user
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _again(request, item, "Choose confirm or flag first.")
    try:
        given = actions.answer_item(
            project=project,
            calibration_id=found.pk,
            number=place,
            person=person,
            at=timezone.now(),
            **form.answer(),
        )
    except CalibrationRefused as refusal:
        if refusal.code != "bad_verdict":
            raise
        return _again(request, item, refusal.sentence)
    request.session[LAST_ANSWERED] = [found.pk, place]
    word = "confirmed" if given.choice == VerdictChoice.CONFIRM else "flagged"
    messages.info(request, f"Item {place} {word}.")
    following = _next_item(found, calibrations.own_verdicts(found, person), place)
    if following is None:
        return redirect("calibration:calibration", slug=project.slug, number=number)
    return redirect("calibration:item", slug=project.slug, number=number, place=following.number)


def _again(request: HttpRequest, item: CalibrationItem, fault: str) -> HttpResponse:
    if reason := rules.answer_refusal(item.calibration, member_of(request).user):
        raise CalibrationRefused(reason, code="no_answer")
    posted = request.POST
    given = {
        "choice": posted.get("choice", ""),
        "reasons": posted.getlist("reasons"),
        "category": posted.get("category", ""),
        "note": posted.get("note", ""),
    }
    return _screen(request, item, given, fault=fault, status=400)
