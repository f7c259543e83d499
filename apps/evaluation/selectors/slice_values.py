"""The values of all stored runs on the dev questions of a version: what slices are measured by."""

from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from apps.evaluation.core import packing
from apps.evaluation.models import Evaluation, Score
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.enums import Split
from apps.goldsets.models import Version, VersionQuery, VersionTriple
from apps.metrics.columns import Floats
from apps.metrics.comparison import is_lower_better
from apps.retrieval.models import Run

MOST_RUNS = 40
"""Runs beyond these, the oldest, are left out: the intervals of the page are drawn anew at each look."""


class StoredValues(NamedTuple):
    """`values` has a row for each question and a column for each run, newest run first; NaN where it has no value."""

    measure: str
    questions: list[str]
    runs: list[Run]
    values: Floats
    total: int

    @property
    def best(self) -> int:
        """The place of the best run among `runs`."""
        means = np.nanmean(self.values, axis=0)
        return int(np.argmin(means) if is_lower_better(self.measure) else np.argmax(means))


def full_scores(version: Version, hit: str) -> QuerySet[Score]:
    """The scores on all dev questions of the version, whether test was scored with them or not."""
    evaluations = Evaluation.objects.filter(version=version, hit=hit, scored_at__isnull=False)
    evaluations = evaluations.filter(split__in=["", Split.DEV])
    return Score.objects.filter(evaluation__in=evaluations).exclude(measure=JUDGED_NAME)


def measures_of_runs(version: Version, hit: str) -> list[str]:
    """The measures with a full score, those of most runs first."""
    runs: dict[str, set[int]] = {}
    for measure, run in full_scores(version, hit).order_by("order", "pk").values_list("measure", "evaluation__run_id"):
        runs.setdefault(measure, set()).add(run)
    return sorted(runs, key=lambda measure: -len(runs[measure]))


def stored_values(version: Version, measure: str, hit: str) -> StoredValues:
    """Each run by its latest full score of the measure."""
    rows = full_scores(version, hit).filter(measure=measure).order_by("evaluation_id")
    latest = dict(rows.values_list("evaluation__run_id", "pk"))
    kept = [latest[run] for run in sorted(latest, reverse=True)[:MOST_RUNS]]
    scores = Score.objects.filter(pk__in=kept).select_related("evaluation__run__system").order_by("-evaluation__run_id")
    columns = [
        (score.evaluation.run, dict(zip(score.evaluation.query_ids, packing.unpack(bytes(score.values)), strict=True)))
        for score in scores
    ]
    dev = _dev_items(version, hit)
    questions = sorted({name for _, column in columns for name in column if name in dev}, key=str.encode)
    table = [[column.get(name, np.nan) for _, column in columns] for name in questions]
    values = np.array(table, dtype=np.float64).reshape(len(questions), len(columns))
    return StoredValues(measure, questions, [run for run, _ in columns], values, len(latest))


def _dev_items(version: Version, hit: str) -> set[str]:
    """What the dev scores are of: the labels of triples by a hit rule, else the outside ids of queries."""
    rows = VersionTriple.objects if hit else VersionQuery.objects
    inside = rows.filter(version=version, split=Split.DEV)
    return set(inside.values_list("label" if hit else "outside_id", flat=True))
