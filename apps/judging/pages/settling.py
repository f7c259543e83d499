"""Pages that settle trivial disagreements by a rule: a preview of every pair, then one button."""

from collections.abc import Mapping
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.judging.actions.adjudication import SettlingRefused, settle_bulk
from apps.judging.core.resolution import ResolutionRule
from apps.judging.forms.judging import SettleForm
from apps.judging.models import Round
from apps.judging.pages.adjudication import places_of_pairs
from apps.judging.selectors.pairs import Voice, adjudicable, voices
from apps.judging.selectors.rounds import entries_in, round_in
from apps.judging.selectors.settling import MOST_AT_ONCE, Trivial, mark_of, rule_of, rules_for, trivial_among
from apps.retrieval.models import PoolEntry

SHOWN = 200
RULES = {
    ResolutionRule.NEAR_MEDIAN: (
        "Use the middle",
        "For an odd number of grades, none more than one step from the middle one.",
    ),
    ResolutionRule.LOWER: ("Use the lower", "For grades within one step of each other: the lower one counts."),
}


class SettlingPair(NamedTuple):
    """One pair as the preview shows it."""

    entry: PoolEntry
    place: str
    voices: list[Voice]
    grade: int


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def settle(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The pairs that a rule settles, each with the grade it gets; and the one decision on all of them."""
    round_ = round_in(project, pk)
    undecided = adjudicable(round_, user_of(request))
    under = {rule: trivial_among(undecided, rule)[:MOST_AT_ONCE] for rule in rules_for(round_)}
    rule = _chosen(request, under)
    pairs = under[rule]
    form = SettleForm(request.POST or None, initial={"rule": rule, "seen": mark_of(pairs)})
    if request.method == "POST" and form.is_valid():
        try:
            decided = settle_bulk(
                round_=round_,
                rule=rule,
                error_type=form.cleaned_data["error_type"],
                words=form.cleaned_data["words"],
                seen=form.cleaned_data["seen"],
                adjudicator=user_of(request),
                at=timezone.now(),
            )
        except SettlingRefused as refusal:
            messages.error(request, refusal.sentence)
            return redirect(f"{request.path}?rule={rule}")
        word = "pair is" if len(decided) == 1 else "pairs are"
        messages.success(request, f"{len(decided):,} {word} settled by the rule and recorded.")
        return redirect("judging:adjudicate", slug=project.slug, pk=round_.pk)
    return render(
        request, "judging/settle.html", _context(round_, rule, under, form), status=400 if form.errors else 200
    )


def _chosen(request: HttpRequest, under: Mapping[ResolutionRule, list[Trivial]]) -> ResolutionRule:
    """The requested rule; else the first that settles a pair, since two judges have no middle grade."""
    requested = request.POST.get("rule") or request.GET.get("rule")
    usual = next((rule for rule, pairs in under.items() if pairs), next(iter(under)))
    return next((rule for rule in under if rule == requested), usual)


def _context(
    round_: Round, rule: ResolutionRule, under: Mapping[ResolutionRule, list[Trivial]], form: SettleForm
) -> dict[str, object]:
    listed = under[rule]
    shown = listed[:SHOWN]
    entries = entries_in(round_, [each.pair.entry_id for each in shown])
    places = places_of_pairs(entries)
    return {
        "section": "Rounds",
        "round": round_,
        "rules": [(each, *RULES[each], each == rule, len(pairs)) for each, pairs in under.items()],
        "planned": RULES[rule_of(round_)][0] if rule_of(round_) in RULES else "",
        "rows": [
            SettlingPair(
                entries[each.pair.entry_id],
                places[each.pair.entry_id],
                voices(round_, each.pair),
                each.grade,
            )
            for each in shown
        ],
        "settled": len(listed),
        "unshown": len(listed) - len(shown),
        "form": form,
    }
