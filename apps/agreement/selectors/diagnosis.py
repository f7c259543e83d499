"""What a label model says of the annotators of these rounds: a diagnosis for leads, and never a grade of anything."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.accounts.models import Project
from apps.agreement.selectors.grade_cache import kept, ratings_in
from apps.judging.models import Round
from apps.metrics.agreement import MISSING
from apps.metrics.agreement.label_model import AnnotatorDiagnosis, Diagnosis, Labels, diagnose
from apps.metrics.agreement.ratings import Ratings

MOST_GRADES = 20_000


class Diagnosed(NamedTuple):
    """One person: `right` of the `n` grades of theirs are what the model takes for true.

    `said` and `true` are the grades they mistake most often, the one said for the other; None where they mistake none.
    """

    person: int
    n: int
    right: float
    interval: tuple[float, float] | None
    said: int | None
    true: int | None


class Diagnoses(NamedTuple):
    """Everybody, those first whom the model trusts least; or the `reason` why there is none."""

    rows: list[Diagnosed]
    reason: str = ""
    is_converged: bool = True


def diagnoses_in(project: Project, rounds: Sequence[Round]) -> Diagnoses:
    """Fit Dawid and Skene's model to the pairs that two people or more graded."""
    found: Diagnoses = kept(project, rounds, "label model", lambda: _diagnoses(project, rounds))
    return found


def _diagnoses(project: Project, rounds: Sequence[Round]) -> Diagnoses:
    ratings = ratings_in(project, rounds)
    labels = _labels(ratings)
    if len(labels.item) > MOST_GRADES:
        many = f"{len(labels.item):,} grades are too many for this page; at most {MOST_GRADES:,} can be used."
        return Diagnoses([], f"{many} Choose one round, or use karat agree.")
    found: Diagnosis = diagnose(labels)
    if found.fit is None:
        return Diagnoses([], found.reason)
    rows = [_row(ratings, place, one) for place, one in enumerate(found.annotators) if one.n]
    return Diagnoses(sorted(rows, key=lambda row: (row.right, row.person)), "", found.fit.is_converged)


def _labels(ratings: Ratings) -> Labels:
    """One label a grade, of the pairs that two people or more graded."""
    codes = ratings.codes[(ratings.codes != MISSING).sum(axis=1) >= 2]
    item, annotator = np.nonzero(codes != MISSING)
    return Labels(item, annotator, codes[item, annotator], len(codes), len(ratings.people), len(ratings.grades))


def _row(ratings: Ratings, place: int, found: AnnotatorDiagnosis) -> Diagnosed:
    mistaken = found.confusion * found.met[:, None] * (1 - np.eye(len(found.met)))
    true, said = np.unravel_index(int(mistaken.argmax()), mistaken.shape)
    has_mistakes = bool(mistaken[true, said] >= 1)
    return Diagnosed(
        person=ratings.people[place],
        n=found.n,
        right=found.right,
        interval=found.interval,
        said=ratings.grades[said] if has_mistakes else None,
        true=ratings.grades[true] if has_mistakes else None,
    )
