"""Reads of one person's grades compared with others', with decisions and with their own second grades, and by week.

For leads, and for the person. Only rounds that `selectors.rounds_for` lets the reader see are compared; times include
open rounds, since they reveal no grade.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from apps.accounts.models import Membership, Project
from apps.accounts.selectors import Member
from apps.agreement.core.weeks import AnnotatorWeek, lean_of, leans, monday_of, weeks_of
from apps.agreement.selectors import agreement
from apps.agreement.selectors.agreement import QuestionAgreement
from apps.agreement.selectors.differing_pairs import assignable_entries
from apps.agreement.selectors.grade_cache import cached, dated_in, ratings_in
from apps.common.database.functions import Day
from apps.judging.enums import DecidedBy, RoundKind
from apps.judging.models import Adjudication, Judgement, Round
from apps.judging.selectors.board import same_answers
from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts
from apps.metrics.agreement.label_model import AnnotatorDiagnosis, Diagnosis, Labels, diagnose
from apps.metrics.agreement.ratings import (
    PairAgreement,
    Rate,
    Ratings,
    agreement_of,
    alphas_of,
    pairs_of,
    pairs_sharing,
)
from apps.metrics.agreement.results import Coefficient
from apps.metrics.estimate import Estimate
from apps.review.models import Verdict
from apps.review.selectors import tracking

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


OTHERS = 20
WEEKS = 26
PEOPLE = 100

Rows = list[tuple[int, int, int, int]]
"""Person, the grade they gave, the one it is compared with, and the query."""


class PersonLine(NamedTuple):
    """One person in the list: pairs graded and shared, their lean, and the share of their grades confirmed."""

    person: int
    graded: int
    shared: int
    lean: Estimate
    repeats: Rate
    decisions: Rate


class Closeness(NamedTuple):
    """How many grades higher than others a person grades, and ordinal α over the pairs they share with anybody."""

    lean: Estimate
    alpha: Coefficient


class ComparisonWithOthers(NamedTuple):
    """A person's grades compared with others'. `others` are those they share most pairs with, of `other_count`.

    `alphas` is ordinal α with each of them, in their order.
    """

    graded: int
    others: list[PairAgreement]
    alphas: list[Coefficient]
    other_count: int
    weeks: list[AnnotatorWeek]


class PersonSheet(NamedTuple):
    """All figures of one person."""

    comparison: ComparisonWithOthers
    decisions: PairAgreement
    repeats: PairAgreement
    questions: list[QuestionAgreement]


class People(NamedTuple):
    """Those who graded most, and how many there are."""

    lines: list[PersonLine]
    total: int


def people_of(member: Member, rounds: Sequence[Round]) -> People:
    """Whoever graded in these rounds, most pairs first; members who are no leads see themselves alone."""
    ratings = ratings_in(member.project, rounds)
    repeats, decisions = (
        same_answers((person, own, other) for person, own, other, _ in rows)
        for rows in (_repeats(rounds), _decisions(member, rounds))
    )
    own_leans = leans(ratings)
    is_graded = ratings.codes != MISSING
    is_shared = is_graded & (is_graded.sum(axis=1, keepdims=True) >= 2)
    graded, shared = is_graded.sum(axis=0), is_shared.sum(axis=0)
    order = np.lexsort((ratings.people, -graded)).tolist()
    places = [place for place in order if member.is_lead or ratings.people[place] == member.user.pk]
    lines = [
        PersonLine(
            person=(person := ratings.people[place]),
            graded=int(graded[place]),
            shared=int(shared[place]),
            lean=lean_of(own_leans[:, place]),
            repeats=repeats.get(person, Rate(0, 0)),
            decisions=decisions.get(person, Rate(0, 0)),
        )
        for place in places[:PEOPLE]
    ]
    return People(lines, len(places))


def closeness_of(project: Project, rounds: Sequence[Round], people: Sequence[int]) -> dict[int, Closeness]:
    """How close each of these people grades to the others, in these rounds. Raises GradesNotRead."""
    name = f"closeness of {sorted(people)}"
    found: dict[int, Closeness] = cached(project, rounds, name, lambda: _closeness(project, rounds, people))
    return found


def _closeness(project: Project, rounds: Sequence[Round], people: Sequence[int]) -> dict[int, Closeness]:
    ratings = ratings_in(project, rounds)
    differences = leans(ratings)
    found = {}
    for person in set(people).intersection(ratings.people):
        place = ratings.people.index(person)
        own = np.isfinite(differences[:, place])
        counts = category_counts(ratings.codes[own], len(ratings.grades))
        alpha = krippendorff_alpha(counts, level="ordinal", values=ratings.grades, clusters=ratings.clusters[own])
        found[person] = Closeness(lean_of(differences[:, place]), alpha)
    return found


def sheet_of(member: Member, rounds: Sequence[Round], person: int) -> PersonSheet:
    """What the reader may see of this person."""
    project = member.project
    meetings = tracking.meetings(project, reviewer=person)
    return PersonSheet(
        comparison=cached(project, rounds, f"beside {person}", lambda: _compared_with_others(project, rounds, person)),
        decisions=agreement_of(_graded_pairs(_decisions(member, rounds, person)), project.grades, person),
        repeats=agreement_of(_graded_pairs(_repeats(rounds, person)), project.grades, person),
        questions=agreement.questions_of(meetings) if meetings else [],
    )


def _compared_with_others(project: Project, rounds: Sequence[Round], person: int) -> ComparisonWithOthers:
    dated = dated_in(project, rounds)
    ratings = dated.ratings
    pairs = [pair for pair in pairs_sharing(ratings) if person in pair]
    who = [(person, first if second == person else second) for first, second in pairs]
    others = pairs_of(ratings, who[:OTHERS])
    weeks = weeks_of(dated, person, _paces(project, person), WEEKS)
    return ComparisonWithOthers(_graded_by(ratings, person), others, alphas_of(ratings, others), len(who), weeks)


def _graded_by(ratings: Ratings, person: int) -> int:
    if person not in ratings.people:
        return 0
    return int((ratings.codes[:, ratings.people.index(person)] != MISSING).sum())


def _graded_pairs(rows: Rows) -> list[tuple[int, int, int]]:
    return [(query, own, other) for _, own, other, query in rows]


def has_part(project: Project, person: int) -> bool:
    """Whether this person graded or reviewed in the project, or holds a role in it."""
    return (
        Judgement.objects.filter(round__project=project, annotator=person).exists()
        or Membership.objects.live().filter(project=project, user=person).exists()
        or Verdict.objects.filter(revision__triple__project=project, reviewer=person).exists()
    )


# Rows --------------------------------------------------------------------------------------------------------------


def _graded(rounds: Sequence[Round], person: int | None = None) -> QuerySet[Judgement]:
    """Grades in force in these rounds, of every pass: by everybody, or by one person."""
    grades = Judgement.objects.filter(round__in=rounds, superseded_by=None, grade__isnull=False)
    return grades if person is None else grades.filter(annotator=person)


def _repeats(rounds: Sequence[Round], person: int | None = None) -> Rows:
    """Pairs that the same person judged blindly a second time: the first grade and the second."""
    repeats = _graded(rounds, person).filter(pass_number__gt=1)
    originals: Any = (
        _graded(rounds, person)
        .filter(pass_number=1, entry__in=repeats.values("entry"))
        .values_list("round", "entry", "annotator", "grade")
    )
    first = {original[:3]: original[3] for original in originals}
    rows: Any = repeats.order_by("pk").values_list("round", "entry", "annotator", "grade", "entry__query")
    return [(row[2], first[row[:3]], row[3], row[4]) for row in rows if row[:3] in first]


def _decisions(member: Member, rounds: Sequence[Round], person: int | None = None) -> Rows:
    """Grades with the decision in force on their pair. A decision that the pair can't be judged is no grade.

    Only decisions of leads who had no part in the pair: the others are in part the judges' own. Those on pairs that the
    reader may still be assigned are left out: they would reveal the grade.
    """
    decided = Adjudication.objects.filter(
        round__in=rounds, superseded_by=None, grade__isnull=False, decided_by=DecidedBy.LEAD
    )
    visible = decided.filter(~_may_be_assigned(member))
    decisions: Any = visible.values_list("round", "entry", "grade")
    grades = {row[:2]: row[2] for row in decisions}
    rows: Any = (
        _graded(rounds, person)
        .filter(pass_number=1, entry__in=decided.values("entry"))
        .order_by("pk")
        .values_list("round", "entry", "annotator", "grade", "entry__query")
    )
    return [(row[2], row[3], grades[row[:2]], row[4]) for row in rows if row[:2] in grades]


def _may_be_assigned(member: Member) -> Q:
    same = assignable_entries(member).filter(
        query=OuterRef("entry__query"),
        version__block=OuterRef("entry__version__block"),
        version__text_digest=OuterRef("entry__version__text_digest"),
    )
    return Q(Exists(same))


def _paces(project: Project, person: int) -> dict[date, NDArray[np.int64]]:
    """The active milliseconds of every timed pair of this person, by the Monday of the week."""
    rows: Any = Judgement.objects.filter(
        annotator=person,
        round__project=project,
        round__kind=RoundKind.JUDGING,
        superseded_by=None,
        pass_number=1,
        active_ms__isnull=False,
    )
    by_day: dict[str, list[int]] = defaultdict(list)
    for day, ms in rows.values_list(Day("given_at"), "active_ms").iterator(chunk_size=10_000):
        by_day[day].append(ms)
    weeks: dict[date, list[int]] = defaultdict(list)
    for day, values in by_day.items():
        weeks[monday_of(date.fromisoformat(day))] += values
    return {week: np.array(values, dtype=np.int64) for week, values in weeks.items()}
