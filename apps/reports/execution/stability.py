"""Score runs under each person's grades, to compare their order with that under the released grades."""

from collections.abc import Sequence
from itertools import starmap
from typing import Any

import numpy as np

from apps.evaluation.core.annotator_grades import shared_rows, with_grades
from apps.evaluation.selectors import evaluations, rankings
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import Floats
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.reports.core.stability import HIGHER, PERSON, StabilityGround, facts_of, grounds_of, order_under
from apps.reports.execution.analyses import compute_report
from apps.reports.models import StabilityReport
from apps.retrieval.models import Run


@job_kind("reports.stability", title="Compare orders under each annotator")
def stability(ctx: JobContext) -> dict[str, Any]:
    return compute_report(ctx, StabilityReport, _under_everybody, counted=("runs", "people"))


def _under_everybody(
    ctx: JobContext, report: StabilityReport, runs: Sequence[Run], ground: rankings.ScoringGround
) -> dict[str, Any]:
    """The result of a stability report.

    Its keys: `runs` (run, tag, system, name), `people` (keys of all who judged), `grades`, `shared` (how many of them
    two people gave), `grounds` (kind, indices of people, how many pairs they graded and changed, and one order for each
    measure, from `stability.facts_of`), and `between`: the orders under the second person's grades compared with those
    under the first's.
    """
    given = evaluations.given_in(report.version, ground)
    grounds = grounds_of(ground.judged, given)
    values = _values_under(ctx, report, runs, ground, grounds)
    return {
        "runs": [{"run": run.pk, "tag": run.tag, "system": run.system_id, "name": run.system.name} for run in runs],
        "people": list(given.people),
        "grades": len(ground.judged.grade),
        "shared": shared_rows(given, len(ground.judged.grade)),
        "seed": DEFAULT_SEED,
        "grounds": list(starmap(_ground_facts, zip(grounds, [values[0]] * len(values), values, strict=True))),
        "between": _between(grounds, values),
    }


def _values_under(
    ctx: JobContext,
    report: StabilityReport,
    runs: Sequence[Run],
    ground: rankings.ScoringGround,
    grounds: Sequence[StabilityGround],
) -> Floats:
    """Every value: shape (grounds, queries, runs, measures). One run is in memory at a time."""
    measures = parse_measures(" ".join(report.measures))
    ids = range(report.version.snapshot.block_count)
    under = [with_grades(ground.judged, each.place, each.grade) for each in grounds]
    values = np.empty((len(grounds), len(ground.judged.queries), len(runs), len(measures)))
    for done, run in enumerate(runs):
        ctx.progress(done, len(runs), f"scoring {run.tag} under each person’s grades")
        ranked = rankings.ranked_of(run, ground.numbers)
        for place, judged in enumerate(under):
            values[place, :, done] = measure_run(measures, judged, ranked, ids)
    return values


def _orders(before: Floats, after: Floats) -> list[dict[str, Any]]:
    """The order by each measure, from values of the shape (queries, runs, measures)."""
    pairs = zip(np.moveaxis(before, -1, 0), np.moveaxis(after, -1, 0), strict=True)
    return [facts_of(order_under(*pair)) for pair in pairs]


def _ground_facts(ground: StabilityGround, released: Floats, values: Floats) -> dict[str, Any]:
    return {
        "kind": ground.kind,
        "people": list(ground.people),
        "graded": ground.graded,
        "changed": ground.changed,
        "orders": _orders(released, values),
    }


def _between(grounds: Sequence[StabilityGround], values: Floats) -> list[dict[str, Any]]:
    """For two people who share pairs, the orders under the second's grades compared with the first's."""
    places = {ground.people[0]: place for place, ground in enumerate(grounds) if ground.kind == PERSON}
    return [
        {"people": list(each.people), "orders": _orders(*(values[places[person]] for person in each.people))}
        for each in grounds
        if each.kind == HIGHER
    ]
