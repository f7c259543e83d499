"""Request the scores of runs, each once, at once or by a job, and run systems again for a version."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from django.db import transaction

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.evaluation import rules
from apps.evaluation.enums import RUN_AGAIN
from apps.evaluation.models import Evaluation, Requested
from apps.evaluation.rules import canonical_hit, default_measures, grades_refusal, version_measures
from apps.evaluation.selectors import leaderboard
from apps.evaluation.selectors.evaluations import SlicePart, is_published_on, ladder_on, part_named
from apps.evaluation.selectors.run_again import FormerRun, run_again_of
from apps.goldsets.actions.versions import log_test_look
from apps.goldsets.enums import Split
from apps.goldsets.models import GoldSet, Version, VersionQuery, VersionTriple
from apps.goldsets.selectors.questions import questions_of
from apps.goldsets.selectors.slices import slices_of
from apps.goldsets.selectors.versions import frozen_in
from apps.jobs.actions.jobs import enqueue
from apps.jobs.enums import JobState
from apps.metrics.expected.rules import BY_GRADES, HitRuleError, counts_questions
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.notation import MeasureError
from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.retrieval.actions.runs import add_runs_again
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import run_in

OVER = frozenset({JobState.FAILED, JobState.CANCELLED})

AnyRequested = TypeVar("AnyRequested", bound=Requested)
SCORE_ALL = "evaluation.score_all"


class RequestKind(NamedTuple):
    """The audit event and the job kind of a request, and the job parameter that is the row's key."""

    event: str
    job: str
    row: str


def request_once(
    model: type[AnyRequested],
    kind: RequestKind,
    *,
    identity: dict[str, Any],
    columns: dict[str, Any],
    audit_facts: dict[str, Any],
    title: str,
    actor: User,
    at: datetime,
    is_queued: bool = True,
) -> AnyRequested:
    """The row with the columns `identity`, created with `columns` too if it is new; `audit_facts` are for its event.

    A new row is queued, and so is one whose job failed or was cancelled before it was computed; not where the caller
    queues several rows in one job, without `is_queued`.
    """
    rows = model._base_manager.select_for_update(of=("self",))
    row, is_new = rows.get_or_create(**identity, defaults={**columns, "requested_by": actor, "requested_at": at})
    if is_new:
        record(project=row.project, actor=actor, action=kind.event, obj=row, after=audit_facts, at=at)
    if is_queued and (is_new or has_stopped(row)):
        params = {kind.row: row.pk}
        row.job = enqueue(kind=kind.job, params=params, project=row.project, actor=actor, at=at, title=title)
        row.save(update_fields=["job"])
    return row


def has_stopped(row: Requested) -> bool:
    return not row.is_computed and row.job is not None and row.job.state in OVER


SCORING = RequestKind("evaluation.requested", "evaluation.score", "evaluation_id")


class EvaluationRefused(Refusal):
    """The run cannot be scored as requested."""


@transaction.atomic
def request_evaluation(
    *,
    project: Project,
    run_id: int,
    version_id: int,
    split: str = "",
    hit: str = BY_GRADES,
    slice_name: str = "",
    measures: str = "",
    seed: int = DEFAULT_SEED,
    actor: User,
    at: datetime,
) -> Evaluation:
    """Request the scores of a run against one split of a version, or a slice of it; a job computes them.

    `hit` is a hit rule, by which it is measured on the triples, or by text on the grades; by default it is on the
    grades of the blocks that it returned. Without `measures` they
    are the usual ones. `slice_name` is the kind or the quarter of a slice; it is scored as it is now, on dev.

    The same request again, with the measures in any order, returns the existing evaluation; one whose job failed or was
    cancelled is queued again. Every request for the test split is logged as a look at it.
    """
    requested = _request(project, run_id, version_id, split, hit, measures, seed, actor, at, slice_name)
    _log_look(requested.version, requested.split, f"scores of {requested.run.tag}", actor, at)
    return requested


