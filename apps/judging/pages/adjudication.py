"""Pages that decide pairs whose judges differ: one by one, lowest agreement first, or trivial ones by a rule.

Judges are A and B here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.access.pages import member_view, user_of
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.text.markdown import to_html
from apps.corpus.selectors.corpora import places_of
from apps.judging import rules
from apps.judging.actions.adjudication import AdjudicationRefused, SettlingRefused, adjudicate, settle_bulk
from apps.judging.core.guidelines import highest_first
from apps.judging.core.resolution import ResolutionRule, settled_by
from apps.judging.enums import ErrorType, RoundState
from apps.judging.forms.judging import AdjudicationForm, SettleForm
from apps.judging.models import Round
from apps.judging.selectors import board
from apps.judging.selectors.deciding import (
    adjudicable,
    deciders_of_left,
    deciders_of_pair,
    left_to_another_lead,
    standing_of,
)
from apps.judging.selectors.pairs import JudgedPair, adjudicated, pair_of, voices
from apps.judging.selectors.propagation import MOST_AT_ONCE, Trivial, mark_of, rule_of, rules_for, trivial_among
from apps.judging.selectors.rounds import entries_in, entry_in, round_in
from apps.retrieval.models import PoolEntry

ERROR_KEYS = "qwert"
SHOWN = 200


@require_safe
@member_view(Role.LEAD)
def queue(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The undecided pairs of this round for this lead, and the decisions."""
    round_ = round_in(project, pk)
    pairs = adjudicable(round_, user_of(request))
    context = {
        "round": round_,
        "withdrawn": rules.withdrawn_refusal(round_),
        "rows": _rows(round_, pairs[:SHOWN]),
        "waiting": len(pairs),
        "decisions": adjudicated(round_)[:SHOWN],
        "decided": adjudicated(round_).count(),
        "trivial": sum(any(settled_by(rule, pair.answers) is not None for rule in ResolutionRule) for pair in pairs),
        "left": left_words(round_, user_of(request)),
        "is_open": round_.state == RoundState.OPEN,
        "is_blind": round_.state != RoundState.CLOSED and board.is_asked(round_, user_of(request)),
    }
    return render(request, "judging/queue.html", context)


class Left(NamedTuple):
    """The pairs of a round that a lead judged and somebody else has to decide, and who that is."""

    pairs: int
    who: str


def left_words(round_: Round, user: User) -> Left | None:
    pairs = left_to_another_lead(round_, user)
    if not pairs:
        return None
    who = deciders_of_left(round_, user)
    return Left(pairs, rules.who_decides(who.names, pairs=pairs, stuck=who.stuck))


