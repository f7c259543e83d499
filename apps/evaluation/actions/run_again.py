"""Run systems again on the newer snapshot of a version, and score the new runs on it."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.actions.scoring import request_for_job
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation
from apps.evaluation.selectors.run_again import FormerRun, run_again_of
from apps.goldsets.models import GoldSet, Version
from apps.goldsets.selectors.questions import questions_of
from apps.goldsets.selectors.versions import frozen_in
from apps.jobs.actions.jobs import enqueue
from apps.retrieval.actions.runs import add_runs_again
from apps.retrieval.models import Run


class RunAgainRefused(Refusal):
    """The systems cannot be run again as requested."""


@transaction.atomic
def run_again_on_release(*, version: Version, actor: User, at: datetime) -> list[Run]:
    """Request new runs of Karat's own systems for a version just released on a newer snapshot than they were scored on.

    One job makes and scores them. Systems elsewhere are left to a lead, since their answers can cost money.
    """
    return _request(version, run_again_of(version).own, actor, at)


@transaction.atomic
def run_again(
    *, project: Project, version_id: int, system_ids: Collection[int], actor: User, at: datetime
) -> list[Run]:
    """Request new runs of these systems for a released version. Raises RunAgainRefused."""
    version = frozen_in(project, version_id)
    GoldSet.objects.select_for_update().get(pk=version.gold_set_id)
    version = frozen_in(project, version_id)
    can_be_run = run_again_of(version).can_be_run
    if reason := rules.again_refusal(version, system_ids, {one.system.pk for one in can_be_run}):
        raise RunAgainRefused(reason, code="run_again_refused")
    return _request(version, [one for one in can_be_run if one.system.pk in system_ids], actor, at)


def _request(version: Version, former: Sequence[FormerRun], actor: User, at: datetime) -> list[Run]:
    if not former:
        return []
    project = version.gold_set.project
    query_ids = [question.query_id for question in questions_of(version)]
    note = f"Run again for {version.gold_set.slug}/{version.label}, on its newer snapshot."
    runs, components = add_runs_again(
        [one.run for one in former], version.snapshot, query_ids, note=note, actor=actor, at=at
    )
    evaluations = request_for_job(version=version, runs=runs, actor=actor, at=at)
    job = enqueue(
        kind=RUN_AGAIN,
        params={"version_id": version.pk, "run_ids": [run.pk for run in runs], "query_ids": query_ids},
        project=project,
        actor=actor,
        at=at,
        title=f"Run systems again for {version.label}",
    )
    Run.objects.filter(pk__in=[run.pk for run in [*runs, *components]]).update(job=job)
    Evaluation.objects.filter(pk__in=[one.pk for one in evaluations]).update(job=job)
    return runs
