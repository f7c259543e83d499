"""Why was it missed? The questions without a hit within the cutoff, one a page, and what the reader says about each.

Also what a run by text returned for a query and what each passage earns, the passages that were not located, and the
results that a role may not see.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.models import Project
from apps.common.files.csvsafe import csv_lines
from apps.corpus.models import BlockVersion
from apps.evaluation.core.basis import rule_name
from apps.evaluation.core.misses import finding
from apps.evaluation.models import Evaluation
from apps.evaluation.presenters.misses import MissList, MissRefused, propose
from apps.evaluation.presenters.returned_passages import (
    LeakList,
    ReturnedPassages,
    leak_measure,
    lost_passages,
    shown_on_dev,
)
from apps.evaluation.presenters.score_tables import EvaluationSheet
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.evaluations import evaluations_with_values
from apps.evaluation.selectors.misses import Miss
from apps.goldsets.access import open_test
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.review.actions.candidate_blocks import note_miss, withdraw_candidate, withdraw_note
from apps.review.enums import NoteKind
from apps.triples.rules import READERS

LAST = "miss-last"
BIGGEST = 10**6
LEAKS_A_PAGE = 100


class MissPages(MissList):
    """The misses as pages: where each is, and how it is looked at. `read` is the rank of the passage that is read."""

    def __init__(self, request: HttpRequest, evaluation: Evaluation, values: Any) -> None:
        super().__init__(evaluation, member_of(request), measure=values.get("measure", ""))
        self.read = _whole(values.get("rank", ""))

    def url(self, place: int, rank: int = 1) -> str:
        """The page of a place; of the evaluation, after the last."""
        slug = self.evaluation.project.slug
        if not 1 <= place <= len(self.places):
            return reverse("evaluation:evaluation", args=[slug, self.evaluation.pk])
        shown = {"measure": self.measure} | ({"rank": str(rank)} if rank > 1 else {})
        return reverse("evaluation:misses", args=[slug, self.evaluation.pk, place], query=shown)


def _whole(text: str) -> int:
    return min(int(text), BIGGEST) if text.isascii() and text.isdecimal() and len(text) < 18 else 1


def _scored_by_hits(project: Project, pk: int) -> Evaluation | None:
    (evaluation,) = evaluations.evaluations_with_values(project, pk)
    return evaluation if evaluation.is_scored and evaluation.counts_questions else None


@require_safe
@member_view()
def miss(request: HttpRequest, project: Project, pk: int, place: int) -> HttpResponse:
    """One missed question, the expected passage, and what was returned at `?rank=`. Looks at test items are logged."""
    evaluation = _scored_by_hits(project, pk)
    if evaluation is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    listed = MissPages(request, evaluation, request.GET)
    if not len(listed) and place == 1:
        messages.info(request, "There is no miss that you may see.")
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    found = listed.at(place, listed.read)
    if found.row.split != Split.DEV:
        open_test(evaluation.version, listed.member, "a missed question")
    return render(request, "evaluation/miss.html", _context(request, listed, found, place))


def _context(request: HttpRequest, listed: MissPages, found: Miss, place: int) -> dict[str, Any]:
    rank = found.read.rank if found.read and not found.hidden else 0
    last = _last(request, listed.evaluation)
    return {
        "evaluation": listed.evaluation,
        "miss": found,
        "sheet": listed.sheet,
        "place": place,
        "count": len(listed),
        "measure": listed.measure,
        "cutoff": listed.cutoff,
        "finding": finding(returned=len(found.returned), hit_rank=found.hit_rank, cutoff=found.cutoff),
        "ladder": [(rung, listed.url(place, rung.step.first)) for rung in ([] if found.hidden else found.ladder)],
        "before": listed.url(place, rank - 1) if rank > 1 else "",
        "after": listed.url(place, rank + 1) if 0 < rank < len(found.returned) else "",
        "next": listed.url(place + 1),
        "is_last": place == len(listed),
        "undo": last.get("words", ""),
        "may_say": bool(listed.member.roles & set(READERS)),
    }


def _last(request: HttpRequest, evaluation: Evaluation) -> dict[str, Any]:
    """What was said last in this evaluation, while it can be undone here."""
    last = request.session.get(LAST, {})
    return last if last.get("evaluation") == evaluation.pk else {}


# What the reader says ----------------------------------------------------------------------------------------------


@member_view(*READERS)
@require_POST
def say(request: HttpRequest, project: Project, pk: int, place: int) -> HttpResponse:
    """Also right, wrong, unclear, or undo; then the next miss. `rank` is the passage that was read."""
    evaluation = _scored_by_hits(project, pk)
    if evaluation is None:
        raise Http404("This evaluation has no misses.")
    listed = MissPages(request, evaluation, request.POST)
    said = request.POST.get("say", "also_right" if "block" in request.POST else "")
    if said == "undo":
        return redirect(listed.url(_undo(request, listed)))
    found = listed.at(place, listed.read)
    if found.hidden:
        messages.warning(request, found.hidden)
        return redirect(listed.url(place))
    act = ACTS.get(said)
    if act is None:
        messages.warning(request, "Press a, w or q.")
        return redirect(listed.url(place, listed.read))
    done = act(request, listed, found)
    if done is None:
        return redirect(listed.url(place, listed.read))
    what, key, words = done
    request.session[LAST] = {"evaluation": pk, "place": place, "what": what, "pk": key, "words": words}
    end = " That was the last miss." if place == len(listed) else ""
    messages.info(request, f"{found.row.label}: {words}.{end}")
    return redirect(listed.url(place + 1))


Done = tuple[str, int, str] | None


def _also_right(request: HttpRequest, listed: MissPages, found: Miss) -> Done:
    quote = request.POST.get("quote", "").strip()
    try:
        candidate = propose(listed, found, version=_chosen(request, found), quote=quote, at=timezone.now())
    except MissRefused as refusal:
        messages.warning(request, refusal.sentence)
        return None
    return "candidate", candidate.pk, "two reviewers are asked whether the passage is right as well"


def _chosen(request: HttpRequest, found: Miss) -> BlockVersion | None:
    """The one of those offered for a passage that a system cut."""
    wanted = _whole(request.POST.get("block", "0"))
    return next((entry.version for entry in found.offered if entry.block_id == wanted), None)


def _wrong(request: HttpRequest, listed: MissPages, found: Miss) -> Done:
    if found.read is None:
        messages.warning(request, "Nothing was returned, so nothing can be wrong.")
        return None
    return _noted(listed, found, NoteKind.WRONG, found.read.digest, "", "the passage is wrong, it stays a miss")


def _unclear(request: HttpRequest, listed: MissPages, found: Miss) -> Done:
    text = request.POST.get("text", "")[:4000]
    return _noted(listed, found, NoteKind.UNCLEAR, "", text, "its author is told that the question is unclear")


def _noted(listed: MissPages, found: Miss, kind: NoteKind, passage: str, text: str, words: str) -> Done:
    note = note_miss(
        project=listed.member.project,
        triple_id=found.row.triple_id,
        kind=kind,
        passage=passage,
        text=text,
        person=listed.member.user,
        evaluation=listed.evaluation.pk,
        at=timezone.now(),
    )
    return "note", note.pk, words


ACTS: dict[str, Callable[[HttpRequest, MissPages, Miss], Done]] = {
    "also_right": _also_right,
    "wrong": _wrong,
    "unclear": _unclear,
}


def _undo(request: HttpRequest, listed: MissPages) -> int:
    """Take back what was said last; returns its place."""
    last = _last(request, listed.evaluation)
    if not last:
        messages.info(request, "There is nothing to undo.")
        return 1
    undo = withdraw_candidate if last["what"] == "candidate" else withdraw_note
    del request.session[LAST]
    undo(project=listed.member.project, pk=last["pk"], person=listed.member.user, at=timezone.now())
    messages.info(request, "Undone.")
    return int(last["place"])


@require_safe
@member_view()
def returned(request: HttpRequest, project: Project, pk: int, query_pk: int) -> HttpResponse:
    """The first passages for one query of dev beside the passages of ours that they touch; `j` and `k` go on."""
    sheet = _by_text(request, project, pk)
    if sheet is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    queries = shown_on_dev(sheet)
    place = next((place for place, query in enumerate(queries) if query.pk == query_pk), None)
    if place is None:
        raise Http404("No such query here.")
    context = {
        **_by_text_context(sheet),
        "query": queries[place],
        "passages": ReturnedPassages(sheet.evaluation, queries[place]).passages,
        "before": _at(queries, place - 1),
        "after": _at(queries, place + 1),
    }
    return render(request, "evaluation/returned.html", context)


@require_safe
@member_view()
def not_located(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The passages of a run that are in no document of the snapshot, as far as the reader may see them."""
    sheet = _by_text(request, project, pk)
    if sheet is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    context = {**_by_text_context(sheet), "sheet": sheet, "lost": lost_passages(sheet)}
    return render(request, "evaluation/not_located.html", context)