def _request(
    project: Project,
    run_id: int,
    version_id: int,
    split: str,
    hit: str,
    measures: str,
    seed: int,
    actor: User,
    at: datetime,
    slice_name: str = "",
    *,
    is_queued: bool = True,
) -> Evaluation:
    """One request. Without `is_queued` the caller queues its job, which may make the run first."""
    run = run_in(project, run_id)
    version = frozen_in(project, version_id)
    part = _part_of(version, slice_name, split)
    split = Split.DEV if part else split
    hit = _hit_of(hit)
    refusal = rules.request_refusal if is_queued else rules.ground_refusal
    if reason := refusal(run, version, split, hit):
        raise EvaluationRefused(reason, code="score_refused")
    wanted = measures_of(measures or rules.usual_measures([run], version, hit), hit)
    if not counts_questions(hit) and (reason := grades_refusal(wanted, version)):
        raise EvaluationRefused(reason, code="bad_measure")
    names = [str(measure) for measure in wanted]
    if reason := rules.measures_refusal(version, names, ladder_on(version, split, hit)):
        raise EvaluationRefused(reason, code="bad_measure")
    how = {"split": split, "seed": seed, **({"hit": hit} if hit else {})}
    on_part = {"slice": part.slice, "slice_size": part.size} if part else {}
    return request_once(
        Evaluation,
        SCORING,
        identity={"run": run, "version": version, "measures_digest": _digest_of(names, hit, part), **how, **on_part},
        columns={"project": project, "measures": names},
        audit_facts={"run": run.tag, "version": version.label, "measures": names, **how, **_facts_of(part)},
        title=f"Score {run.tag} on {version.label}{f', {part.words}' if part else ''}",
        actor=actor,
        at=at,
        is_queued=is_queued,
    )


@transaction.atomic
def request_evaluations(
    *,
    project: Project,
    run_ids: Sequence[int],
    version_id: int,
    split: str,
    hit: str = BY_GRADES,
    slice_name: str = "",
    measures: str,
    actor: User,
    at: datetime,
) -> list[Evaluation]:
    """Request the scores of several runs, all or none. For the test split one look is logged."""
    ground = (version_id, split, hit, measures, DEFAULT_SEED)
    requested = [_request(project, run_id, *ground, actor, at, slice_name) for run_id in run_ids]
    if requested:
        what = f"scores of {requested[0].run.tag}" if len(requested) == 1 else f"scores of {len(requested)} runs"
        _log_look(requested[0].version, requested[0].split, what, actor, at)
    return requested


def _part_of(version: Version, name: str, split: str) -> SlicePart | None:
    if not name:
        return None
    if reason := rules.slice_refusal(version, name, split, slices_of(version)):
        raise EvaluationRefused(reason, code="slice_refused")
    return part_named(version, name)


def _facts_of(part: SlicePart | None) -> dict[str, str | int]:
    return {"slice": part.slice.name, "slice_size": part.size} if part else {}


def _log_look(version: Version, split: str, what: str, actor: User, at: datetime) -> None:
    """Log who requested scores of a version's sealed split."""
    if split == Split.DEV:
        return
    sealed = (model.objects.filter(version=version, split=Split.TEST) for model in (VersionQuery, VersionTriple))
    if any(rows.exists() for rows in sealed):
        log_test_look(version=version, actor=actor, what=what, at=at)


@transaction.atomic
def score_missing(
    *,
    version: Version,
    split: str,
    hit: str = BY_GRADES,
    lacking: str = "",
    actor: User,
    at: datetime,
) -> list[Evaluation]:
    """Request the missing scores on this split of every complete run on the version's snapshot.

    By the measures requested last on this split of any version of the gold set. Runs on another
    snapshot are left out: the grades do not apply to their texts. With `lacking` only runs without a score of that
    measure are included. Empty when nothing is missing.
    """
    requested = _request_missing(version, split, hit, actor, at, lacking)
    if requested:
        _log_look(version, split, f"scores of {len(requested)} runs", actor, at)
    return requested


def _request_missing(
    version: Version,
    split: str,
    hit: str,
    actor: User,
    at: datetime,
    lacking: str = "",
    *,
    is_queued: bool = True,
) -> list[Evaluation]:
    names = usual_names(version, split, hit)
    runs = runs_to_score(version, split, hit, [lacking] if lacking in names else names)
    return _request_usual(version, split, hit, runs, actor, at, is_queued=is_queued)


def _request_usual(
    version: Version, split: str, hit: str, runs: Sequence[Run], actor: User, at: datetime, *, is_queued: bool
) -> list[Evaluation]:
    """Request the scores of runs by the usual measures."""
    ground = (version.pk, split, hit, " ".join(usual_names(version, split, hit)), DEFAULT_SEED)
    project = version.gold_set.project
    return [_request(project, run.pk, *ground, actor, at, is_queued=is_queued) for run in runs]


