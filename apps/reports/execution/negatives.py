"""Score runs without the hard negatives of a version and with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from apps.evaluation.selectors import rankings
from apps.goldsets.models import Version
from apps.jobs.execution.context import JobContext
from apps.jobs.selectors.job_kinds import job_kind
from apps.metrics.columns import Judged
from apps.metrics.measures.registry import measure_run, parse_measures
from apps.reports.core.negative_effect import effects_of, find_hard, without_pairs
from apps.reports.core.negatives import alike_by
from apps.reports.core.unjudged_priority import Top
from apps.reports.execution.analyses import compute_report
from apps.reports.models import NegativesReport
from apps.reports.selectors import finders
from apps.reports.selectors.negatives import names_at
from apps.retrieval.execution.indexes import signatures_if_any
from apps.retrieval.models import Run


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
    top = finders.top_of(report.baseline, ground.numbers, report.depth)
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