@require_safe
@member_view()
def leaks(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The results that the role of a measure may not see, on queries that the reader may see; or as CSV."""
    (evaluation,) = evaluations_with_values(project, pk)
    measure = leak_measure(evaluation, request.GET.get("measure", ""))
    listed = LeakList(EvaluationSheet(evaluation, member_of(request)), measure)
    if request.GET.get("format") == "csv":
        answer = HttpResponse(csv_lines(_leak_rows(listed)), content_type="text/csv; charset=utf-8")
        answer["Content-Disposition"] = f'attachment; filename="leaks-{pk}.csv"'
        return answer
    page = Paginator(listed.found, LEAKS_A_PAGE).get_page(request.GET.get("page", ""))
    context = {"evaluation": evaluation, "listed": listed, "page": page, "leaks": listed.rows(list(page.object_list))}
    return render(request, "evaluation/leaks.html", context)


def _leak_rows(listed: LeakList) -> Iterator[list[object]]:
    yield ["query", "rank", "block", "audience", "role"]
    names = rankings.names_at(listed.sheet.evaluation.version, [position for _, _, position, _ in listed.found])
    for query, rank, position, audience in listed.found:
        yield [query.outside_id, rank, names[position], audience, listed.measure.role]


def _by_text(request: HttpRequest, project: Project, pk: int) -> EvaluationSheet | None:
    (evaluation,) = evaluations_with_values(project, pk)
    if not (evaluation.is_scored and evaluation.is_by_text):
        return None
    return EvaluationSheet(evaluation, member_of(request))


def _by_text_context(sheet: EvaluationSheet) -> dict[str, Any]:
    evaluation = sheet.evaluation
    return {"evaluation": evaluation, "rule": evaluation.rule, "rule_name": rule_name(evaluation.hit)}


def _at(queries: list[VersionQuery], place: int) -> VersionQuery | None:
    return queries[place] if 0 <= place < len(queries) else None
