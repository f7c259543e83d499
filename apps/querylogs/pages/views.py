"""Pages of search logs: their list, the reading of one, and the names that are masked in all."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.common.text.words import words_of
from apps.common.web.forms import refusals_shown
from apps.queries.core.masking import BY_PEOPLE, with_masks
from apps.querylogs import actions
from apps.querylogs.enums import OfferState
from apps.querylogs.execution import received
from apps.querylogs.forms import MASK, UNDO, DecideForm, FetchForm, NamesForm, RunsForm
from apps.querylogs.models import MaskedName, OfferedQuery, QueryLog
from apps.querylogs.selectors import logs as selectors
from apps.querylogs.selectors.logs import Tally, nearest, offered_in, tally_of

READ_WRITE = ["GET", "HEAD", "POST"]


@require_safe
@member_view(Role.LEAD)
def log_list(request: HttpRequest, project: Project) -> HttpResponse:
    context = {
        "logs": selectors.logs_in(project),
        "names": selectors.names_in(project).count(),
        "waiting": received.waiting_in(project),
    }
    return render(request, "querylogs/list.html", context)


@require_POST
@member_view(Role.LEAD)
def take_received(request: HttpRequest, project: Project) -> HttpResponse:
    """Make an import of the traces that came in, and show what is in them."""
    item = actions.take_received(project=project, actor=user_of(request), at=timezone.now())
    return redirect("corpus:import", slug=project.slug, pk=item.pk)


@require_http_methods(READ_WRITE)
@member_view(Role.LEAD)
def fetch(request: HttpRequest, project: Project) -> HttpResponse:
    """Fetch traces from Langfuse or Phoenix, in a job."""
    form = FetchForm(request.POST or None, project=project)
    if request.method == "POST" and form.is_valid():
        with refusals_shown(form):
            job = actions.request_fetch(project=project, **form.request, actor=user_of(request), at=timezone.now())
            return redirect("jobs:job", slug=project.slug, pk=job.pk)
    return render(request, "querylogs/fetch.html", {"form": form}, status=400 if form.errors else 200)


@require_safe
@member_view(Role.LEAD)
def log_page(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The first query that nobody has read, after the one named in the address; the sum where all are read."""
    log = selectors.log_in(project, pk)
    waiting = selectors.offered_in(log).filter(state=OfferState.WAITING).values_list("position", flat=True)
    after = request.GET.get("after", "")
    later = waiting.filter(position__gt=int(after)).first() if after.isdecimal() and len(after) < 7 else None
    position = later or waiting.first()
    if position is None:
        tally = selectors.tally_of(selectors.offered_in(log))
        context = {
            "log": log,
            "tally": tally,
            "has_clicks": next(selectors.clicks_as_run(log), "") != "",
            "systems": selectors.systems_in(log),
            "form": RunsForm(project=project),
            "runs": list(selectors.runs_of(log)),
        }
        return render(request, "querylogs/done.html", context)
    return redirect("querylogs:read", slug=project.slug, pk=log.pk, position=position)


@require_http_methods(READ_WRITE)
@member_view(Role.LEAD)
def read(request: HttpRequest, project: Project, pk: int, position: int) -> HttpResponse:
    """One offered query, and what is done with it by keys."""
    log = selectors.log_in(project, pk)
    form = DecideForm(request.POST or None)
    offered, refusal = selectors.one_offered(log, position), ""
    if request.method == "POST" and form.is_valid():
        try:
            changed = actions.decide(offered=offered, **form.cleaned_data, actor=user_of(request), at=timezone.now())
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return _onward(request, log, offered, form.cleaned_data["step"], changed)
    context = reading_context(log, selectors.one_offered(log, position))
    status = Refusal.status if refusal else 400 if form.errors else 200
    context |= {"form": form, "refusal": refusal}
    return render(request, "querylogs/read.html", context, status=status)


def _onward(request: HttpRequest, log: QueryLog, offered: OfferedQuery, step: str, changed: int) -> HttpResponse:
    slug = log.project.slug
    if step == MASK:
        if changed > 1:
            messages.success(request, f"Masked here and in {plural(changed - 1, 'other query', 'other queries')}.")
        return redirect("querylogs:read", slug=slug, pk=log.pk, position=offered.position)
    if step == UNDO:
        return redirect("querylogs:read", slug=slug, pk=log.pk, position=offered.position)
    answer = redirect("querylogs:log", slug=slug, pk=log.pk)
    answer["Location"] += f"?after={offered.position}"
    return answer


