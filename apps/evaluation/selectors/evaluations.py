"""Reads of evaluations, each scoped to a project."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from django.db.models import Count, Prefetch, QuerySet
from django.http import Http404
from numpy.typing import NDArray

from apps.accounts.models import Project
from apps.evaluation.core import packing
from apps.evaluation.models import ClosedComparison, Evaluation, RegressionNote, Score
from apps.goldsets.models import Slice, Version
from apps.goldsets.selectors.slices import items_in, slice_named
from apps.metrics.expected import BY_GRADES
from apps.retrieval.models import Run
from apps.retrieval.selectors import complete_runs_on


class SlicePart(NamedTuple):
    """A slice as it was when it had `size` questions."""

    slice: Slice
    size: int

    @property
    def words(self) -> str:
        """ "canary slice, 16 questions"."""
        questions = "1 question" if self.size == 1 else f"{self.size:,} questions"
        return f"{self.slice.words[0].lower()}{self.slice.words[1:]} slice, {questions}"


def part_named(version: Version, name: str) -> SlicePart | None:
    """A slice of the version as it is now, by its kind or its quarter."""
    found = slice_named(version, name)
    return SlicePart(found, found.questions) if found else None


def part_of(evaluation: Evaluation) -> SlicePart | None:
    """The slice that an evaluation is on; None for one on a whole split."""
    if evaluation.slice is None or evaluation.slice_size is None:
        return None
    return SlicePart(evaluation.slice, evaluation.slice_size)


def names_of(evaluation: Evaluation) -> set[str] | None:
    """What an evaluation on a slice is of: outside ids, or labels of triples; None for one on a whole split."""
    part = part_of(evaluation)
    return items_in(part.slice, part.size, by_triples=bool(evaluation.hit)) if part else None


def evaluations_in(project: Project) -> QuerySet[Evaluation]:
    """The project's evaluations on whole splits, newest first, with their scores but without values by query."""
    return _related(Evaluation.objects.filter(project=project))


def _related(evaluations: QuerySet[Evaluation]) -> QuerySet[Evaluation]:
    evaluations = evaluations.select_related(
        "project", "run__system", "version__gold_set", "version__snapshot__corpus", "slice", "job", "requested_by"
    )
    scores = Score.objects.defer("values").order_by("order")
    return evaluations.prefetch_related(Prefetch("scores", queryset=scores)).order_by("-pk")


def on_ground(
    version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None
) -> QuerySet[Evaluation]:
    """The evaluations that can be compared with each other: of one split, by one rule, on one slice or on all."""
    slice_, size = part or (None, None)
    return Evaluation.everything.filter(version=version, split=split, hit=hit, slice=slice_, slice_size=size)


def every_evaluation_in(project: Project) -> QuerySet[Evaluation]:
    """As `evaluations_in`, with those on slices."""
    return _related(Evaluation.everything.filter(project=project))


def evaluation_in(project: Project, pk: int) -> Evaluation:
    """An evaluation of the project, on a slice or not. Raises Http404."""
    evaluation = every_evaluation_in(project).filter(pk=pk).first()
    if evaluation is None:
        raise Http404("No such evaluation.")
    return evaluation


def evaluations_on(
    version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None
) -> QuerySet[Evaluation]:
    """All evaluations of one split or slice of a version by grades or a hit rule, scored or not, newest first.

    Without the ids of their queries.
    """
    return _related(on_ground(version, split, hit, part)).defer("query_ids")


def evaluations_of(version: Version) -> QuerySet[Evaluation]:
    """All evaluations of whole splits of a version, as `evaluations_on` has those of one split."""
    return _related(Evaluation.objects.filter(version=version)).defer("query_ids")


def other_evaluations(evaluation: Evaluation) -> list[Evaluation]:
    """The run's evaluations on other versions, splits and by other rules, the newest version first.

    Each by its latest scores.
    """
    rows = Evaluation.everything.filter(run=evaluation.run_id).exclude(scored_at=None)
    rows = rows.select_related("version__gold_set", "slice").defer("query_ids", "counts")
    own_key = _place(evaluation)
    latest = {_place(row): row for row in rows.order_by("pk")}
    others = [row for place, row in latest.items() if place != own_key]
    return sorted(others, key=lambda row: (-row.version_id, row.split, row.hit, row.slice_id or 0))


def _place(evaluation: Evaluation) -> tuple[int, str, str, int | None]:
    return evaluation.version_id, evaluation.split, evaluation.hit, evaluation.slice_id


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


def requested_runs(version: Version, split: str, hit: str = BY_GRADES, part: SlicePart | None = None) -> set[int]:
    """Keys of the runs with an evaluation on one split or slice of the version by this rule, scored or not."""
    return set(on_ground(version, split, hit, part).values_list("run", flat=True))
