"""Request what hard negatives do to scores, and choose the unjudged passages of a bias report to judge first."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.reports import rules
from apps.reports.actions.analyses import request_report
from apps.reports.core.negatives import MEASURES
from apps.reports.models import BiasReport, NegativesReport
from apps.reports.rules import MOST_RUNS
from apps.reports.selectors import version_facts
from apps.retrieval.actions.manual_pools import choose_pairs
from apps.retrieval.models import Pool, Run
from apps.retrieval.rules import own_passages_refusal


@transaction.atomic
def choose_first(*, report: BiasReport, most: int, name: str = "", actor: User, at: datetime) -> Pool:
    """Make a pool of the unjudged passages that could change the order most, to plan a round from.

    Leaves out pairs that are already in a round. Raises EvaluationRefused when no pair is left.
    """
    if reason := rules.first_refusal(report, most):
        raise EvaluationRefused(reason, code="first_refused")
    pairs = version_facts.pairs_first(report)
    planned = version_facts.already_planned(report.version, pairs)
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


@transaction.atomic
def measure_negatives(
    *, version: Version, baseline_id: int, depth: int, actor: User, at: datetime
) -> list[NegativesReport]:
    """A report for each split with grades, on the baseline and the newest runs that rank passages of the snapshot."""
    graded = VersionGrade.objects.filter(version=version).values_list("query__split", flat=True).distinct()
    return [
        request_report(
            kind=NegativesReport,
            project=version.gold_set.project,
            run_ids=_measured(version, baseline_id),
            version_id=version.pk,
            split=split,
            measures=MEASURES,
            actor=actor,
            at=at,
            baseline_id=baseline_id,
            depth=depth,
        )
        for split in Split.values
        if split in set(graded)
    ]


def _measured(version: Version, baseline_id: int) -> Sequence[int]:
    ranked: list[Run] = [run for run in scorable_runs(version) if own_passages_refusal(run) is None]
    newest = sorted((run.pk for run in ranked if run.pk != baseline_id), reverse=True)
    return [*(run.pk for run in ranked if run.pk == baseline_id), *newest[: MOST_RUNS - 1]]