def _rows(round_: Round, pairs: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """Each pair with its answers, and what to show beside the title of its passage."""
    entries = entries_in(round_, [pair.entry_id for pair in pairs])
    places = places_of(entry.version for entry in entries.values())
    shown = [(entries[pair.entry_id], pair) for pair in pairs]
    return [
        {"entry": one, "place": places[one.version.block_id], "voices": voices(round_, pair)} for one, pair in shown
    ]


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def pair(request: HttpRequest, project: Project, pk: int, entry: int) -> HttpResponse:
    """One pair: its judges' answers side by side, the text, the guideline they used, and the decision."""
    round_ = round_in(project, pk)
    row = entry_in(round_, entry)
    judged = pair_of(round_, row)
    person = user_of(request)
    standing = standing_of(round_, row, person)
    reason = rules.withdrawn_refusal(round_) or rules.adjudication_refusal(
        judged.resolved, planned=judged.planned, standing=standing
    )
    if reason and standing.has_judged and not standing.may_decide_own and round_.withdrawn_at is None:
        who = deciders_of_pair(round_, row.pk)
        context = {"round": round_, "reason": reason, "stuck": who.stuck}
        context["who"] = rules.who_decides(who.names, pairs=1, stuck=who.stuck)
        return render(request, "judging/not_yours.html", context, status=AdjudicationRefused.status)
    if reason:
        raise AdjudicationRefused(reason, code="not_adjudicable")
    form = AdjudicationForm(request.POST or None, scale=project.grades)
    if request.method == "POST" and form.is_valid():
        adjudicate(
            round_=round_,
            entry=row,
            adjudicator=person,
            grade=form.decided,
            reason=form.cleaned_data["reason"],
            error_type=form.cleaned_data["error_type"],
            at=timezone.now(),
        )
        return _next(request, project, round_, person)
    status = 400 if form.errors else 200
    return render(request, "judging/adjudicate.html", _context(round_, row, judged, form, person), status=status)


def _next(request: HttpRequest, project: Project, round_: Round, person: User) -> HttpResponse:
    pairs = adjudicable(round_, person)
    if pairs:
        return redirect("judging:adjudicate-pair", slug=project.slug, pk=round_.pk, entry=pairs[0].entry_id)
    messages.success(request, "You have decided every pair of this round that you can decide.")
    return redirect("judging:adjudicate", slug=project.slug, pk=round_.pk)


def _context(
    round_: Round, row: PoolEntry, judged: JudgedPair, form: AdjudicationForm, person: User
) -> dict[str, object]:
    guideline = round_.guideline
    marked = sorted(tuple(span) for judgement in judged.judgements for span in judgement.spans)
    undecided = adjudicable(round_, person)
    return {
        "round": round_,
        "entry": row,
        "pair": judged,
        "voices": voices(round_, judged),
        "spans": marked,
        "form": form,
        "waiting": len(undecided),
        "after": next((p.entry_id for p in undecided if p.entry_id != judged.entry_id), None),
        "scale": round_.project.scale,
        "error_types": list(zip(ERROR_KEYS, ErrorType.choosable(), strict=True)),
        "guideline": guideline,
        "grades": highest_first(guideline.grades) if guideline else [],
        "guideline_html": mark_safe(to_html(guideline.markdown)) if guideline else "",
        "limit": ":10",
        "chosen_grade": form["grade"].value(),
        "chosen_error": form["error_type"].value(),
    }


RULES = {
    ResolutionRule.NEAR_MEDIAN: (
        "Use the middle",
        "For an odd number of grades, none more than one step from the middle one.",
    ),
    ResolutionRule.LOWER: ("Use the lower", "For grades within one step of each other: the lower one counts."),
}


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def settle(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The pairs that a rule settles, each with the grade it gets; and the one decision on all of them."""
    round_ = round_in(project, pk)
    undecided = adjudicable(round_, user_of(request))
    under = {rule: trivial_among(undecided, rule)[:MOST_AT_ONCE] for rule in rules_for(round_)}
    rule = _chosen_rule(request, under)
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
        request, "judging/settle.html", _settling(round_, rule, under, form), status=400 if form.errors else 200
    )


def _chosen_rule(request: HttpRequest, under: Mapping[ResolutionRule, list[Trivial]]) -> ResolutionRule:
    """The requested rule; else the first that settles a pair, since two judges have no middle grade."""
    requested = request.POST.get("rule") or request.GET.get("rule")
    usual = next((rule for rule, pairs in under.items() if pairs), next(iter(under)))
    return next((rule for rule in under if rule == requested), usual)


def _settling(
    round_: Round, rule: ResolutionRule, under: Mapping[ResolutionRule, list[Trivial]], form: SettleForm
) -> dict[str, object]:
    listed = under[rule]
    shown = listed[:SHOWN]
    rows = _rows(round_, [each.pair for each in shown])
    return {
        "round": round_,
        "rules": [(each, *RULES[each], each == rule, len(pairs)) for each, pairs in under.items()],
        "planned": RULES[rule_of(round_)][0] if rule_of(round_) in RULES else "",
        "rows": [row | {"grade": each.grade} for row, each in zip(rows, shown, strict=True)],
        "settled": len(listed),
        "unshown": len(listed) - len(shown),
        "form": form,
    }
