"""Ask what a version owes to each system, and whether the order of runs holds under each annotator's grades."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.digests import digest_of
from apps.evaluation.actions.requests import Errand, ask_once
from apps.evaluation.actions.scoring import EvaluationRefused, names_of
from apps.evaluation.rules import DEFAULT_MEASURES
from apps.goldsets.selectors.versions import frozen_in
from apps.reports import rules
from apps.reports.models import BiasReport, StabilityReport
from apps.retrieval.models import Run
from apps.retrieval.selectors import run_in

BIAS = Errand("bias_report.requested", "reports.bias", "report_id")
STABILITY = Errand("stability_report.requested", "reports.stability", "report_id")


@transaction.atomic
def request_bias_report(
    *,
    project: Project,
    run_ids: Sequence[int],
    version_id: int,
    split: str = "",
    measures: str = DEFAULT_MEASURES,
    depth: int = 0,
    actor: User,
    at: datetime,
) -> BiasReport:
    """Ask how these runs stand on one side of a version when the grades of one system are left out; a job computes it.

    Asking again for the same gives the report that is there, whatever the order of the runs; the first measure
    counts, since it weighs what to judge first. One whose job failed or was cancelled is put in the queue again.
    """
    version = frozen_in(project, version_id)
    runs = _runs(project, run_ids)
    if reason := rules.bias_refusal(version, split, runs, depth):
        raise EvaluationRefused(reason, code="report_refused")
    names, keys = names_of(measures), [run.pk for run in runs]
    asked = {"split": split, "measures": names, "depth": depth}
    return ask_once(
        BiasReport,
        BIAS,
        known_by={"version": version, "digest": digest_of([split, keys, names[0], sorted(names), depth])},
        facts={"project": project, "runs": keys, **asked},
        told={"version": version.label, "runs": [run.tag for run in runs], **asked},
        title=f"Leave one system out on {version.label}",
        actor=actor,
        at=at,
    )


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
    runs = _runs(project, run_ids)
    names, keys = names_of(measures), [run.pk for run in runs]
    if reason := rules.stability_refusal(version, split, runs, names):
        raise EvaluationRefused(reason, code="report_refused")
    asked = {"split": split, "measures": names}
    return ask_once(
        StabilityReport,
        STABILITY,
        known_by={"version": version, "digest": digest_of([split, keys, sorted(names)])},
        facts={"project": project, "runs": keys, **asked},
        told={"version": version.label, "runs": [run.tag for run in runs], **asked},
        title=f"Compare orders under each annotator on {version.label}",
        actor=actor,
        at=at,
    )


def _runs(project: Project, run_ids: Sequence[int]) -> list[Run]:
    """Each run once, ascending by key, so that the order asked in makes no other report."""
    return [run_in(project, pk) for pk in sorted(set(run_ids))]
