"""The label model's diagnosis of the annotators of these rounds: for leads, and never used as a grade."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.accounts.models import Project
from apps.agreement.selectors.grade_cache import cached, ratings_in
from apps.judging.models import Round
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.label_model import AnnotatorDiagnosis, Diagnosis, Labels, diagnose
from apps.metrics.agreement.ratings import Ratings

MOST_GRADES = 20_000


class Diagnosed(NamedTuple):
    """One person: `right` of their `n` grades are what the model estimates as true.

    `given_grade` and `true` are the two grades they confuse most often, the given and the estimated one; None without
    a confusion.
    """

    person: int
    n: int
    right: float
    interval: tuple[float, float] | None
    given_grade: int | None
    true: int | None


class Diagnoses(NamedTuple):
    """Everybody, least reliable by the model first; or the `reason` why there is none."""

    rows: list[Diagnosed]
    reason: str = ""
    is_converged: bool = True


def diagnoses_in(project: Project, rounds: Sequence[Round]) -> Diagnoses:
    """Fit Dawid and Skene's model to the pairs that two people or more graded."""
    diagnoses: Diagnoses = cached(project, rounds, "label model", lambda: _diagnoses(project, rounds))
    return diagnoses


def _diagnoses(project: Project, rounds: Sequence[Round]) -> Diagnoses:
    ratings = ratings_in(project, rounds)
    labels = _labels(ratings)
    if len(labels.item) > MOST_GRADES:
        many = f"{len(labels.item):,} grades are too many for this page; at most {MOST_GRADES:,} can be used."
        return Diagnoses([], f"{many} Choose one round, or use karat agree.")
    diagnosis: Diagnosis = diagnose(labels)
    if diagnosis.fit is None:
        return Diagnoses([], diagnosis.reason)
    rows = [_row(ratings, place, one) for place, one in enumerate(diagnosis.annotators) if one.n]
    return Diagnoses(sorted(rows, key=lambda row: (row.right, row.person)), "", diagnosis.fit.is_converged)


def _labels(ratings: Ratings) -> Labels:
    """One label per grade, of the pairs that two people or more graded."""
    codes = ratings.codes[(ratings.codes != MISSING).sum(axis=1) >= 2]
    item, annotator = np.nonzero(codes != MISSING)
    return Labels(item, annotator, codes[item, annotator], len(codes), len(ratings.people), len(ratings.grades))


def _row(ratings: Ratings, place: int, annotator: AnnotatorDiagnosis) -> Diagnosed:
    mistaken = annotator.confusion * annotator.met[:, None] * (1 - np.eye(len(annotator.met)))
    true, given = np.unravel_index(int(mistaken.argmax()), mistaken.shape)
    has_mistakes = bool(mistaken[true, given] >= 1)
    return Diagnosed(
        person=ratings.people[place],
        n=annotator.n,
        right=annotator.right,
        interval=annotator.interval,
        given_grade=ratings.grades[given] if has_mistakes else None,
        true=ratings.grades[true] if has_mistakes else None,
    )
