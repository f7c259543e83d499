"""Why was it missed? The questions without a hit within the cutoff, one a page, and what the reader says about each."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.edges.access import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.models import BlockVersion
from apps.evaluation.edges.hit_sheets import HitSheet
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors import evaluations
from apps.evaluation.selectors.misses import Miss
from apps.goldsets.actions import log_test_look
from apps.goldsets.enums import Split
from apps.metrics.measures import parse_measure
from apps.review.actions import note_miss, propose_block, withdraw_candidate, withdraw_note
from apps.review.enums import NoteKind
from apps.triples.core.evidence import Span, spans_of

WORKERS = (Role.ANNOTATOR, Role.REVIEWER, Role.LEAD)
LAST = "miss-last"
BIGGEST = 10**6


class MissList:
    """The misses of an evaluation that one person may see, by label, and how they are looked at."""

    def __init__(self, request: HttpRequest, evaluation: Evaluation, values: Any) -> None:
        self.evaluation = evaluation
        self.member = member_of(request)
        self.sheet = HitSheet(evaluation, self.member)
        measure = values.get("measure", "")
        self.measure = measure if measure in evaluation.measures else evaluation.measures[0]
        self.cutoff = parse_measure(self.measure).cutoff or 1
        self.read = _whole(values.get("rank", ""))
        self.places = self.sheet.missed(self.measure)

    def __len__(self) -> int:
        return len(self.places)

    def at(self, place: int) -> Miss:
        """The miss at a place, from 1. Raises Http404 for one that there is not."""
        if not 1 <= place <= len(self.places):
            raise Http404("There is no such miss.")
        inside = self.places[place - 1]
        return Miss(
            self.evaluation,
            self.sheet.triples[inside],
            hit_rank=int(self.sheet.ranks[inside]),
            cutoff=self.cutoff,
            read=self.read,
            member=self.member,
        )

    def url(self, place: int, rank: int = 1) -> str:
        """The page of a place; of the evaluation, after the last."""
        slug = self.evaluation.project.slug
        if not 1 <= place <= len(self.places):
            return reverse("evaluation:evaluation", args=[slug, self.evaluation.pk])
        shown = {"measure": self.measure} | ({"rank": str(rank)} if rank > 1 else {})
        return f"{reverse('evaluation:misses', args=[slug, self.evaluation.pk, place])}?{urlencode(shown)}"


def _whole(text: str) -> int:
    return min(int(text), BIGGEST) if text.isascii() and text.isdecimal() and len(text) < 18 else 1


def _scored_by_hits(project: Project, pk: int) -> Evaluation | None:
    evaluation = evaluations.evaluation_in(project, pk)
    return evaluation if evaluation.is_scored and evaluation.hit else None


@require_safe
@member_view()
def miss(request: HttpRequest, project: Project, pk: int, place: int) -> HttpResponse:
    """One missed question, the expected passage, and what was returned at `?rank=`. Looks at test items are logged."""
    evaluation = _scored_by_hits(project, pk)
    if evaluation is None:
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    listed = MissList(request, evaluation, request.GET)
    if not len(listed) and place == 1:
        messages.info(request, "There is no miss that you may see.")
        return redirect("evaluation:evaluation", slug=project.slug, pk=pk)
    found = listed.at(place)
    if found.row.split != Split.DEV:
        log_test_look(version=evaluation.version, actor=listed.member.user, what="a missed question", at=timezone.now())
    return render(request, "evaluation/miss.html", _context(request, listed, found, place))


def _context(request: HttpRequest, listed: MissList, found: Miss, place: int) -> dict[str, Any]:
    rank = found.read.rank if found.read and not found.hidden else 0
    last = _last(request, listed.evaluation)
    return {
        "section": "Scores",
        "evaluation": listed.evaluation,
        "miss": found,
        "sheet": listed.sheet,
        "place": place,
        "count": len(listed),
        "measure": listed.measure,
        "cutoff": listed.cutoff,
        "finding": finding(found),
        "ladder": [(rung, listed.url(place, rung.step.first)) for rung in ([] if found.hidden else found.ladder)],
        "before": listed.url(place, rank - 1) if rank > 1 else "",
        "after": listed.url(place, rank + 1) if 0 < rank < len(found.returned) else "",
        "next": listed.url(place + 1),
        "is_last": place == len(listed),
        "undo": last.get("words", ""),
        "may_say": bool(listed.member.roles & set(WORKERS)),
    }


def finding(found: Miss) -> str:
    """Why it is a miss, as one sentence."""
    if not found.returned:
        return f"Nothing was returned; only the first {found.cutoff} count."
    first = "the first counts" if found.cutoff == 1 else f"the first {found.cutoff} count"
    if found.hit_rank:
        return f"Expected at rank {found.hit_rank:,}; only {first}."
    return f"The expected passage is not among the {len(found.returned):,} returned; only {first}."


def _last(request: HttpRequest, evaluation: Evaluation) -> dict[str, Any]:
    """What was said last in this evaluation, while it can be undone here."""
    last = request.session.get(LAST, {})
    return last if last.get("evaluation") == evaluation.pk else {}


# What the reader says ----------------------------------------------------------------------------------------------


@member_view(*WORKERS)
@require_POST
def say(request: HttpRequest, project: Project, pk: int, place: int) -> HttpResponse:
    """Also right, wrong, unclear, or undo; then the next miss. `rank` is the passage that was read."""
    evaluation = _scored_by_hits(project, pk)
    if evaluation is None:
        raise Http404("This evaluation has no misses.")
    listed = MissList(request, evaluation, request.POST)
    said = request.POST.get("say", "also_right" if "block" in request.POST else "")
    if said == "undo":
        return redirect(listed.url(_undo(request, listed)))
    found = listed.at(place)
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
    messages.info(request, f"{found.row.label}: {words}.{_at_the_end(listed, place)}")
    return redirect(listed.url(place + 1))


def _at_the_end(listed: MissList, place: int) -> str:
    return " That was the last miss." if place == len(listed) else ""


Done = tuple[str, int, str] | None


def _also_right(request: HttpRequest, listed: MissList, found: Miss) -> Done:
    version = _chosen(request, found)
    if version is None:
        refusal = found.also_right_refusal or "Choose one of the passages that are offered."
        messages.warning(request, refusal)
        return None
    quote = request.POST.get("quote", "").strip()
    (span,) = spans_of(version.text, [quote])
    if quote and span is None:
        messages.warning(request, "The words that you marked are not in the text in this form. Mark fewer, or none.")
        return None
    spans: list[Span] = [span] if span else []
    candidate = propose_block(
        project=listed.member.project,
        triple_id=found.row.triple_id,
        version=version,
        spans=spans,
        person=listed.member.user,
        evaluation=listed.evaluation.pk,
        at=timezone.now(),
    )
    return "candidate", candidate.pk, "two reviewers are asked whether the passage is right as well"


def _chosen(request: HttpRequest, found: Miss) -> BlockVersion | None:
    """The block that is proposed: the one read, or one of those offered for a passage that a system cut."""
    if found.read is None:
        return None
    if found.read.entry is not None:
        return None if found.also_right_refusal else found.read.entry.version
    wanted = _whole(request.POST.get("block", "0"))
    return next((entry.version for entry in found.offered if entry.block_id == wanted), None)


def _wrong(request: HttpRequest, listed: MissList, found: Miss) -> Done:
    if found.read is None:
        messages.warning(request, "Nothing was returned, so nothing can be wrong.")
        return None
    return _noted(listed, found, NoteKind.WRONG, found.read.digest, "", "the passage is wrong, it stays a miss")


def _unclear(request: HttpRequest, listed: MissList, found: Miss) -> Done:
    text = request.POST.get("text", "")[:4000]
    return _noted(listed, found, NoteKind.UNCLEAR, "", text, "its author is told that the question is unclear")


def _noted(listed: MissList, found: Miss, kind: NoteKind, passage: str, text: str, words: str) -> Done:
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


ACTS: dict[str, Callable[[HttpRequest, MissList, Miss], Done]] = {
    "also_right": _also_right,
    "wrong": _wrong,
    "unclear": _unclear,
}


def _undo(request: HttpRequest, listed: MissList) -> int:
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
