"""Request what the hard negatives of a version do to the scores of its runs."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionGrade
from apps.reports.actions.analyses import request_report
from apps.reports.core.negative_effect import MEASURES
from apps.reports.models import NegativesReport
from apps.reports.rules import MOST_RUNS
from apps.retrieval.models import Run
from apps.retrieval.rules import own_passages_refusal


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
