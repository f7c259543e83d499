"""Calibrations: their list, the blind screen, and the page that compares."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.calibration import actions, rules
from apps.calibration.actions import CalibrationRefused
from apps.calibration.forms import OpenForm, TextForm
from apps.calibration.models import Calibration, CalibrationItem, CalibrationVerdict
from apps.calibration.selectors import calibrations
from apps.calibration.selectors.comparisons import in_words, seen_by, why_in_words
from apps.review.enums import RateSide, VerdictChoice
from apps.review.forms import AnswerForm, fresh_key
from apps.review.presenters.choices import categories_shown, reasons_shown
from apps.triples.selectors.triples import expected_blocks

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
        "part": "calibration",
        "page": page,
        "rows": [(row, why_in_words(row.why)) for row in page.object_list],
        "waiting": calibrations.unanswered_items(member.user, project).select_related("calibration"),
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
    values = form.cleaned_data
    try:
        made = actions.open_calibration(
            project=project,
            subject=values["subject"],
            partner=values["partner"],
            side=RateSide(values["side"]),
            lead=user_of(request),
            reason=values["reason"],
            at=timezone.now(),
        )
    except CalibrationRefused as refusal:
        return _list(request, project, form, fault=refusal.sentence, status=refusal.status)
    messages.info(request, f"{made} is open: both review {made.item_count} past Q&As.")
    return redirect("calibration:calibrations", slug=project.slug)


@member_view(Role.LEAD)
@require_POST
def check(request: HttpRequest, project: Project) -> HttpResponse:
    """Check the charts now, as the task does every few hours."""
    checked = actions.check_project(project=project, actor=user_of(request), at=timezone.now())
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
    return _page(request, _calibration_or_404(request, number))


def _calibration_or_404(request: HttpRequest, number: int) -> Calibration:
    return calibrations.calibration_for(member_of(request), number)


def _page(
    request: HttpRequest, calibration_: Calibration, *, fault: str = "", note: str = "", status: int = 200
) -> HttpResponse:
    member = member_of(request)
    seen = seen_by(member, calibration_)
    context = {
        "part": "calibration",
        "calibration": calibration_,
        "why": why_in_words(calibration_.why),
        "seen": seen,
        "own": _own_answers(calibration_, seen.own) if calibration_.is_open else [],
        "next": _next_item(calibration_, seen.own) if seen.is_mine and calibration_.is_open else None,
        "discuss_refusal": rules.discuss_refusal(calibration_, member),
        "close_refusal": rules.close_refusal(calibration_, member),
        "fault": fault,
        "note": note,
    }
    return render(request, "calibration/calibration.html", context, status=status)


def _own_answers(calibration_: Calibration, own: dict[int, CalibrationVerdict]) -> list[tuple[int, str]]:
    """Number and words of the person's answers, with which they can return to an item."""
    items = calibration_.items.filter(pk__in=own).order_by("number")
    return [(item.number, in_words(own[item.pk].choice, own[item.pk].reasons, own[item.pk].category)) for item in items]


def _next_item(calibration_: Calibration, own: dict[int, CalibrationVerdict], after: int = 0) -> CalibrationItem | None:
    """The next item without an answer after number `after`, then from the first on."""
    unanswered = [item for item in calibration_.items.order_by("number") if item.pk not in own]
    return next((item for item in unanswered if item.number > after), unanswered[0] if unanswered else None)


