"""Pages that decide pairs whose judges differ: a list by keys, lowest agreement first, or trivial ones by a rule.

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
from apps.common.text.wording import plural
from apps.corpus.core.passage_ids import path_of
from apps.corpus.selectors.corpora import places_of
from apps.judging import rules
from apps.judging.actions.adjudication import (
    AdjudicationRefused,
    SettlingRefused,
    decide_held,
    drop_held,
    hold_decision,
    settle_bulk,
)
from apps.judging.core.guidelines import highest_first
from apps.judging.core.resolution import ResolutionRule, settled_by, settled_facets
from apps.judging.enums import DecidedBy, ErrorType, RoundState
from apps.judging.forms.judging import DecideForm, HoldForm, SettleForm
from apps.judging.models import Adjudication, HeldDecision, Round
from apps.judging.selectors import board
from apps.judging.selectors.deciding import (
    adjudicable,
    deciders_of_left,
    deciders_of_pair,
    held_by_lead,
    left_to_another_lead,
    own_among,
    standings_of,
)
from apps.judging.selectors.differences import missing_in
from apps.judging.selectors.pairs import JudgedPair, Voice, adjudicated, pair_of, pairs_of, voices, voices_since
from apps.judging.selectors.propagation import MOST_AT_ONCE, Trivial, mark_of, rule_of, rules_for, trivial_among
from apps.judging.selectors.rounds import entries_in, entry_in, round_in
from apps.retrieval.models import PoolEntry

ERROR_KEYS = "qwert"
SHOWN = 200


@require_safe
@member_view(Role.LEAD)
def queue(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The undecided pairs of this round for this lead, and the decisions."""
    round_, person = round_in(project, pk), user_of(request)
    pairs = adjudicable(round_, person)
    is_blind = round_.state != RoundState.CLOSED and board.is_asked(round_, person)
    context = {
        "round": round_,
        "withdrawn": rules.withdrawn_refusal(round_),
        "rows": _rows(round_, pairs[:SHOWN]),
        "waiting": len(pairs),
        "decisions": _decided(round_, person if is_blind else None),
        "decided": adjudicated(round_).count(),
        "trivial": sum(any(settled_by(rule, pair.answers) is not None for rule in ResolutionRule) for pair in pairs),
        "left": left_words(round_, person),
        "is_open": round_.state == RoundState.OPEN,
        "is_blind": is_blind,
        "with_judges": rules.words_on_missing(missing_in(round_, person)),
    }
    return render(request, "judging/queue.html", context)


class Left(NamedTuple):
    """The pairs of a round that a lead judged and somebody else has to decide, and who that is; nobody for `stuck`."""

    pairs: int
    who: str
    stuck: int


def left_words(round_: Round, user: User) -> Left | None:
    pairs = left_to_another_lead(round_, user)
    if not pairs:
        return None
    who = deciders_of_left(round_, user)
    return Left(pairs, rules.who_decides(who.names, pairs=pairs, stuck=who.stuck), who.stuck)


