"""Deciding a pair whose judges disagree."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.judging import rules
from apps.judging.actions.locks import locked_round
from apps.judging.core.resolution import Resolved
from apps.judging.enums import ErrorType
from apps.judging.models import Adjudication, Round
from apps.judging.selectors.pairs import pair_of
from apps.judging.selectors.placeholders import has_judged
from apps.retrieval.models import PoolEntry


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
    resolved = _check(round_, entry, adjudicator)
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
        supersedes=before,
        given_at=at,
    )
    record(
        project=round_.project,
        actor=adjudicator,
        action="pair.adjudicated",
        obj=decision,
        before={"state": resolved.state, "grade": before.grade if before else None},
        after={"grade": grade, "reason": decision.reason, "error_type": error_type},
        at=at,
    )
    return decision


def _check(round_: Round, entry: PoolEntry, adjudicator: User) -> Resolved:
    pair = pair_of(round_, entry)
    refusal = rules.withdrawn_refusal(round_) or rules.adjudication_refusal(
        pair.resolved, planned=pair.planned, has_judged=has_judged(entry, round_.pk, adjudicator)
    )
    if refusal:
        raise AdjudicationRefused(refusal, code="not_adjudicable")
    return pair.resolved
