"""Pages that carry grades over to the same texts: a preview of every pair, then one button."""

from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.corpus.models import BlockVersion
from apps.judging.actions.propagation import MOST_AT_ONCE, CarryRefused, carry_over, mark_of
from apps.judging.forms.judging import CarryForm
from apps.judging.selectors.propagation import Carried, CarryRule, carry_of
from apps.judging.selectors.rounds import pool_in

SHOWN = 100


class CarriedPair(NamedTuple):
    """One pair as the preview shows it, with both blocks."""

    pair: Carried
    judged: BlockVersion
    other: BlockVersion


class CarryingChoice(NamedTuple):
    """One rule with what it would carry over now."""

    rule: CarryRule
    title: str
    pairs: int
    mark: str


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def carry(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """What can be carried over in a pool, pair by pair, with one button for each rule."""
    pool = pool_in(project, pk)
    form = CarryForm(request.POST or None)
    if request.method == "POST":
        if not form.is_valid():
            messages.error(request, "Choose what to carry over.")
            return redirect(request.path)
        try:
            round_ = carry_over(
                pool=pool,
                rule=CarryRule(form.cleaned_data["rule"]),
                seen=form.cleaned_data["seen"],
                actor=user_of(request),
                at=timezone.now(),
            )
        except CarryRefused as refusal:
            messages.error(request, refusal.sentence)
            return redirect(request.path)
        return redirect("judging:round", slug=project.slug, pk=round_.pk)
    carryable = carry_of(pool)
    every = carryable.under(CarryRule.NEAR)
    context = {
        "pool": pool,
        "carryable": carryable,
        "rows": _rows(every[:SHOWN]),
        "every": len(every),
        "choices": _choices(carryable.under(CarryRule.EXACT), every),
        "most": MOST_AT_ONCE if len(every) > MOST_AT_ONCE else 0,
    }
    return render(request, "judging/carry.html", context)


def _choices(exact: list[Carried], every: list[Carried]) -> list[CarryingChoice]:
    """The rules that carry something over; the wider one only where it carries over more."""
    choices = []
    if exact:
        choices.append(CarryingChoice(CarryRule.EXACT, "Exact texts", len(exact), mark_of(exact)))
    if len(every) > len(exact):
        choices.append(CarryingChoice(CarryRule.NEAR, "Exact and near texts", len(every), mark_of(every)))
    return choices


def _rows(pairs: list[Carried]) -> list[CarriedPair]:
    ids = {pk for pair in pairs for pk in (pair.judged, pair.entry.version_id)}
    versions = BlockVersion.objects.select_related("block__document").in_bulk(ids)
    return [CarriedPair(pair, versions[pair.judged], versions[pair.entry.version_id]) for pair in pairs]
