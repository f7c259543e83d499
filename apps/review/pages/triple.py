"""The page of one triple: its rounds, its dispute, and the actions that end it."""

from itertools import pairwise
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.common.text.blocktext import is_cut
from apps.corpus.models import BlockVersion
from apps.review import rules
from apps.review.actions import disputes, submitting
from apps.review.actions.disputes import DisputeRefused, drop_triple, post_message
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import begin_revision, submit_triple
from apps.review.enums import POLICIES, Category, Decision, Policy
from apps.review.forms import AdjudicateForm, MessageForm, PolicyForm, ReasonForm
from apps.review.selectors.candidate_blocks import doubts_about, offers_for, views_on
from apps.review.selectors.participation import Participation, participation_in, record_of
from apps.review.selectors.reviews import Blocks, RevisionDifference, RoundView, difference, rounds_of
from apps.triples.enums import RetireReason, State
from apps.triples.models import Triple
from apps.triples.presenters import render_bench, save_bench
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.staleness import compared
from apps.triples.selectors.triples import triple_for, writing_snapshot

FORMS_SHOWN = ("withdraw", "adjudicate", "drop", "retire")


class BlockView(NamedTuple):
    """An expected block: its marked paragraphs, and the whole text folded when that is more."""

    version: BlockVersion
    spans: list

    @property
    def is_cut(self) -> bool:
        return is_cut(self.version.text, self.spans, as_written=self.version.is_as_written)


def _as(participation: Participation) -> str:
    if participation.wrote_any:
        return "as the author"
    if participation.is_flagger:
        return "as the one who flagged it"
    if participation.reviewed_any:
        return "as a reviewer"
    return "as a lead" if participation.is_lead else "as a member"


def _policy(triple: Triple, participation: Participation) -> Policy | None:
    """The policy of the flag that is disputed, for everybody who may see that flag."""
    if (
        triple.state != State.DISPUTED
        or participation.blinded
        or participation.flag is None
        or not participation.flag.category
    ):
        return None
    return POLICIES[Category(participation.flag.category)]


def _history(rounds: list[RoundView], blocks: Blocks) -> list[tuple[RoundView, RevisionDifference | None]]:
    """Each round with the changes of its revision; the last difference is shown separately."""
    changed: list[RevisionDifference | None] = [None]
    changed += [difference(one.revision, other.revision, blocks) for one, other in pairwise(rounds[:-1])]
    return list(zip(rounds, [*changed, None][: len(rounds)], strict=True))


def _page(
    request: HttpRequest, triple: Triple, *, doing: str = "", fault: str = "", posted: Any = None, status: int = 200
) -> HttpResponse:
    record = record_of(triple)
    participation = participation_in(record, member_of(request))
    rounds = rounds_of(triple, participation, record)
    doubts = doubts_about(triple, participation)
    offers = offers_for(triple, participation, doubts)
    allowed = {offer.name for offer in offers if offer.refusal is None}
    writing = record.open_revision
    before = record.before if triple.revision.submitted_at is not None else None
    context = {
        "triple": triple,
        "revision": triple.revision,
        "blocks": [BlockView(block.version, block.spans) for block in record.blocks[triple.revision.pk]],
        "participation": participation,
        "as_what": _as(participation),
        "rounds": rounds,
        "this_round": rounds[-1] if rounds else None,
        "past": rounds[:-1],
        "difference": difference(before, triple.revision, record.blocks) if before else None,
        "history": _history(rounds, record.blocks),
        "offers": offers,
        "doing": doing if doing in allowed else "",
        "fault": fault,
        "posted": posted or {},
        "policy": _policy(triple, participation),
        "policies": [(value.value, value.label, POLICIES[value].short) for value in Category],
        "flag_category": participation.flag.category if participation.flag else "",
        "message_refusal": rules.message_refusal(triple, participation),
        "retire_reasons": [(str(key), *choice) for key, choice in enumerate(RetireReason.choices, start=1)],
        "is_writing": writing is not None and writing.author_id == participation.person.pk,
        "compared": compared(triple.revision, writing_snapshot(triple)) if triple.is_stale else [],
        "further": views_on(triple, participation),
        "doubts": doubts,
        "children": list(triple.children.select_related("author").order_by("number")),
    }
    return render(request, "review/triple.html", context, status=status)


