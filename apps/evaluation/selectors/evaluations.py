"""Reads of evaluations, each scoped to a project."""

from collections.abc import Sequence

import numpy as np
from django.db.models import Count, Prefetch, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.evaluation.core import packing
from apps.evaluation.models import ClosedComparison, Evaluation, RegressionNote, Score
from apps.goldsets.models import Version
from apps.metrics.expected import BY_GRADES
from apps.retrieval.models import Run
from apps.retrieval.selectors import complete_runs_on


def evaluations_in(project: Project) -> QuerySet[Evaluation]:
    """The project's evaluations, newest first, with their scores but without values by query."""
    evaluations = Evaluation.objects.filter(project=project).select_related(
        "project", "run__system", "version__gold_set", "version__snapshot__corpus", "job", "requested_by"
    )
    scores = Score.objects.defer("values").order_by("order")
    return evaluations.prefetch_related(Prefetch("scores", queryset=scores)).order_by("-pk")


def evaluation_in(project: Project, pk: int) -> Evaluation:
    evaluation = evaluations_in(project).filter(pk=pk).first()
    if evaluation is None:
        raise Http404("No such evaluation.")
    return evaluation


def evaluations_on(version: Version, split: str, hit: str = BY_GRADES) -> QuerySet[Evaluation]:
    """All evaluations of one split of a version by grades or a hit rule, scored or not, newest first.

    Without the ids of their queries.
    """
    evaluations = evaluations_in(version.gold_set.project).filter(version=version, split=split, hit=hit)
    return evaluations.defer("query_ids")


def other_evaluations(evaluation: Evaluation) -> list[Evaluation]:
    """The run's evaluations on other versions, splits and by other rules, the newest version first.

    Each by its latest scores.
    """
    rows = Evaluation.objects.filter(run=evaluation.run_id).exclude(scored_at=None)
    rows = rows.select_related("version__gold_set").defer("query_ids", "counts")
    own_key = (evaluation.version_id, evaluation.split, evaluation.hit)
    latest = {(row.version_id, row.split, row.hit): row for row in rows.order_by("pk")}
    others = [row for place, row in latest.items() if place != own_key]
    return sorted(others, key=lambda row: (-row.version_id, row.split, row.hit))


def splits_scored(version: Version, hit: str = BY_GRADES) -> dict[str, int]:
    """The number of evaluations on each split of the version, by grades or by a hit rule."""
    rows = Evaluation.objects.filter(version=version, hit=hit).values_list("split")
    return dict(rows.annotate(n=Count("pk")).order_by("split"))


def hits_scored(version: Version) -> list[str]:
    """The hit rules by which runs were scored on the version, sorted; "" where some were by grades."""
    return sorted(set(Evaluation.objects.filter(version=version).values_list("hit", flat=True)))


def values_of(evaluation: Evaluation) -> dict[str, NDArray[np.float64]]:
    """Each measure's values by query, in the order of `evaluation.query_ids`."""
    rows = Score.objects.filter(evaluation=evaluation).order_by("order").values_list("measure", "values")
    return {measure: packing.unpack(bytes(packed)) for measure, packed in rows}


def ranks_by_label(evaluations: Sequence[Evaluation], label: str) -> dict[int, int]:
    """The rank of the first hit of one triple in each evaluation by triples that has it, from 1; 0 for none."""
    rows = Score.objects.filter(evaluation__in=evaluations, measure="RR").values_list("evaluation", "values")
    values = {pk: packing.unpack(bytes(packed)) for pk, packed in rows}
    ranks = {}
    for one in evaluations:
        if one.pk in values and label in one.query_ids:
            value = values[one.pk][one.query_ids.index(label)]
            ranks[one.pk] = round(1 / value) if value else 0
    return ranks


def scorable_runs(version: Version) -> list[Run]:
    """Complete runs on the version's snapshot."""
    return list(complete_runs_on(version.snapshot))


def notes_on(baseline: Evaluation, candidate: Evaluation, measure: str) -> dict[str, RegressionNote]:
    """Decisions on drops between two evaluations, by outside id of the query."""
    notes = RegressionNote.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return {note.query_id_text: note for note in notes.select_related("decided_by", "pool")}


def closed(baseline: Evaluation, candidate: Evaluation, measure: str) -> ClosedComparison | None:
    """The record of the closing of this comparison by the measure, if any."""
    records = ClosedComparison.objects.filter(baseline=baseline, candidate=candidate, measure=measure)
    return records.select_related("closed_by").first()


def requested_runs(version: Version, split: str, hit: str = BY_GRADES) -> set[int]:
    """Keys of the runs with an evaluation on one split of the version by this rule, scored or not."""
    return set(Evaluation.objects.filter(version=version, split=split, hit=hit).values_list("run", flat=True))
