"""Decisions on queries whose score fell."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.selectors import Member
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.selectors import evaluations, expected, rankings
from apps.goldsets.models import Version
from apps.triples.selectors.triples import asked_queries


class DecisionRefused(Refusal):
    """No such decision can be made on this drop."""


@transaction.atomic
def decide_drop(
    *,
    baseline: Evaluation,
    candidate: Evaluation,
    measure: str,
    query_id: str,
    decision: str,
    explanation: str,
    member: Member,
    at: datetime,
) -> RegressionNote:
    """Decide on a query, or a Q&A by its label, whose score fell: accepted, to be fixed, or the grades are wrong.

    Accepting needs a reason, fixing a description. The decision can be replaced until the comparison is closed; any
    other than “Grades wrong” removes the pool from the note.
    """
    _check(baseline, candidate, measure, query_id, decision, explanation, member)
    Version.objects.select_for_update().get(pk=candidate.version_id)
    if evaluations.closed(baseline, candidate, measure):
        raise DecisionRefused(rules.CLOSED, code="comparison_closed")
    place: dict[str, Any] = {
        "baseline": baseline,
        "candidate": candidate,
        "measure": measure,
        "query_id_text": query_id,
    }
    former = RegressionNote.objects.filter(**place).first()
    words = {"decision": decision, "explanation": explanation.strip()}
    rest = {"decided_by": member.user, "decided_at": at}
    if decision != RegressionNote.Decision.GRADES_WRONG:
        rest["pool"] = None
    note, _ = RegressionNote.objects.update_or_create(**place, defaults={**words, **rest})
    before = {"decision": former.decision, "explanation": former.explanation} if former else None
    record(
        project=candidate.project,
        actor=member.user,
        action="evaluation.drop_decided",
        obj=candidate,
        before=before,
        after={"query": query_id, "measure": measure, **words},
        at=at,
    )
    return note


def _check(
    baseline: Evaluation,
    candidate: Evaluation,
    measure: str,
    query_id: str,
    decision: str,
    explanation: str,
    member: Member,
) -> None:
    """Raise DecisionRefused unless the person may make this decision on a query of both evaluations."""
    if reason := rules.comparison_refusal(baseline, candidate):
        raise DecisionRefused(reason, code="comparison_refused")
    split, query = _items(candidate).get(query_id, ("", None))
    if not split or query_id not in candidate.query_ids or measure not in candidate.measures:
        raise DecisionRefused("This comparison has no such query or measure.", code="no_such_drop")
    hidden = rules.ranking_refusal(member.user, query, candidate.version.snapshot) if query is not None else None
    if reason := rules.decision_refusal(member, split) or hidden:
        raise DecisionRefused(reason, code="decision_refused")
    if decision not in RegressionNote.Decision.values:
        raise DecisionRefused("Choose Accept, Fix or Grades wrong.", code="bad_decision")
    if candidate.hit and decision == RegressionNote.Decision.GRADES_WRONG:
        raise DecisionRefused(rules.NO_GRADES_HERE, code="no_grades")
    if reason := rules.explanation_refusal(decision, explanation):
        raise DecisionRefused(reason, code="explanation_missing")


def _items(candidate: Evaluation) -> dict[str, tuple[str, int | None]]:
    """Split and key of the query of each item by its name: the id of a query, or the label of a Q&A."""
    if candidate.hit:
        rows = expected.version_triples(candidate.version, "")
        asked = asked_queries([row.revision_id for row in rows])
        keys = {revision: one.query_id for revision, one in asked.items()}
        return {row.label: (row.split, keys.get(row.revision_id)) for row in rows}
    return {row.outside_id: (row.split, row.query_id) for row in rankings.version_queries(candidate.version, "")}