@member_view(*PARTICIPANTS)
@require_POST
def message(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    calibration_ = _calibration_or_404(request, number)
    form = TextForm(request.POST)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    try:
        actions.post_calibration_message(
            project=project,
            calibration_id=calibration_.pk,
            author=user_of(request),
            text=text,
            at=timezone.now(),
        )
    except CalibrationRefused as refusal:
        if refusal.code != "text_missing":
            raise
        return _page(request, calibration_, fault=refusal.sentence, status=400)
    return redirect("calibration:calibration", slug=project.slug, number=number)


@member_view(*PARTICIPANTS)
@require_POST
def close(request: HttpRequest, project: Project, number: int) -> HttpResponse:
    calibration_ = _calibration_or_404(request, number)
    form = TextForm(request.POST)
    note = form.cleaned_data["text"] if form.is_valid() else ""
    try:
        closed = actions.close_calibration(
            project=project,
            calibration_id=calibration_.pk,
            person=user_of(request),
            note=note,
            at=timezone.now(),
        )
    except CalibrationRefused as refusal:
        if refusal.code != "note_missing":
            raise
        return _page(request, calibration_, fault=refusal.sentence, note=note, status=400)
    messages.info(request, f"{closed} is closed.")
    return redirect("calibration:calibration", slug=project.slug, number=number)


# The blind screen --------------------------------------------------------------------------------------------------


def _item(request: HttpRequest, number: int, place: int) -> tuple[Calibration, CalibrationItem]:
    """The item, for the two who answer it only."""
    calibration_ = _calibration_or_404(request, number)
    item = calibration_.items.filter(number=min(place, 2**15 - 1)).select_related("revision__triple__source").first()
    if item is None or not calibration_.includes(user_of(request)):
        raise Http404("No such item.")
    item.calibration = calibration_
    return calibration_, item


@member_view(*PARTICIPANTS)
@require_safe
def screen(request: HttpRequest, project: Project, number: int, place: int) -> HttpResponse:
    calibration_, item = _item(request, number, place)
    if rules.answer_refusal(calibration_, user_of(request)):
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
    calibration_, person = item.calibration, user_of(request)
    own = calibrations.own_verdicts(calibration_, person)
    mine = own.get(item.pk)
    values = posted or (
        {"choice": mine.choice, "reasons": mine.reasons, "category": mine.category, "note": mine.note} if mine else {}
    )
    skip = _next_item(calibration_, {**own, item.pk: mine} if mine else own, item.number)
    context = {
        "calibration": calibration_,
        "item": item,
        "revision": item.revision,
        "triple": item.revision.triple,
        "blocks": expected_blocks(item.revision),
        "reasons": reasons_shown(values.get("reasons", [])),
        "categories": categories_shown(values.get("category", "")),
        "choice": values.get("choice", ""),
        "text": values.get("note", ""),
        "own": mine,
        "key": fresh_key(),
        "fault": fault,
        "left": calibration_.item_count - len(own),
        "undo": _undo(request, item),
        "skip": skip if skip and skip.pk != item.pk else None,
    }
    return render(request, "calibration/screen.html", context, status=status)


def _undo(request: HttpRequest, item: CalibrationItem) -> int | None:
    """The number of the item answered last, for undo."""
    last = request.session.get(LAST_ANSWERED)
    if not isinstance(last, list) or last[:1] != [item.calibration_id] or last[1] == item.number:
        return None
    return int(last[1])


@member_view(*PARTICIPANTS)
@require_POST
def answer(request: HttpRequest, project: Project, number: int, place: int) -> HttpResponse:
    """Store the answer and show the next item; a fault shows the same screen with what was chosen."""
    calibration_, item = _item(request, number, place)
    person = user_of(request)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _answer_screen(request, item, "Choose confirm or flag first.")
    try:
        verdict = actions.answer_item(
            project=project,
            calibration_id=calibration_.pk,
            number=place,
            person=person,
            at=timezone.now(),
            **form.answer(),
        )
    except CalibrationRefused as refusal:
        if refusal.code != "bad_verdict":
            raise
        return _answer_screen(request, item, refusal.sentence)
    request.session[LAST_ANSWERED] = [calibration_.pk, place]
    word = "confirmed" if verdict.choice == VerdictChoice.CONFIRM else "flagged"
    messages.info(request, f"Item {place} {word}.")
    following = _next_item(calibration_, calibrations.own_verdicts(calibration_, person), place)
    if following is None:
        return redirect("calibration:calibration", slug=project.slug, number=number)
    return redirect("calibration:item", slug=project.slug, number=number, place=following.number)


def _answer_screen(request: HttpRequest, item: CalibrationItem, fault: str) -> HttpResponse:
    CalibrationRefused.raise_for(rules.answer_refusal(item.calibration, user_of(request)), code="no_answer")
    posted = request.POST
    values = {
        "choice": posted.get("choice", ""),
        "reasons": posted.getlist("reasons"),
        "category": posted.get("category", ""),
        "note": posted.get("note", ""),
    }
    return _screen(request, item, values, fault=fault, status=400)
