"""Deciding pairs whose judges disagree: one or several with one reason, and trivial disagreements by a rule."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.rounds import locked_round
from apps.judging.core.resolution import ResolutionRule, facets_refusal
from apps.judging.enums import DecidedBy, ErrorType
from apps.judging.models import Adjudication, HeldDecision, Round
from apps.judging.selectors.deciding import LeadStanding, own_among, standings_of
from apps.judging.selectors.pairs import JudgedPair, pair_of, pairs_of
from apps.judging.selectors.propagation import Trivial, mark_of, rule_of, trivial
from apps.queries.execution.ingest import lock_facets
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry

ROWS = 500
IN_WORDS = {
    ResolutionRule.NEAR_MEDIAN: "the middle grade of an odd number, none more than one grade away from it",
    ResolutionRule.LOWER: "the lower grade, all of them within one of each other",
}


class SettlingRefused(Refusal):
    """Pairs cannot be settled by a rule."""


@transaction.atomic
def settle_bulk(
    *,
    round_: Round,
    rule: ResolutionRule,
    error_type: str,
    adjudicator: User,
    seen: str,
    at: datetime,
    words: str = "",
) -> list[Adjudication]:
    """Decide every pair of the round that the rule settles, with one decision for each, whose reason names the rule.

    `seen` is the mark of the pairs that the lead was shown; when the pairs have changed since, nothing is settled.
    Pairs that the lead judged are left to others, unless the project lets them decide those. Every place of the round
    is locked meanwhile.
    """
    if rule not in IN_WORDS:
        raise SettlingRefused("A majority is settled automatically. Choose another rule.", code="rule_unknown")
    round_ = locked_round(round_.pk)
    SettlingRefused.raise_for(rules.withdrawn_refusal(round_), code="round_withdrawn")
    if rule_of(round_) not in (ResolutionRule.MAJORITY, rule):
        message = f"This round was planned with another rule: {IN_WORDS[rule_of(round_)]}."
        raise SettlingRefused(message, code="other_rule_planned")
    if error_type not in dict(ErrorType.choosable()):
        raise SettlingRefused("Choose why the judges differed.", code="error_type_missing")
    pairs = _as_seen(round_, adjudicator, rule, seen)
    own = own_among(round_, adjudicator)
    reason = f"By the rule: {IN_WORDS[rule]}. Settled with {len(pairs)} pairs." + (f" {words.strip()}" if words else "")
    decisions = Adjudication.objects.bulk_create(
        (
            Adjudication(
                round=round_,
                entry_id=each.pair.entry_id,
                adjudicator=adjudicator,
                grade=each.grade,
                reason=reason,
                error_type=error_type,
                decided_by=DecidedBy.LEAD_WHO_JUDGED if each.pair.entry_id in own else DecidedBy.LEAD,
                given_at=at,
            )
            for each in pairs
        ),
        batch_size=ROWS,
    )
    after = {"rule": rule, "pairs": len(pairs), "error_type": error_type, "reason": reason, "mark": seen}
    record(project=round_.project, actor=adjudicator, action="pairs.settled", obj=round_, after=after, at=at)
    return decisions


def _as_seen(round_: Round, adjudicator: User, rule: ResolutionRule, seen: str) -> list[Trivial]:
    """The pairs under the rule; rejected unless they are those that the lead was shown."""
    pairs = trivial(round_, adjudicator, rule)
    if not pairs:
        raise SettlingRefused("No open pair matches this rule.", code="nothing_to_settle")
    if mark_of(pairs) != seen:
        message = (
            "The pairs under this rule have changed since you looked at them. Nothing was settled; please check again."
        )
        raise SettlingRefused(message, code="pairs_changed")
    return pairs


class AdjudicationRefused(Refusal):
    """A pair cannot be adjudicated, or not by this person."""


class LeftOut(NamedTuple):
    """A pair that was not decided, and why."""

    entry_id: int
    why: str


class Decided(NamedTuple):
    """What one decision on several pairs did."""

    decisions: list[Adjudication]
    left_out: list[LeftOut]


@transaction.atomic
def adjudicate(
    *,
    round_: Round,
    entry: PoolEntry,
    adjudicator: User,
    grade: int | None,
    reason: str,
    error_type: str,
    at: datetime,
    facets: Sequence[str] | None = None,
) -> Adjudication:
    """Decide a pair that its judges did not settle. No grade: the pair can't be judged and is left out.

    `facets` are the subtopics it answers; None: those that at least half of its judges chose. A later decision on the
    same pair supersedes the earlier one. Every place of the round is locked meanwhile.
    """
    done = adjudicate_many(
        round_=round_,
        grades={entry.pk: grade},
        facets={entry.pk: facets},
        adjudicator=adjudicator,
        reason=reason,
        error_type=error_type,
        at=at,
    )
    for each in done.left_out:
        raise AdjudicationRefused(each.why, code="not_adjudicable")
    return done.decisions[0]


@transaction.atomic
def adjudicate_many(
    *,
    round_: Round,
    grades: Mapping[int, int | None],
    adjudicator: User,
    reason: str,
    error_type: str,
    at: datetime,
    seen: Mapping[int, str] | None = None,
    facets: Mapping[int, Sequence[str] | None] | None = None,
) -> Decided:
    """Decide several pairs, each with its own grade, by the key of its entry; cause and reason are the same for all.

    `facets` are the subtopics of some, as in `adjudicate`.

    Each gets its own decision, and one event names them all. A pair that this lead cannot decide is left out, with the
    reason; so is one whose answers are no longer those of the digest in `seen`. Every place of the round is locked.
    """
    round_ = locked_round(round_.pk)
    _check_words(round_, grades, reason, error_type)
    chosen = _checked_facets(round_, grades, facets or {}, at)
    pairs = {pair.entry_id: pair for pair in pairs_of(round_, list(grades))}
    standings = standings_of(round_, list(grades), adjudicator)
    left_out, decisions, before = [], [], {}
    for entry, grade in grades.items():
        pair = pairs.get(entry) or JudgedPair(entry, planned=0)
        if why := _why_not(round_, pair, standings[entry], seen):
            left_out.append(LeftOut(entry, why))
            continue
        before[entry] = pair
        decisions.append(
            Adjudication(
                round=round_,
                entry_id=entry,
                adjudicator=adjudicator,
                grade=grade,
                reason=reason.strip(),
                error_type=error_type,
                decided_by=DecidedBy.LEAD_WHO_JUDGED if standings[entry].has_judged else DecidedBy.LEAD,
                supersedes=pair.decision,
                facets=chosen.get(entry),
                given_at=at,
            )
        )
    Adjudication.objects.bulk_create(decisions, batch_size=ROWS)
    _record(round_, decisions, before, at)
    return Decided(decisions, left_out)


def _check_words(round_: Round, grades: Mapping[int, int | None], reason: str, error_type: str) -> None:
    if not reason.strip():
        raise AdjudicationRefused("A decision needs a reason in words.", code="reason_missing")
    if error_type not in dict(ErrorType.choosable()):
        raise AdjudicationRefused("Choose why the judges differed.", code="error_type_missing")
    for grade in grades.values():
        if grade is not None and (fault := rules.answer_refusal(round_.project, grade, "")):
            raise AdjudicationRefused(fault, code="not_an_answer")


def _checked_facets(
    round_: Round, grades: Mapping[int, int | None], facets: Mapping[int, Sequence[str] | None], at: datetime
) -> dict[int, list[str]]:
    """The subtopics that are named, in the order of each query, which are fixed from now on."""
    named = {entry: chosen for entry, chosen in facets.items() if chosen is not None and grades[entry] is not None}
    queries = dict(PoolEntry.objects.filter(pk__in=named, pool=round_.pool_id).values_list("pk", "query"))
    lock_facets(set(queries.values()), at=at)
    known = {
        pk: [facet["id"] for facet in facets]
        for pk, facets in Query.objects.filter(pk__in=queries.values()).values_list("pk", "facets")
    }
    checked = {}
    for entry, chosen in named.items():
        ids = known.get(queries.get(entry, 0), [])
        AdjudicationRefused.raise_for(facets_refusal(chosen, ids, grades[entry]), code="facets_wrong")
        if ids:
            checked[entry] = [facet for facet in ids if facet in chosen]
    return checked


def _why_not(round_: Round, pair: JudgedPair, standing: LeadStanding, seen: Mapping[int, str] | None) -> str | None:
    refusal = rules.withdrawn_refusal(round_) or rules.adjudication_refusal(
        pair.resolved, planned=pair.planned, standing=standing
    )
    if refusal is None and seen is not None and seen[pair.entry_id] != pair.mark:
        return "Its answers have changed since you chose a grade. Look at it again."
    return refusal


def _record(round_: Round, decisions: list[Adjudication], pairs: Mapping[int, JudgedPair], at: datetime) -> None:
    """One event: of a single decision with what was before, of several with their number and grades."""
    if not decisions:
        return
    first = decisions[0]
    common = {"reason": first.reason, "error_type": first.error_type}
    if len(decisions) == 1:
        pair = pairs[first.entry_id]
        record(
            project=round_.project,
            actor=first.adjudicator,
            action="pair.adjudicated",
            obj=first,
            before={"state": pair.resolved.state, "grade": pair.decision.grade if pair.decision else None},
            after={"grade": first.grade, **_facets_of(first), **common, "decided_by": first.decided_by},
            at=at,
        )
        return
    grades = {str(decision.entry_id): decision.grade for decision in decisions}
    own = sum(decision.decided_by == DecidedBy.LEAD_WHO_JUDGED for decision in decisions)
    record(
        project=round_.project,
        actor=first.adjudicator,
        action="pairs.adjudicated",
        obj=round_,
        after={"pairs": len(decisions), "grades": grades, **common, "also_judged": own},
        at=at,
    )


def _facets_of(decision: Adjudication) -> dict[str, list[str]]:
    return {} if decision.facets is None else {"facets": decision.facets}


@transaction.atomic
def hold_decision(
    *,
    round_: Round,
    entry: PoolEntry,
    lead: User,
    grade: int | None,
    at: datetime,
    facets: Sequence[str] | None = None,
) -> HeldDecision:
    """Keep a lead's grade for a pair, or another one for it, until they decide several. Raises AdjudicationRefused."""
    round_ = locked_round(round_.pk)
    pair = pair_of(round_, entry)
    if why := _why_not(round_, pair, standings_of(round_, [entry.pk], lead)[entry.pk], None):
        raise AdjudicationRefused(why, code="not_adjudicable")
    if grade is not None and (fault := rules.answer_refusal(round_.project, grade, "")):
        raise AdjudicationRefused(fault, code="not_an_answer")
    chosen = _checked_facets(round_, {entry.pk: grade}, {entry.pk: facets}, at).get(entry.pk)
    values = {"grade": grade, "answers": pair.mark, "facets": chosen, "held_at": at}
    held, _ = HeldDecision.objects.update_or_create(round=round_, entry=entry, lead=lead, defaults=values)
    return held


@transaction.atomic
def drop_held(*, round_: Round, entry: PoolEntry, lead: User) -> None:
    """Take back a grade that was only held."""
    HeldDecision.objects.filter(round=round_, entry=entry, lead=lead).delete()


@transaction.atomic
def decide_held(
    *, round_: Round, entries: Collection[int], lead: User, reason: str, error_type: str, at: datetime
) -> Decided:
    """Decide those of these pairs for which the lead holds a grade; those that cannot be decided stay held."""
    rows = HeldDecision.objects.select_for_update().filter(round=round_, lead=lead, entry__in=entries)
    held = {row.entry_id: row for row in rows.order_by("pk")}
    if not held:
        raise AdjudicationRefused("None of these pairs has your grade yet. Choose grades first.", code="nothing_held")
    done = adjudicate_many(
        round_=round_,
        grades={pk: row.grade for pk, row in held.items()},
        seen={pk: row.answers for pk, row in held.items()},
        facets={pk: row.facets for pk, row in held.items()},
        adjudicator=lead,
        reason=reason,
        error_type=error_type,
        at=at,
    )
    HeldDecision.objects.filter(round=round_, entry__in=[decision.entry_id for decision in done.decisions]).delete()
    return done