def runs_to_score(version: Version, split: str, hit: str, measures: Sequence[str]) -> list[Run]:
    """The runs that lack one of these measures on this split and can be scored there."""
    runs = leaderboard.unscored_on(version, split, measures, hit)
    return [run for run in runs if rules.request_refusal(run, version, split, hit) is None]


def usual_names(version: Version, split: str, hit: str) -> list[str]:
    """The measures by which runs without a score are scored: those requested last, else the default ones.

    With the one that decides what is published on test.
    """
    latest = leaderboard.latest_measures(version, split, hit)
    if not counts_questions(hit):
        latest = [name for name in latest if grades_refusal([parse_measure(name)], version) is None]
    names = latest or names_of(default_measures(hit), hit)
    ladder = ladder_on(version, split, hit)
    is_short = rules.measures_refusal(version, names, ladder) is not None
    return [*names, ladder.measure] if ladder and is_short else names


@transaction.atomic
def score_on_release(*, version: Version, actor: User, at: datetime) -> list[Evaluation]:
    """Request scores of stored runs on a version just released, on each split and by each rule of earlier ones.

    One job computes them all. So trends continue without a request, and without a logged look at the test split. Empty
    for the first version of a gold set.
    """
    grounds = leaderboard.earlier_grounds(version)
    requested = [_request_missing(version, split, hit, actor, at, is_queued=False) for split, hit in grounds]
    evaluations = [evaluation for scores in requested for evaluation in scores]
    unscored = [one for one in evaluations if not one.is_scored]
    # What was published before goes first: the first score on test always is.
    if waiting := [one.pk for one in sorted(unscored, key=lambda one: not is_published_on(one))]:
        job = enqueue(
            kind=SCORE_ALL,
            params={"evaluation_ids": waiting},
            project=version.gold_set.project,
            actor=actor,
            at=at,
            title=f"Score stored runs on {version.label}",
        )
        Evaluation.objects.filter(pk__in=waiting).update(job=job)
    return evaluations


@transaction.atomic
def request_for_job(*, version: Version, runs: Sequence[Run], actor: User, at: datetime) -> list[Evaluation]:
    """Request scores of runs that a job of the caller makes, on the splits and by the rules of earlier versions.

    The caller queues that job and links it to them.
    """
    requested = []
    for split, hit in leaderboard.earlier_grounds(version):
        able = [run for run in runs if rules.ground_refusal(run, version, split, hit) is None]
        requested += _request_usual(version, split, hit, able, actor, at, is_queued=False)
    return requested


def names_of(measures: str, hit: str = BY_GRADES) -> list[str]:
    return [str(measure) for measure in measures_of(measures, hit)]


def measures_of(measures: str, hit: str = BY_GRADES) -> tuple[Measure, ...]:
    """The measures of a list. Raises EvaluationRefused for an unknown one, and for one that needs something else."""
    try:
        return version_measures(measures, hit)
    except MeasureError as fault:
        raise EvaluationRefused(str(fault), code="bad_measure") from fault


def _hit_of(text: str) -> str:
    try:
        return canonical_hit(text)
    except HitRuleError as fault:
        raise EvaluationRefused(str(fault), code="bad_hit_rule") from fault


def _digest_of(names: Sequence[str], hit: str, part: SlicePart | None) -> str:
    """Over what is measured. By grades on a whole split it is that of the measures alone, as in the first versions."""
    if not hit and part is None:
        return digest_of(sorted(names))
    on_part = {"slice": part.slice.name, "size": part.size} if part else {}
    return digest_of({"hit": hit, "measures": sorted(names), **on_part})


class RunAgainRefused(Refusal):
    """The systems cannot be run again as requested."""


@transaction.atomic
def run_again_on_release(*, version: Version, actor: User, at: datetime) -> list[Run]:
    """Request new runs of Karat's own systems for a version just released on a newer snapshot than they were scored on.

    One job makes and scores them. Systems elsewhere are left to a lead, since their answers can cost money.
    """
    return _request_runs(version, run_again_of(version).own, actor, at)


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
    return _request_runs(version, [one for one in can_be_run if one.system.pk in system_ids], actor, at)


def _request_runs(version: Version, former: Sequence[FormerRun], actor: User, at: datetime) -> list[Run]:
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
