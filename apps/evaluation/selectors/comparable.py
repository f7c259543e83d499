"""The runs that an evaluation by text may be compared with, and those that lack something for it."""

from typing import NamedTuple

from apps.evaluation.models import Evaluation, by_grades
from apps.evaluation.selectors.evaluations import ladder_shown, on_ground, part_of, scorable_runs
from apps.retrieval.models import Run

MOST_RUNS = 20


class RunBeside(NamedTuple):
    """Another complete run on the snapshot, with the evaluation that is nearest to one of its own; None without any."""

    run: Run
    evaluation: Evaluation | None


def runs_beside(evaluation: Evaluation) -> list[RunBeside]:
    """The other runs on the snapshot, those measured alike first, newest first: at most MOST_RUNS.

    Nearest is an evaluation by the same rule on the same queries, then one by another by grades, then one on another
    version of the gold set. Runs whose score here stays sealed are left out.
    """
    ladder = ladder_shown(evaluation.version, evaluation.split, evaluation.hit)
    left_out = {evaluation.run_id, *(ladder.sealed.values() if ladder else ())}
    runs = {run.pk: run for run in scorable_runs(evaluation.version, evaluation.hit) if run.pk not in left_out}
    if part_of(evaluation) is None:
        same_set = {"version__gold_set": evaluation.version.gold_set_id, "split": evaluation.split}
        rows = Evaluation.objects.filter(by_grades(), **same_set)
    else:
        rows = on_ground(evaluation.version, evaluation.split, evaluation.hit, part_of(evaluation))
    scored = rows.filter(run__in=runs, scored_at__isnull=False).select_related("version").defer("query_ids", "counts")
    nearest: dict[int, Evaluation] = {}
    for row in sorted(scored, key=lambda row: _distance(evaluation, row)):
        nearest.setdefault(row.run_id, row)
    beside = [RunBeside(run, nearest.get(pk)) for pk, run in runs.items()]
    return sorted(beside, key=lambda one: (_nearness(evaluation, one), -one.run.pk))[:MOST_RUNS]


def _nearness(own: Evaluation, beside: RunBeside) -> tuple[int, ...]:
    return (2, 0) if beside.evaluation is None else _distance(own, beside.evaluation)[:2]


def _distance(own: Evaluation, other: Evaluation) -> tuple[int, int, int]:
    return (int(other.version_id != own.version_id), int(other.hit != own.hit), -other.pk)


def by_share(evaluation: Evaluation, measure: str) -> dict[int, dict[float, float | None]]:
    """By run the mean of its first measure by each share of words, where that is this one; on the same queries.

    Each by its latest evaluation by this rule, by the shares that all have.
    """
    rows = on_ground(evaluation.version, evaluation.split, evaluation.hit, part_of(evaluation))
    found = {
        run: {one["share"]: one["mean"] for one in counts.get("shares", ())}
        for run, measures, counts in rows.exclude(scored_at=None)
        .order_by("pk")
        .values_list("run_id", "measures", "counts")
        if measures[0] == measure
    }
    return {run: means for run, means in found.items() if means}
