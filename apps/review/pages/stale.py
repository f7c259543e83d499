"""Stale triples: the list by age, and one screen for each triple with its changes and three actions."""

from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.access.pages import member_of, member_view
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.common.web.requests import key_in
from apps.review import rules
from apps.review.actions.rounds import SubmitRefused
from apps.review.actions.submitting import re_pin
from apps.review.selectors.candidate_blocks import Offer
from apps.review.selectors.participation import Participation, participation_for
from apps.review.selectors.queues import KeysetPlace, behind, page
from apps.triples import rules as writing
from apps.triples.actions.triples import RetireRefused, retire_triple
from apps.triples.enums import RetireReason
from apps.triples.forms import RetireForm
from apps.triples.models import Revision, Triple
from apps.triples.rules import READERS, WRITERS
from apps.triples.selectors.staleness import ComparedBlock, compared
from apps.triples.selectors.triples import newest_snapshot, triple_for, visible_triples

PER_PAGE = 50


def stale_for(member: Member) -> QuerySet[Triple]:
    """The stale triples that a member looks after: all for a lead, for others those they wrote."""
    triples = visible_triples(member).filter(is_stale=True)
    if member.is_lead:
        return triples
    wrote = Revision.objects.filter(triple=OuterRef("pk"), author=member.user)
    return triples.filter(Exists(wrote))


def next_stale(member: Member, after: Triple | None = None) -> Triple | None:
    """The stale triple after `after` by age, or the oldest; never `after` itself. None: there is no other."""
    triples = stale_for(member)
    if after is None:
        return behind(triples, "changed_at", None).first()
    later = behind(triples, "changed_at", KeysetPlace(after.changed_at, after.pk)).first()
    return later or behind(triples.exclude(pk=after.pk), "changed_at", None).first()


def stale_offers(triple: Triple, participation: Participation, blocks: list[ComparedBlock]) -> list[Offer]:
    """The three actions, in the order of their keys, refused ones with their reason."""
    refusal = rules.repin_refusal(triple, participation)
    pin = "The evidence stays as it is; two reviewers check it again."
    anew = "Opens the editor with the new text; a new round follows."
    ended = writing.retire_refusal(participation.roles, triple)
    return [
        Offer("re_pin", "p", "Pin to the new text", pin, refusal or rules.evidence_refusal(blocks)),
        Offer("anew", "r", "Rewrite it", anew, refusal),
        Offer("retire", "x", "Retire", "Leaves the gold set for good.", ended),
    ]


@member_view(*READERS)
@require_safe
def listing(request: HttpRequest, project: Project) -> HttpResponse:
    """Stale triples, longest wait first."""
    rows = page(stale_for(member_of(request)), "changed_at", request.GET.get("after", ""), PER_PAGE)
    return render(
        request,
        "review/stale_list.html",
        {"page": rows, "is_first": not request.GET.get("after")},
    )


@member_view(*READERS)
@require_safe
def following(request: HttpRequest, project: Project) -> HttpResponse:
    """The next stale triple, after `?after=`; the list when there is no other."""
    member, after = member_of(request), key_in(request.GET.get("after", ""))
    current = triple_for(member, after) if after is not None else None
    return _on(project, next_stale(member, current))


def _on(project: Project, triple_: Triple | None) -> HttpResponse:
    if triple_ is None:
        return redirect("review:stale", slug=project.slug)
    return redirect("review:stale-triple", slug=project.slug, pk=triple_.pk)


def _screen(request: HttpRequest, triple: Triple, *, fault: str = "", status: int = 200) -> HttpResponse:
    member = member_of(request)
    snapshot = newest_snapshot(triple.project, triple.snapshot.corpus_id) or triple.snapshot
    blocks = compared(triple.revision, snapshot)
    context: dict[str, Any] = {
        "triple": triple,
        "revision": triple.revision,
        "snapshot": snapshot,
        "blocks": blocks,
        "is_kept": rules.evidence_refusal(blocks) is None,
        "offers": stale_offers(triple, participation_for(triple, member), blocks),
        "retire_reasons": [(str(key), *choice) for key, choice in enumerate(RetireReason.choices, start=1)],
        "other": next_stale(member, triple),
        "fault": fault,
    }
    return render(request, "review/stale.html", context, status=status)


@member_view(*READERS)
@require_safe
def screen(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Old and new text side by side. Redirects to the triple's page when it is not stale."""
    triple = triple_for(member_of(request), pk)
    if not triple.is_stale:
        return redirect("review:triple", slug=project.slug, pk=triple.pk)
    return _screen(request, triple)


@member_view(*WRITERS)
@require_POST
def pin(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Pin the unchanged evidence to the new text, and show the next stale triple."""
    member = member_of(request)
    triple = triple_for(member, pk)
    other = next_stale(member, triple)
    snapshot = newest_snapshot(project, triple.snapshot.corpus_id) or triple.snapshot
    try:
        re_pin(project=project, triple_id=triple.pk, person=member.user, snapshot=snapshot, at=timezone.now())
    except SubmitRefused as refusal:
        if not triple.is_stale:
            raise
        return _screen(request, triple, fault=refusal.sentence, status=refusal.status)
    messages.info(request, f"{triple.label} is pinned to the new text and goes to review again.")
    return _on(project, other)


@member_view(Role.LEAD)
@require_POST
def retire(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Retire a stale triple for one of the three reasons, and show the next."""
    member = member_of(request)
    triple = triple_for(member, pk)
    other = next_stale(member, triple)
    form = RetireForm(request.POST)
    if not form.is_valid():
        raise RetireRefused("Choose one of the three reasons to retire it.", code="reason_missing")
    retire_triple(
        project=project,
        triple_id=triple.pk,
        lead=member.user,
        roles=member.roles,
        reason=RetireReason(form.cleaned_data["reason"]),
        at=timezone.now(),
    )
    messages.info(request, f"{triple.label} is retired.")
    return _on(project, other)
