"""Ask whether the order of runs holds under each annotator's grades."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.evaluation import rules
from apps.evaluation.actions.scoring import DEFAULT_MEASURES, OVER, EvaluationRefused, names_of
from apps.evaluation.models import StabilityReport
from apps.goldsets.selectors import frozen_in
from apps.jobs.actions import enqueue
from apps.retrieval.selectors import run_in


@transaction.atomic
def request_stability_report(
    *,
    project: Project,
    run_ids: Sequence[int],
    version_id: int,
    split: str = "",
    measures: str = DEFAULT_MEASURES,
    actor: User,
    at: datetime,
) -> StabilityReport:
    """Ask how these runs stand on one side of a version under each annotator's grades; a job computes it.

    Asking again for the same gives the report that is there, whatever the order of runs and measures. One whose job
    failed or was cancelled is put in the queue again.
    """
    version = frozen_in(project, version_id)
    runs = [run_in(project, pk) for pk in sorted(set(run_ids))]
    names = names_of(measures)
    if reason := rules.stability_refusal(version, split, runs, names):
        raise EvaluationRefused(reason, code="report_refused")
    keys = [run.pk for run in runs]
    report, is_new = StabilityReport.objects.select_for_update(of=("self",)).get_or_create(
        version=version,
        digest=digest_of([split, keys, sorted(names)]),
        defaults={
            "project": project,
            "split": split,
            "runs": keys,
            "measures": names,
            "requested_by": actor,
            "requested_at": at,
        },
    )
    if is_new:
        after = {"version": version.label, "split": split, "runs": [run.tag for run in runs], "measures": names}
        record(project=project, actor=actor, action="stability_report.requested", obj=report, after=after, at=at)
    if is_new or _has_stopped(report):
        _put_in_queue(report, actor, at)
    return report


def _put_in_queue(report: StabilityReport, actor: User, at: datetime) -> None:
    report.job = enqueue(
        kind="evaluation.stability",
        params={"report_id": report.pk},
        project=report.project,
        actor=actor,
        at=at,
        title=f"Compare orders under each annotator on {report.version.label}",
    )
    report.save(update_fields=["job"])


def _has_stopped(report: StabilityReport) -> bool:
    return not report.is_computed and report.job is not None and report.job.state in OVER
