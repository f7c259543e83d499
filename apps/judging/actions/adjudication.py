"""Deciding pairs whose judges disagree: one by one, and trivial disagreements by a rule."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.rounds import locked_round
from apps.judging.core.resolution import ResolutionRule, Resolved
from apps.judging.enums import DecidedBy, ErrorType
from apps.judging.models import Adjudication, Round
from apps.judging.selectors.deciding import own_among, standing_of
from apps.judging.selectors.pairs import pair_of
from apps.judging.selectors.propagation import Trivial, mark_of, rule_of, trivial
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
) -> Adjudication:
    """Decide a pair that its judges did not settle. No grade: the pair can't be judged and is left out.

    A later decision on the same pair supersedes the earlier one. Every place of the round is locked meanwhile.
    """
    round_ = locked_round(round_.pk)
    resolved, decided_by = _check(round_, entry, adjudicator)
    if not reason.strip():
        raise AdjudicationRefused("A decision needs a reason in words.", code="reason_missing")
    if error_type not in dict(ErrorType.choosable()):
        raise AdjudicationRefused("Choose why the judges differed.", code="error_type_missing")
    if grade is not None and (fault := rules.answer_refusal(round_.project, grade, "")):
        raise AdjudicationRefused(fault, code="not_an_answer")
    before = Adjudication.objects.filter(round=round_, entry=entry, superseded_by=None).first()
    decision = Adjudication.objects.create(
        round=round_,
        entry=entry,
        adjudicator=adjudicator,
        grade=grade,
        reason=reason.strip(),
        error_type=error_type,
        decided_by=decided_by,
        supersedes=before,
        given_at=at,
    )
    record(
        project=round_.project,
        actor=adjudicator,
        action="pair.adjudicated",
        obj=decision,
        before={"state": resolved.state, "grade": before.grade if before else None},
        after={"grade": grade, "reason": decision.reason, "error_type": error_type, "decided_by": decided_by},
        at=at,
    )
    return decision


def _check(round_: Round, entry: PoolEntry, adjudicator: User) -> tuple[Resolved, DecidedBy]:
    pair, standing = pair_of(round_, entry), standing_of(round_, entry, adjudicator)
    refusal = rules.withdrawn_refusal(round_) or rules.adjudication_refusal(
        pair.resolved, planned=pair.planned, standing=standing
    )
    AdjudicationRefused.raise_for(refusal, code="not_adjudicable")
    return pair.resolved, DecidedBy.LEAD_WHO_JUDGED if standing.has_judged else DecidedBy.LEAD
