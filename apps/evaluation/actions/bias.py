"""Ask what a version owes to each system, and choose what to judge first."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.evaluation import provenance, rules
from apps.evaluation.actions.scoring import DEFAULT_MEASURES, OVER, EvaluationRefused, names_of
from apps.evaluation.models import BiasReport
from apps.goldsets.selectors import frozen_in
from apps.jobs.actions import enqueue
from apps.retrieval.actions import choose_pairs
from apps.retrieval.models import Pool
from apps.retrieval.selectors import run_in


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
    runs = [run_in(project, pk) for pk in sorted(set(run_ids))]
    if reason := rules.bias_refusal(version, split, runs, depth):
        raise EvaluationRefused(reason, code="report_refused")
    names = names_of(measures)
    keys = [run.pk for run in runs]
    report, is_new = BiasReport.objects.select_for_update(of=("self",)).get_or_create(
        version=version,
        digest=digest_of([split, keys, names[0], sorted(names), depth]),
        defaults={
            "project": project,
            "split": split,
            "runs": keys,
            "measures": names,
            "depth": depth,
            "requested_by": actor,
            "requested_at": at,
        },
    )
    if is_new:
        tags = [run.tag for run in runs]
        after = {"version": version.label, "split": split, "runs": tags, "measures": names, "depth": depth}
        record(project=project, actor=actor, action="bias_report.requested", obj=report, after=after, at=at)
    if is_new or (not report.is_computed and report.job is not None and report.job.state in OVER):
        report.job = enqueue(
            kind="evaluation.bias",
            params={"report_id": report.pk},
            project=project,
            actor=actor,
            at=at,
            title=f"Leave one system out on {version.label}",
        )
        report.save(update_fields=["job"])
    return report


@transaction.atomic
def choose_first(*, report: BiasReport, most: int, name: str = "", actor: User, at: datetime) -> Pool:
    """Make a pool of the unjudged blocks that could change the order most: what a round is planned from.

    Pairs that some round on the snapshot asks for already are passed over.
    """
    if reason := rules.first_refusal(report, most):
        raise EvaluationRefused(reason, code="first_refused")
    pairs = provenance.pairs_first(report)
    asked = provenance.asked_already(report.version, pairs)
    chosen = [pair for pair in pairs if pair not in asked][:most]
    if not chosen:
        reason = "Rounds ask for every one of these blocks already. Freeze a version with their grades, then ask again."
        raise EvaluationRefused(reason, code="first_refused")
    weighing = report.result["first"]["weighing"]
    origin = f"unjudged blocks that could change the order of {len(report.runs)} runs by {weighing}"
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