@member_view(*READERS)
@require_safe
def triple(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    doing = request.GET.get("do", "")
    return _page(request, triple, doing=doing if doing in FORMS_SHOWN else "")


@member_view(*READERS)
@require_safe
def flags(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Flags of the current round, and doubts, to read next to the wording that answers them; empty while blind."""
    triple = triple_for(member_of(request), pk)
    record = record_of(triple)
    participation = participation_in(record, member_of(request))
    rounds = rounds_of(triple, participation, record)
    shown = [flag for flag in rounds[-1].flags if rounds[-1].sight.other_verdicts] if rounds else []
    context = {
        "triple": triple,
        "flags": shown,
        "number": rounds[-1].number if rounds else 0,
        "doubts": doubts_about(triple, participation),
    }
    return render(request, "review/flags.html", context)


def _back(project: Project, triple: Triple) -> HttpResponse:
    return redirect("review:triple", slug=project.slug, pk=triple.pk)


# Submitting --------------------------------------------------------------------------------------------------------


@member_view(*WRITERS)
@require_POST
def submit(request: HttpRequest, project: Project, pk: int | None = None) -> HttpResponse:
    """Save the bench's form, then send it to review. When that is refused, it is saved and the bench shows why.

    Two calls, because what was typed must be kept when submitting is refused. Whoever wrote a new one is before an
    empty bench again; of one that was split there are others to write.
    """
    if pk is not None:
        triple_for(member_of(request), pk)
    bench, saved = save_bench(request, project, pk)
    if saved is None:
        return render_bench(request, bench, status=409 if bench.form.is_valid() else 400)
    try:
        sent = submit_triple(project=project, triple_id=saved.pk, author=user_of(request), at=timezone.now())
    except SubmitRefused as refusal:
        messages.warning(request, f"{saved.label} is saved, not submitted. {refusal.sentence}")
        return redirect("triples:edit", slug=project.slug, pk=saved.pk)
    messages.info(request, f"{sent.label} went to two reviewers, round {sent.round}.")
    if sent.round > 1 or sent.parent_id:
        return redirect("triples:mine", slug=project.slug)
    return redirect(reverse("triples:bench", args=[project.slug]) + f"?corpus={sent.snapshot.corpus_id}")


@member_view(*WRITERS)
@require_POST
def begin(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Open the next revision and go to the bench."""
    triple = triple_for(member_of(request), pk)
    begin_revision(
        project=project,
        triple_id=triple.pk,
        person=user_of(request),
        snapshot=writing_snapshot(triple),
        at=timezone.now(),
    )
    return redirect("triples:edit", slug=project.slug, pk=triple.pk)


@member_view(*WRITERS)
@require_POST
def re_pin(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    try:
        submitting.re_pin(
            project=project,
            triple_id=triple.pk,
            person=user_of(request),
            snapshot=writing_snapshot(triple),
            at=timezone.now(),
        )
    except SubmitRefused as refusal:
        return _page(request, triple, fault=refusal.sentence, status=refusal.status)
    messages.info(request, f"{triple.label} is pinned to the new text and goes to review again.")
    return _back(project, triple)


# Disputes ----------------------------------------------------------------------------------------------------------


@member_view(*READERS)
@require_POST
def message(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = MessageForm(request.POST)
    text = form.cleaned_data["text"] if form.is_valid() else ""
    post_message(project=project, triple_id=triple.pk, author=user_of(request), text=text, at=timezone.now())
    return _back(project, triple)


@member_view(*READERS)
@require_POST
def withdraw_flag(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = PolicyForm(request.POST)
    if not form.is_valid():
        return _page(request, triple, doing="withdraw", fault="Choose the policy that settles it.", status=400)
    disputes.withdraw_flag(
        project=project,
        triple_id=triple.pk,
        reviewer=user_of(request),
        policy=Category(form.cleaned_data["policy"]),
        at=timezone.now(),
    )
    messages.info(request, f"The flag is withdrawn; {triple.label} is accepted.")
    return _back(project, triple)


def _reason(request: HttpRequest) -> str:
    form = ReasonForm(request.POST)
    return form.cleaned_data["reason"] if form.is_valid() else ""


@member_view(*WRITERS)
@require_POST
def drop(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    try:
        drop_triple(
            project=project,
            triple_id=triple.pk,
            author=user_of(request),
            reason=_reason(request),
            at=timezone.now(),
        )
    except DisputeRefused as refusal:
        if refusal.code != "reason_missing":
            raise
        return _page(request, triple, doing="drop", fault=refusal.sentence, status=400)
    messages.info(request, f"{triple.label} is dropped.")
    return _back(project, triple)


@member_view(Role.LEAD)
@require_POST
def adjudicate(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    triple = triple_for(member_of(request), pk)
    form = AdjudicateForm(request.POST)
    if not form.is_valid():
        fault = "Choose one of the three decisions."
        return _page(request, triple, doing="adjudicate", fault=fault, posted=request.POST, status=400)
    try:
        decided = disputes.adjudicate(
            project=project,
            triple_id=triple.pk,
            lead=user_of(request),
            decision=Decision(form.cleaned_data["decision"]),
            reason=form.cleaned_data["reason"],
            at=timezone.now(),
        )
    except DisputeRefused as refusal:
        if refusal.code != "reason_missing":
            raise
        return _page(request, triple, doing="adjudicate", fault=refusal.sentence, posted=request.POST, status=400)
    messages.info(request, f"Decided: {decided.label} is {State(decided.state).label.lower()}.")
    return _back(project, triple)
