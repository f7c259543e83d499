"""What scores tell about questions that a slice should have: those that every run missed, and those that once fell."""

from collections import defaultdict

import numpy as np

from apps.evaluation.core import packing
from apps.evaluation.models import Evaluation, RegressionNote, Score
from apps.evaluation.selectors.rankings import without_relevant
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery
from apps.goldsets.selectors.slices import FoundQuestion
from apps.metrics.expected import BY_GRADES

FIRST_RANK = "RR"
FEWEST_RUNS = 2


def fallen_in(version: Version) -> list[FoundQuestion]:
    """The questions whose drop was decided on in a comparison on any version of the gold set, the latest drop first."""
    notes = RegressionNote.objects.filter(candidate__version__gold_set=version.gold_set_id)
    rows = notes.order_by("-pk").values_list("query_id_text", "measure", "candidate__run__tag")
    return [FoundQuestion(name, f"It fell in {measure} with {tag}.") for name, measure, tag in rows]


def missed_in(version: Version) -> list[FoundQuestion]:
    """The questions for which no run found anything right, where two runs or more were scored alike.

    Queries without a relevant block are left out: there is nothing to find for them.
    """
    evaluations = Evaluation.objects.filter(version=version, scored_at__isnull=False, split__in=["", Split.DEV])
    scores = Score.objects.filter(evaluation__in=evaluations, measure=FIRST_RANK).order_by("evaluation_id")
    columns = scores.values_list("evaluation__hit", "evaluation__run_id", "evaluation__query_ids", "values")
    bare = {row.outside_id for row in VersionQuery.objects.filter(pk__in=without_relevant(version))}
    by_run: defaultdict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for hit, run, ids, packed in columns:
        by_run[hit][run] = dict(zip(ids, packing.unpack(bytes(packed)), strict=True))
    found = [one for hit, runs in sorted(by_run.items()) if len(runs) >= FEWEST_RUNS for one in _missed(hit, runs)]
    return [one for one in found if one.name not in bare]


def _missed(hit: str, runs: dict[int, dict[str, float]]) -> list[FoundQuestion]:
    names = sorted({name for values in runs.values() for name in values}, key=str.encode)
    basis = "Q&As" if hit != BY_GRADES else "grades"
    why = f"None of {len(runs):,} runs found anything right, by {basis}."
    return [FoundQuestion(name, why) for name in names if _found_nothing([runs[run].get(name) for run in runs])]


def _found_nothing(ranks: list[float | None]) -> bool:
    known = [rank for rank in ranks if rank is not None and not np.isnan(rank)]
    return len(known) >= FEWEST_RUNS and not any(known)
