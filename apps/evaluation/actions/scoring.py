"""Ask for the scores of runs."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.measures import parse_measures
from apps.evaluation.models import Evaluation
from apps.evaluation.notation import MeasureError
from apps.evaluation.significance import DEFAULT_SEED
from apps.goldsets.selectors import frozen_in
from apps.jobs.actions import enqueue
from apps.jobs.enums import JobState
from apps.retrieval.selectors import run_in

DEFAULT_MEASURES = "nDCG@10 AP RR P@10 Recall@100"
OVER = frozenset({JobState.FAILED, JobState.CANCELLED})


class EvaluationRefused(Refusal):
    """A run cannot be scored like that."""


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
    names = names_of(measures)
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


def names_of(measures: str) -> list[str]:
    try:
        return [str(measure) for measure in parse_measures(measures)]
    except MeasureError as fault:
        raise EvaluationRefused(str(fault), code="bad_measure") from fault


def _has_stopped(evaluation: Evaluation) -> bool:
    return not evaluation.is_scored and evaluation.job is not None and evaluation.job.state in OVER
