"""Ask for the scores of runs."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.accounts.models import Project, User
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.actions.requests import Errand, ask_once
from apps.evaluation.models import Evaluation
from apps.evaluation.rules import DEFAULT_MEASURES, grades_refusal, version_measures
from apps.evaluation.selectors import leaderboard
from apps.goldsets.actions import log_test_look
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery
from apps.goldsets.selectors.versions import frozen_in
from apps.metrics.measures import Measure
from apps.metrics.measures.notation import MeasureError
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.retrieval.selectors import run_in

SCORING = Errand("evaluation.requested", "evaluation.score", "evaluation_id")


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
    whose job failed or was cancelled is put in the queue again. Asking for the test side is a look at it, every time.
    """
    asked = _ask(project, run_id, version_id, split, measures, seed, actor, at)
    _log_look(asked.version, split, f"scores of {asked.run.tag}", actor, at)
    return asked


def _ask(
    project: Project, run_id: int, version_id: int, split: str, measures: str, seed: int, actor: User, at: datetime
) -> Evaluation:
    run = run_in(project, run_id)
    version = frozen_in(project, version_id)
    if reason := rules.request_refusal(run, version, split):
        raise EvaluationRefused(reason, code="score_refused")
    asked = measures_of(measures)
    if reason := grades_refusal(asked, version):
        raise EvaluationRefused(reason, code="bad_measure")
    names = [str(measure) for measure in asked]
    how = {"split": split, "seed": seed}
    return ask_once(
        Evaluation,
        SCORING,
        known_by={"run": run, "version": version, "measures_digest": digest_of(sorted(names)), **how},
        facts={"project": project, "measures": names},
        told={"run": run.tag, "version": version.label, "measures": names, **how},
        title=f"Score {run.tag} on {version.label}",
        actor=actor,
        at=at,
    )


@transaction.atomic
def request_evaluations(
    *, project: Project, run_ids: Sequence[int], version_id: int, split: str, measures: str, actor: User, at: datetime
) -> list[Evaluation]:
    """Ask for the scores of several runs; all or none. Of the test side it is one look."""
    asked = [_ask(project, run_id, version_id, split, measures, DEFAULT_SEED, actor, at) for run_id in run_ids]
    if asked:
        what = f"scores of {asked[0].run.tag}" if len(asked) == 1 else f"scores of {len(asked)} runs"
        _log_look(asked[0].version, split, what, actor, at)
    return asked


def _log_look(version: Version, split: str, what: str, actor: User, at: datetime) -> None:
    """Put on record who had the sealed side of a version scored."""
    if split != Split.DEV and VersionQuery.objects.filter(version=version, split=Split.TEST).exists():
        log_test_look(version=version, actor=actor, what=what, at=at)


@transaction.atomic
def score_the_rest(
    *, version: Version, split: str, measures: Sequence[str] = (), lacking: str = "", actor: User, at: datetime
) -> list[Evaluation]:
    """Ask for every complete run on the version's snapshot that has no such scores on this side yet.

    `measures` are those asked for last on this side of any version of the gold set, unless others are named. Runs
    on another snapshot are no part of it: the grades say nothing about other texts. With `lacking` only runs that
    have no score of that measure are meant. Empty when nothing is missing.
    """
    asked = _ask_the_rest(version, split, measures, actor, at, lacking)
    if asked:
        _log_look(version, split, f"scores of {len(asked)} runs", actor, at)
    return asked


def _ask_the_rest(
    version: Version, split: str, measures: Sequence[str], actor: User, at: datetime, lacking: str = ""
) -> list[Evaluation]:
    names = list(measures) or leaderboard.measures_asked(version, split) or names_of(DEFAULT_MEASURES)
    wanted = " ".join(names)
    runs = leaderboard.unscored_on(version, split, [lacking] if lacking in names else names)
    project = version.gold_set.project
    return [_ask(project, run.pk, version.pk, split, wanted, DEFAULT_SEED, actor, at) for run in runs]


@transaction.atomic
def score_on_release(*, version: Version, actor: User, at: datetime) -> list[Evaluation]:
    """Ask for the scores of the stored runs on a version just released, on each side that earlier ones were scored.

    So the line of a trend goes on without anybody asking, and without anybody having looked at the test side. The
    first version of a gold set has nothing to go on.
    """
    earlier = Evaluation.objects.filter(version__gold_set=version.gold_set_id).exclude(version=version)
    sides = earlier.order_by("split").values_list("split", flat=True).distinct()
    asked = [_ask_the_rest(version, split, (), actor, at) for split in sides]
    return [evaluation for side in asked for evaluation in side]


def names_of(measures: str) -> list[str]:
    return [str(measure) for measure in measures_of(measures)]


def measures_of(measures: str) -> tuple[Measure, ...]:
    """The measures of a list; refused when one is not known, or reads what no version holds."""
    try:
        return version_measures(measures)
    except MeasureError as fault:
        raise EvaluationRefused(str(fault), code="bad_measure") from fault
