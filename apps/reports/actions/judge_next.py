"""Make a pool of the pairs that a bias report ranks first for judging."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.reports import rules
from apps.reports.models import BiasReport
from apps.reports.selectors import unjudged_pairs
from apps.retrieval.actions.chosen import choose_pairs
from apps.retrieval.models import Pool


@transaction.atomic
def choose_first(*, report: BiasReport, most: int, name: str = "", actor: User, at: datetime) -> Pool:
    """Make a pool of the unjudged passages that could change the order most, to plan a round from.

    Leaves out pairs that are already in a round. Raises EvaluationRefused when no pair is left.
    """
    if reason := rules.first_refusal(report, most):
        raise EvaluationRefused(reason, code="first_refused")
    pairs = unjudged_pairs.pairs_first(report)
    planned = unjudged_pairs.already_planned(report.version, pairs)
    chosen = [pair for pair in pairs if pair not in planned][:most]
    if not chosen:
        reason = "All these passages are already planned in rounds. Judge them and freeze a version first."
        raise EvaluationRefused(reason, code="first_refused")
    weighing = report.result["first"]["weighing"]
    origin = f"unjudged passages that could change the order of {len(report.runs)} runs by {weighing}"
    return choose_pairs(
        project=report.project,
        snapshot=report.version.snapshot,
        name=name.strip() or f"Judge first, report {report.pk}, {at:%Y-%m-%d %H:%M:%S}",
        pairs=chosen,
        origin=origin,
        plan={"how": "first", "report": report.pk, "weighing": weighing, "asked": most},
        actor=actor,
        at=at,
    )
