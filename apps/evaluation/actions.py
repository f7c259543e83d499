"""What people and machines do with scores."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.evaluation import provenance, rules, selectors
from apps.evaluation.measures import parse_measures
from apps.evaluation.models import BiasReport, Evaluation, RegressionNote
from apps.evaluation.notation import MeasureError
from apps.evaluation.significance import DEFAULT_SEED
from apps.goldsets.models import Version
from apps.goldsets.selectors import frozen_in
from apps.jobs.actions import enqueue
from apps.jobs.enums import JobState
from apps.retrieval.actions import choose_pairs
from apps.retrieval.models import Pool
from apps.retrieval.selectors import run_in

DEFAULT_MEASURES = "nDCG@10 AP RR P@10 Recall@100"
OVER = frozenset({JobState.FAILED, JobState.CANCELLED})


class EvaluationRefused(Refusal):
    """A run cannot be scored like that."""


class DecisionRefused(Refusal):
    """A drop cannot be decided on."""


@transaction.atomic
def request_evaluation(
    *,
    project: Project,
    run_id: int,
    version_id: int,
    split: str = "",
    measures: str = DEFAULT_MEASURES,
    seed: int = DEFAULT_SEED,
    actor: User,
    at: datetime,
) -> Evaluation:
    """Ask for the scores of a run against one side of a version; a job computes them.

    Asking again for the same scores gives the evaluation that is there, whatever the order of the measures; one
    whose job failed or was cancelled is put in the queue again.
    """
    run = run_in(project, run_id)
    version = frozen_in(project, version_id)
    if reason := rules.request_refusal(run, version, split):
        raise EvaluationRefused(reason, code="score_refused")
    names = _names(measures)
    evaluation, is_new = Evaluation.objects.select_for_update(of=("self",)).get_or_create(
        run=run,
        version=version,
        split=split,
        measures_digest=digest_of(sorted(names)),
        seed=seed,
        defaults={"project": project, "measures": names, "requested_by": actor, "requested_at": at},
    )
    if is_new:
        after = {"run": run.tag, "version": version.label, "split": split, "measures": names, "seed": seed}
        record(project=project, actor=actor, action="evaluation.requested", obj=evaluation, after=after, at=at)
    if is_new or _has_stopped(evaluation):
        evaluation.job = enqueue(
            kind="evaluation.score",
            params={"evaluation_id": evaluation.pk},
            project=project,
            actor=actor,
            at=at,
            title=f"Score {run.tag} on {version.label}",
        )
        evaluation.save(update_fields=["job"])
    return evaluation


@transaction.atomic
def request_evaluations(
    *, project: Project, run_ids: Sequence[int], version_id: int, split: str, measures: str, actor: User, at: datetime
) -> list[Evaluation]:
    """Ask for the scores of several runs; all or none."""
    return [
        request_evaluation(
            project=project, run_id=run_id, version_id=version_id, split=split, measures=measures, actor=actor, at=at
        )
        for run_id in run_ids
    ]


def _names(measures: str) -> list[str]:
    try:
        return [str(measure) for measure in parse_measures(measures)]
    except MeasureError as fault:
        raise EvaluationRefused(str(fault), code="bad_measure") from fault


def _has_stopped(evaluation: Evaluation) -> bool:
    return not evaluation.is_scored and evaluation.job is not None and evaluation.job.state in OVER


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
    names = _names(measures)
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
    """Say what becomes of a query that fell: accepted, to be fixed, or the grades are wrong. May be said anew."""
    query = next((q for q in selectors.version_queries(candidate.version, "") if q.outside_id == query_id), None)
    if reason := rules.comparison_refusal(baseline, candidate):
        raise DecisionRefused(reason, code="comparison_refused")
    if query is None or query_id not in candidate.query_ids or measure not in candidate.measures:
        raise DecisionRefused("This comparison has no such query or measure.", code="no_such_drop")
    if reason := rules.decision_refusal(member, query.split):
        raise DecisionRefused(reason, code="decision_refused")
    if decision not in RegressionNote.Decision.values:
        raise DecisionRefused("A drop is accepted, to be fixed, or the grades are wrong.", code="bad_decision")
    Version.objects.select_for_update().get(pk=candidate.version_id)
    place: dict[str, Any] = {
        "baseline": baseline,
        "candidate": candidate,
        "measure": measure,
        "query_id_text": query_id,
    }
    former = RegressionNote.objects.filter(**place).first()
    words = {"decision": decision, "explanation": explanation.strip()}
    note, _ = RegressionNote.objects.update_or_create(
        **place, defaults={**words, "decided_by": member.user, "decided_at": at}
    )
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
