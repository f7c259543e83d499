"""The jobs that compute reports: bias, stability, and what hard negatives do to scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from apps.evaluation.core.annotator_grades import shared_rows, with_grades
from apps.evaluation.execution.scoring import ground_of
from apps.evaluation.selectors import evaluations, rankings
from apps.evaluation.selectors.rankings import UNJUDGED_AT, ScoringGround
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import Floats, Ints, Judged
from apps.metrics.measures.entries import Measure
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.metrics.statistics.significance import DEFAULT_SEED
from apps.reports.core import unjudged_priority
from apps.reports.core.bias import UNKNOWN, change_intervals, means_of, sole_finders, without
from apps.reports.core.negatives import alike_by, effects_of, find_hard, without_pairs
from apps.reports.core.stability import HIGHER, PERSON, StabilityGround, facts_of, grounds_of, order_under
from apps.reports.core.unjudged_priority import Top
from apps.reports.models import BiasReport, NegativesReport, StabilityReport
from apps.reports.rules import MOST_FIRST
from apps.reports.selectors import analyses
from apps.reports.selectors.analyses import AnyReport, runs_of
from apps.reports.selectors.negatives import names_at
from apps.retrieval.execution.indexes import signatures_if_any
from apps.retrieval.models import Run


def compute_report(
    ctx: JobContext,
    kind: type[AnyReport],
    compute: Callable[[JobContext, AnyReport, Sequence[Run], ScoringGround], dict[str, Any]],
    *,
    counted: Sequence[str] = ("runs",),
) -> dict[str, Any]:
    """Store the result of `compute` in the report `report_id`, unless it is computed.

    `counted` are keys of lists in it; the job's own result has their lengths.
    """
    reports = kind._default_manager.select_related(
        "version__snapshot", "version__guideline", "version__gold_set__project"
    )
    report = reports.get(pk=ctx.params["report_id"])
    if report.is_computed:
        return {"report_id": report.pk}
    ground = ground_of(report.version, report.split)
    computed = compute(ctx, report, runs_of(report), ground)
    with ctx.finish() as result:
        report.result, report.computed_at = computed, ctx.at
        report.save(update_fields=["result", "computed_at"])
        result.update(report_id=report.pk, **{name: len(computed[name]) for name in counted})
    return ctx.result


@job_kind("reports.stability", title="Compare orders under each annotator", page=("reports:stability", "report_id"))
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
    measures = parse_measures(" ".join(report.measures))
    values = _values_under(ctx, report, runs, ground, grounds)
    return {
        "runs": [{"run": run.pk, "tag": run.tag, "system": run.system_id, "name": run.system.name} for run in runs],
        "people": list(given.people),
        "grades": len(ground.judged.grade),
        "shared": shared_rows(given, len(ground.judged.grade)),
        "seed": DEFAULT_SEED,
        "grounds": [
            _ground_facts(each, _orders(measures, values[0], under))
            for each, under in zip(grounds, values, strict=True)
        ],
        "between": _between(measures, grounds, values),
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


def _orders(measures: Sequence[Measure], before: Floats, after: Floats) -> list[dict[str, Any]]:
    """The order by each measure, from values of the shape (queries, runs, measures)."""
    columns = zip(measures, np.moveaxis(before, -1, 0), np.moveaxis(after, -1, 0), strict=True)
    return [facts_of(order_under(*column)) for column in columns]


def _ground_facts(ground: StabilityGround, orders: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "kind": ground.kind,
        "people": list(ground.people),
        "graded": ground.graded,
        "changed": ground.changed,
        "orders": orders,
    }


def _between(measures: Sequence[Measure], grounds: Sequence[StabilityGround], values: Floats) -> list[dict[str, Any]]:
    """For two people who share pairs, the orders under the second's grades compared with the first's."""
    places = {ground.people[0]: place for place, ground in enumerate(grounds) if ground.kind == PERSON}
    return [
        {"people": list(each.people), "orders": _orders(measures, *(values[places[person]] for person in each.people))}
        for each in grounds
        if each.kind == HIGHER
    ]


@job_kind("reports.bias", title="Leave one family of systems out", page=("reports:bias", "report_id"))
def bias(ctx: JobContext) -> dict[str, Any]:
    return compute_report(ctx, BiasReport, _without_each)


def _without_each(
    ctx: JobContext, report: BiasReport, runs: Sequence[Run], ground: rankings.ScoringGround
) -> dict[str, Any]:
    """The result of a bias report.

    Its keys: `runs` (run, tag, system, means, changes, unjudged; the system is that of its family), `left_out` (a
    `bias.LeftOutSystem` each), `grades`, `unknown` (grades of pairs that no run is known to have found), and `first`,
    what to judge first, from `_first`.
    """
    top_grade = _top_grade(report.version, ground.judged)
    weighing = unjudged_priority.weighing(parse_measures(" ".join(report.measures))[0], top_grade)
    deep = max(report.depth, len(weighing.discounts))
    steps = 2 * len(runs)
    tops = []
    for done, run in enumerate(runs):
        ctx.progress(done, steps, f"reading {run.tag}")
        tops.append(analyses.top_of(run, ground.numbers, deep))
    finds = (
        analyses.finds_by_rank(runs, tops, report.depth)
        if report.depth
        else analyses.finds_of_pools(report.version, ground.numbers)
    )
    families = analyses.families_in(report.version.gold_set.project)
    sole = sole_finders(ground.judged, finds.by_family(families))
    tables = _under_each(ctx, report, runs, ground, sole, families)
    priority = unjudged_priority.UnjudgedPriority(ground.judged, tops, weighing)
    return {
        **tables,
        "grades": len(sole),
        "unknown": int((sole == UNKNOWN).sum()),
        "first": _first(priority, runs, top_grade),
    }


def _top_grade(version: Version, judged: Judged) -> int:
    """The best possible grade by the guideline, if there is one, and the grades."""
    scale = [grade["grade"] for grade in version.guideline.grades] if version.guideline else []
    return max([1, *scale, int(judged.grade.max())])


def _under_each(
    ctx: JobContext,
    report: BiasReport,
    runs: Sequence[Run],
    ground: rankings.ScoringGround,
    sole: Ints,
    families: Mapping[int, int],
) -> dict[str, Any]:
    """Every run scored with all judgements and without those of each family; one run in memory at a time."""
    names: dict[int, list[str]] = {}
    for system in dict.fromkeys(run.system for run in runs):
        names.setdefault(families.get(system.pk, system.pk), []).append(system.name)
    grounds = [ground.judged, *(without(ground.judged, sole == family) for family in names)]
    measures = parse_measures(" ".join(report.measures))
    depths = [Measure("Judged", depth) for depth in UNJUDGED_AT]
    ids = range(report.version.snapshot.block_count)
    lines, means = [], []
    for done, run in enumerate(runs):
        ctx.progress(len(runs) + done, 2 * len(runs), f"scoring {run.tag} with each family left out")
        ranked = rankings.ranked_of(run, ground.numbers)
        judged = means_of(measure_run(depths, ground.judged, ranked, ids))
        values = [measure_run(measures, under, ranked, ids) for under in grounds]
        means.append([means_of(under) for under in values])
        family = families.get(run.system_id, run.system_id)
        lines.append(
            {
                "run": run.pk,
                "tag": run.tag,
                "system": family,
                "means": means[-1][0],
                "changes": change_intervals(values[0], values[1 + list(names).index(family)]),
                "unjudged": [None if share is None else 1 - share for share in judged],
            }
        )
    left_out = [
        {
            "system": family,
            "name": ", ".join(members),
            "pairs": int((sole == family).sum()),
            "relevant": int(((sole == family) & (ground.judged.grade > 0)).sum()),
            "means": [rows[number] for rows in means],
        }
        for number, (family, members) in enumerate(names.items(), 1)
    ]
    return {"runs": lines, "left_out": left_out}


def _first(priority: unjudged_priority.UnjudgedPriority, runs: Sequence[Run], top_grade: int) -> dict[str, Any]:
    """What to judge first: the neighbours, and `pairs`, each with outside query id, block position and swing."""
    chosen = priority.first(MOST_FIRST)
    columns = zip(chosen.query.tolist(), chosen.block.tolist(), chosen.swing.tolist(), strict=True)
    return {
        "weighing": priority.weighing.name,
        "depth": len(priority.weighing.discounts),
        "top_grade": top_grade,
        "unjudged": len(priority.unjudged[0]),
        "movers": int((priority.swings > unjudged_priority.ROUNDING).sum()),
        "neighbours": [
            [runs[pair.better].tag, runs[pair.worse].tag, pair.gap, pair.is_settled] for pair in priority.neighbours
        ],
        "pairs": [[priority.judged.queries[query], block, swing] for query, block, swing in columns],
    }


@job_kind("reports.negatives", title="Measure hard negatives")
def negatives(ctx: JobContext) -> dict[str, Any]:
    return compute_report(ctx, NegativesReport, _before_and_after)


def _before_and_after(
    ctx: JobContext, report: NegativesReport, runs: Sequence[Run], ground: rankings.ScoringGround
) -> dict[str, Any]:
    """The result of a report on hard negatives.

    Its keys: `found`, the numbers of `HardNegatives` and how many are hard; `knows_alike`, whether near-duplicates were
    known by more than equal texts; and `runs` (run, tag, `effects`: a `NegativeEffect` by measure).
    """
    judged = ground.judged
    top = analyses.top_of(report.baseline, ground.numbers, report.depth)
    signatures = signatures_if_any(report.version.snapshot)
    hard = find_hard(judged, top, alike_by(_texts(report.version, judged, top), signatures))
    measures = list(parse_measures(" ".join(report.measures)))
    ids = range(report.version.snapshot.block_count)
    lines = []
    for done, run in enumerate(runs):
        ctx.progress(done, len(runs), f"scoring {run.tag} without the hard negatives")
        ranked = rankings.ranked_of(run, ground.numbers)
        before = measure_run(measures, judged, without_pairs(ranked, hard.keys), ids)
        after = measure_run(measures, judged, ranked, ids)
        effects = [effect.as_json for effect in effects_of(measures, before, after)]
        lines.append({"run": run.pk, "tag": run.tag, "effects": effects})
    found = {name: value for name, value in hard._asdict().items() if name != "keys"}
    return {
        "found": {**found, "hard": len(hard.keys)},
        "knows_alike": signatures is not None,
        "runs": lines,
    }


def _texts(version: Version, judged: Judged, top: Top) -> dict[int, str]:
    """The digests of the texts that may be alike: of the baseline's first results, and of what is relevant."""
    positions = np.unique(np.concatenate([top.block, judged.block[judged.grade > 0]])).tolist()
    return {place: name.text_digest for place, name in names_at(version.snapshot, positions).items()}