def _rows(round_: Round, pairs: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """Each pair with its answers, and what to call its passage."""
    entries = entries_in(round_, [pair.entry_id for pair in pairs])
    places = places_of(entry.version for entry in entries.values())
    shown = [(entries[pair.entry_id], pair) for pair in pairs]
    return [
        {
            "entry": one,
            "passage": ", ".join(path_of(places[one.version.block_id], (), one.version.title)),
            "voices": voices(round_, pair),
        }
        for one, pair in shown
    ]


class DecidedPair(NamedTuple):
    """A decision with what to call its passage, and the first answers, unless they are still hidden."""

    decision: Adjudication
    passage: str
    voices: list[Voice]
    is_hidden: bool


def _decided(round_: Round, judge: User | None) -> list[DecidedPair]:
    """The latest decisions. A `judge` of the open round reads the answers on pairs of theirs only where they have
    seen them: where its judges settled it.
    """
    decisions = list(adjudicated(round_)[:SHOWN])
    rows = {row["entry"].pk: row for row in _rows(round_, pairs_of(round_, [each.entry_id for each in decisions]))}
    found = []
    for each in decisions:
        row = rows.get(each.entry_id, {"passage": "", "voices": []})
        is_own = judge is not None and any(voice.judgement.annotator_id == judge.pk for voice in row["voices"])
        is_hidden = is_own and each.decided_by != DecidedBy.JUDGES
        found.append(DecidedPair(each, row["passage"], [] if is_hidden else row["voices"], is_hidden))
    return found


@require_http_methods(["GET", "HEAD", "POST"])
@member_view(Role.LEAD)
def pair(request: HttpRequest, project: Project, pk: int, entry: int) -> HttpResponse:
    """One pair beside the list: its judges' answers, the text, their guideline; and the decision on several.

    A grade is held for the pair, and the next one shown. Cause and reason are given once for all that are selected.
    """
    round_ = round_in(project, pk)
    row, person = entry_in(round_, entry), user_of(request)
    judged = pair_of(round_, row)
    standing = standings_of(round_, [row.pk], person)[row.pk]
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
    if request.method != "POST":
        return render(request, "judging/decide.html", _context(round_, row, judged, DecideForm(), person))
    if "hold" in request.POST or "take_back" in request.POST:
        return _hold(request, round_, row, person)
    form = DecideForm(request.POST)
    if form.is_valid():
        return _decide(request, round_, form, person)
    return render(request, "judging/decide.html", _context(round_, row, judged, form, person), status=400)


def _hold(request: HttpRequest, round_: Round, row: PoolEntry, person: User) -> HttpResponse:
    """Keep the grade of this pair and go on to the next without one; or take back the one held last."""
    slug = round_.project.slug
    if (taken := request.POST.get("take_back", "")).isdecimal():
        entry = entry_in(round_, int(taken[:18]))
        drop_held(round_=round_, entry=entry, lead=person)
        return redirect("judging:adjudicate-pair", slug=slug, pk=round_.pk, entry=entry.pk)
    given = request.POST.copy()
    given["grade"] = given.get("hold", "")
    form = HoldForm(given, scale=round_.project.grades)
    if form.is_valid():
        hold_decision(round_=round_, entry=row, lead=person, grade=form.decided, facets=form.chosen, at=timezone.now())
        held = held_by_lead(round_, person)
        left = [pair.entry_id for pair in adjudicable(round_, person) if pair.entry_id not in held]
        row_pk = next(iter(left), row.pk)
        return redirect("judging:adjudicate-pair", slug=slug, pk=round_.pk, entry=row_pk)
    messages.error(request, "Choose a grade, or that the pair can’t be judged.")
    return redirect("judging:adjudicate-pair", slug=slug, pk=round_.pk, entry=row.pk)


def _decide(request: HttpRequest, round_: Round, form: DecideForm, person: User) -> HttpResponse:
    entries = [int(pk[:18]) for pk in request.POST.getlist("pairs") if pk.isdecimal()]
    done = decide_held(
        round_=round_,
        entries=entries,
        lead=person,
        reason=form.cleaned_data["reason"],
        error_type=form.cleaned_data["error_type"],
        at=timezone.now(),
    )
    if done.decisions:
        messages.success(request, f"{plural(len(done.decisions), 'pair is', 'pairs are')} decided.")
    names = entries_in(round_, [each.entry_id for each in done.left_out])
    for each in done.left_out:
        messages.warning(request, f"{names[each.entry_id].query.outside_id} was left out: {each.why}")
    return _next(request, round_.project, round_, person)


def _next(request: HttpRequest, project: Project, round_: Round, person: User) -> HttpResponse:
    pairs = adjudicable(round_, person)
    if pairs:
        held = held_by_lead(round_, person)
        first = next((pair for pair in pairs if pair.entry_id not in held), pairs[0])
        return redirect("judging:adjudicate-pair", slug=project.slug, pk=round_.pk, entry=first.entry_id)
    messages.success(request, "You have decided every pair of this round that you can decide.")
    return redirect("judging:adjudicate", slug=project.slug, pk=round_.pk)


class ListedPair(NamedTuple):
    """A pair in the list. `held` is the lead's grade, where `is_held`; `is_own`: they judged it."""

    entry: PoolEntry
    voices: list[Voice]
    apart: str
    is_held: bool
    held: int | None
    is_own: bool
    is_current: bool


def _listed(round_: Round, person: User, current: PoolEntry) -> list[ListedPair]:
    """The first undecided pairs, lowest agreement first; those with a grade of the lead before the others."""
    pairs, held = adjudicable(round_, person)[:SHOWN], held_by_lead(round_, person)
    entries, own = entries_in(round_, [pair.entry_id for pair in pairs]), own_among(round_, person)
    rows = [
        ListedPair(
            entries[pair.entry_id],
            voices(round_, pair),
            _apart(pair),
            pair.entry_id in held,
            held[pair.entry_id].grade if pair.entry_id in held else None,
            pair.entry_id in own,
            pair.entry_id == current.pk,
        )
        for pair in pairs
    ]
    return sorted(rows, key=lambda row: not row.is_held)


def _apart(pair: JudgedPair) -> str:
    if None in pair.answers:
        return "can’t judge"
    return f"{pair.spread:.0f} apart"


def _facet_rows(row: PoolEntry, judged: JudgedPair, held: HeldDecision | None) -> list[tuple[str, str, bool]]:
    """The subtopics of the query: id, words, and whether the lead chose it, else whether its judges do."""
    given = [judgement.facets for judgement in judged.judgements]
    highest = max((grade for grade in judged.answers if grade is not None), default=0)
    chosen = held.facets if held and held.facets is not None else settled_facets(given, highest)
    return [(facet["id"], facet["words"], facet["id"] in (chosen or [])) for facet in row.query.facets]


def _context(round_: Round, row: PoolEntry, judged: JudgedPair, form: DecideForm, person: User) -> dict[str, object]:
    guideline, rows = round_.guideline, _listed(round_, person, row)
    held = [each for each in rows if each.is_held]
    place = next((number for number, each in enumerate(rows) if each.is_current), 0)
    last = next(reversed(held_by_lead(round_, person).values()), None)
    shown = voices_since(round_, judged)
    return {
        "round": round_,
        "entry": row,
        "pair": judged,
        "voices": shown,
        "facets": _facet_rows(row, judged, held_by_lead(round_, person).get(row.pk)),
        "spans": shown[0].spans if shown else [],
        "others": [span for voice in shown[1:] for span in voice.spans],
        "own": person.pk,
        "is_own": any(voice.judgement.annotator_id == person.pk for voice in shown),
        "form": form,
        "held": held,
        "own_held": sum(each.is_own for each in held),
        "without": [each for each in rows if not each.is_held],
        "own_pairs": sum(each.is_own for each in rows),
        "total": len(rows),
        "place": place + 1,
        "before": rows[place - 1].entry.pk if place > 0 else None,
        "after": rows[place + 1].entry.pk if place + 1 < len(rows) else None,
        "last": last,
        "scale": round_.project.scale,
        "error_types": list(zip(ERROR_KEYS, ErrorType.choosable(), strict=True)),
        "guideline": guideline,
        "grades": highest_first(guideline.grades) if guideline else [],
        "guideline_html": mark_safe(to_html(guideline.markdown)) if guideline else "",
        "limit": ":10",
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