@require_safe
@member_view(Role.LEAD)
def clicks(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """What people clicked, as a run to upload: whoever pools it has these passages judged too."""
    log = selectors.log_in(project, pk)
    answer = HttpResponse("".join(selectors.clicks_as_run(log)), content_type="text/plain; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="clicks-{log.pk}.run"'
    return answer


@require_POST
@member_view(Role.LEAD)
def runs(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Make runs of what systems returned, in a job."""
    log = selectors.log_in(project, pk)
    form = RunsForm(request.POST, project=project)
    if not form.is_valid():
        raise actions.LogRefused("These documents are not there any more. Choose others.", code="snapshot_unknown")
    job = actions.request_runs(log_id=log.pk, **form.cleaned_data, actor=user_of(request), at=timezone.now())
    return redirect("jobs:job", slug=project.slug, pk=job.pk)


@require_POST
@member_view(Role.LEAD)
def close(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    log = selectors.log_in(project, pk)
    waiting = selectors.tally_of(selectors.offered_in(log)).waiting
    actions.close_log(log_id=log.pk, actor=user_of(request), at=timezone.now())
    messages.success(request, f"{log.name} is closed: {plural(waiting, 'unread query', 'unread queries')} deleted.")
    return redirect("querylogs:log", slug=project.slug, pk=log.pk)


@require_http_methods(READ_WRITE)
@member_view(Role.LEAD)
def names(request: HttpRequest, project: Project) -> HttpResponse:
    form = NamesForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        added = actions.add_names(project=project, names=form.listed(), actor=user_of(request), at=timezone.now())
        messages.success(request, f"{plural(added, 'name is', 'names are')} new on the list.")
        return redirect("querylogs:names", slug=project.slug)
    context = {"form": form, "names": selectors.names_in(project)}
    return render(request, "querylogs/names.html", context, status=400 if form.errors else 200)


@require_POST
@member_view(Role.LEAD)
def name_remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    name = get_object_or_404(selectors.names_in(project), pk=pk)
    actions.remove_name(name=name, actor=user_of(request), at=timezone.now())
    return redirect("querylogs:names", slug=project.slug)


AROUND = 8
"""Queries of the list before the one that is read; as many and more follow."""
GLYPHS = {
    OfferState.KEPT: "done",
    OfferState.SAME: "same",
    OfferState.REJECTED: "out",
    OfferState.WAITING: "todo",
    OfferState.EXPIRED: "out",
}
BAR_WIDTH = 252


class QueueRow(NamedTuple):
    """A line of the list: what stands there, and whether that is the query itself."""

    offered: OfferedQuery
    parts: list[tuple[str, bool]]
    is_text: bool
    glyph: str


def reading_context(log: QueryLog, offered: OfferedQuery) -> dict[str, Any]:
    """Context of `querylogs/read.html`."""
    every = list(offered_in(log))
    tally = tally_of(every)
    start = max(0, min(offered.position - 1 - AROUND, len(every) - 2 * AROUND - 1))
    last = next((one for one in every if one.text and one.state != OfferState.WAITING), None)
    places = {one.position: number for number, one in enumerate(every)}
    here = places[offered.position]
    return {
        "log": log,
        "offered": offered,
        "history": [with_masks(text) for text in offered.history],
        "systems": [(name, len(told["passages"])) for name, told in sorted(offered.returned.items())],
        "parts": _readable(offered),
        "queue": [_queued(one) for one in every[start : start + 2 * AROUND + 1]],
        "before": every[here - 1] if here else None,
        "following": every[here + 1] if here + 1 < len(every) else None,
        "tally": tally,
        "bars": _bars(tally),
        "ticks": [(number * 1200 / len(every), one.state != OfferState.WAITING) for number, one in enumerate(every)],
        "near": nearest(log.project, offered.text) if offered.state == OfferState.WAITING else [],
        "last": last,
        "kinds": BY_PEOPLE,
        "names": MaskedName.objects.filter(project=log.project).count(),
        "stands_for": round(1 / offered.chance) if offered.chance < 1 else 1,
        "weeks": _weeks(offered),
        "masks": _counted(offered.masks),
    }


def _readable(offered: OfferedQuery) -> list[tuple[str, str]]:
    """The words of a query, each with what it is: "mask", "doubt" or "word"."""
    parts = []
    doubts = set(offered.doubts)
    for text, is_mask in with_masks(offered.text or (offered.query.text if offered.query else "")):
        if is_mask:
            parts.append((text, "mask"))
        else:
            parts += [(word, "doubt" if doubts.intersection(words_of(word)) else "word") for word in text.split()]
    return parts


def _queued(one: OfferedQuery) -> QueueRow:
    glyph = GLYPHS[OfferState(one.state)]
    if one.state == OfferState.SAME and one.query is not None:
        return QueueRow(one, [(f"same as {one.query.outside_id}", False)], False, glyph)
    text = one.query.text if one.query else one.text if one.state == OfferState.WAITING else ""
    return QueueRow(one, with_masks(text) if text else [("text deleted", False)], bool(text), glyph)


def _bars(tally: Tally) -> list[tuple[str, float, float]]:
    """(class, start, width) of each part of the bar."""
    bars, start = [], 0.0
    for name, number in (("in", tally.kept), ("same", tally.same), ("out", tally.rejected + tally.expired)):
        width = BAR_WIDTH * number / max(1, tally.total)
        bars.append((name, start, width))
        start += width
    return [*bars, ("open", start, BAR_WIDTH - start)]


def _weeks(offered: OfferedQuery) -> int:
    if not (offered.first_week and offered.last_week):
        return 0
    return (offered.last_week - offered.first_week).days // 7 + 1


def _counted(masks: Sequence[str]) -> list[tuple[str, int]]:
    return sorted(Counter(masks).items())
