"""The values of stored runs on the dev questions of a version: what slices are measured by and filled from."""

from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from django.db.models import Case, F, When

from apps.common.database.batched_reads import once
from apps.evaluation.core import packing
from apps.evaluation.core.basis import measured_words
from apps.evaluation.models import Evaluation, RegressionNote, Score
from apps.evaluation.selectors.rankings import JUDGED_NAME
from apps.goldsets.enums import Split
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import FoundQuestion, dev_queries, dev_triples
from apps.metrics.columns import Floats
from apps.metrics.comparison import is_lower_better
from apps.metrics.expected.rules import counts_questions
from apps.retrieval.models import Run

FIRST_RANK = "RR"
MOST_RUNS = 40
"""Runs beyond these, the oldest, are left out: the intervals of the page are drawn anew at each look."""
FEWEST_RUNS = 2


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


class DevScore(NamedTuple):
    """A score on all dev questions; `first_ranks` has the values of the reciprocal rank by question, else None."""

    pk: int
    hit: str
    measure: str
    order: int
    run_id: int
    first_ranks: dict[str, float] | None


def dev_scores(version: Version) -> list[DevScore]:
    """The scores on all dev questions of the version, whether test was scored with them or not, oldest first."""
    return once(("dev scores", version.pk), lambda: list(_dev_scores(version)))


def _dev_scores(version: Version) -> Iterator[DevScore]:
    evaluations = Evaluation.objects.filter(version=version, scored_at__isnull=False, split__in=["", Split.DEV])
    columns = ("pk", "evaluation__hit", "measure", "order", "evaluation__run_id")
    ids, values = (Case(When(measure=FIRST_RANK, then=F(name))) for name in ("evaluation__query_ids", "values"))
    rows = Score.objects.filter(evaluation__in=evaluations).exclude(measure=JUDGED_NAME)
    for pk, hit, name, order, run, items, packed in rows.order_by("evaluation_id").values_list(*columns, ids, values):
        ranks = None if packed is None else dict(zip(items, packing.unpack(bytes(packed)), strict=True))
        yield DevScore(pk, hit, name, order, run, ranks)


def measures_of_runs(version: Version, hit: str) -> list[str]:
    """The measures with a full score, those of most runs first."""
    runs: dict[str, set[int]] = {}
    for score in sorted(dev_scores(version), key=attrgetter("order", "pk")):
        if score.hit == hit:
            runs.setdefault(score.measure, set()).add(score.run_id)
    return sorted(runs, key=lambda measure: -len(runs[measure]))


def stored_values(version: Version, measure: str, hit: str) -> StoredValues:
    """Each run by its latest full score of the measure."""
    latest = {one.run_id: one.pk for one in dev_scores(version) if (one.hit, one.measure) == (hit, measure)}
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
    if counts_questions(hit):
        return {row.label for row in dev_triples(version)}
    return {row.outside_id for row in dev_queries(version)}


def fallen_in(version: Version) -> list[FoundQuestion]:
    """The questions whose drop was decided on in a comparison on any version of the gold set, the latest drop first."""
    notes = RegressionNote.objects.filter(candidate__version__gold_set=version.gold_set_id)
    rows = notes.order_by("-pk").values_list("query_id_text", "measure", "candidate__run__tag")
    found = once(("fallen", version.gold_set_id), lambda: list(rows))
    return [FoundQuestion(name, f"It fell in {measure} with {tag}.") for name, measure, tag in found]


def missed_in(version: Version) -> list[FoundQuestion]:
    """The questions for which no run found anything right, where two runs or more were scored alike.

    Queries without a relevant block are left out: there is nothing to find for them.
    """
    bare = {row.outside_id for row in dev_queries(version) if row.is_bare}
    by_run: defaultdict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for score in dev_scores(version):
        if score.first_ranks is not None:
            by_run[score.hit][score.run_id] = score.first_ranks
    found = [one for hit, runs in sorted(by_run.items()) if len(runs) >= FEWEST_RUNS for one in _missed(hit, runs)]
    return [one for one in found if one.name not in bare]


def _missed(hit: str, runs: dict[int, dict[str, float]]) -> list[FoundQuestion]:
    names = sorted({name for values in runs.values() for name in values}, key=str.encode)
    basis = "by Q&As" if counts_questions(hit) else measured_words(hit)
    why = f"None of {len(runs):,} runs found anything right, {basis}."
    return [FoundQuestion(name, why) for name in names if _found_nothing([runs[run].get(name) for run in runs])]


def _found_nothing(ranks: list[float | None]) -> bool:
    known = [rank for rank in ranks if rank is not None and not np.isnan(rank)]
    return len(known) >= FEWEST_RUNS and not any(known)
