"""Reads of agreement: what annotators and reviewers said, and how far they said the same.

A reviewer's answer counts from the moment both answers of the round are in, never before: no figure here moves
because one reviewer answered. Grades of a round that is still open are not added up for annotators: who may still
change a grade could read the others' from how the figures move.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import QuerySet
from django.http import Http404

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement.coefficients import Coefficient, fleiss_kappa
from apps.agreement.ratings import PairAgreement, Rate, Ratings, alpha_of, pairs_of, ratings_from
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Judgement, Round
from apps.review.enums import Choice
from apps.review.models import Verdict

VERDICTS_OF_A_ROUND = 2
FIRST_ROUND = 1


@dataclass(frozen=True)
class GradeAgreement:
    """How far annotators agree: over everybody, and for each two people who share a pair."""

    ratings: Ratings
    overall: Coefficient
    pairs: list[PairAgreement]


class PersonRate(NamedTuple):
    person: int
    rate: Rate


@dataclass(frozen=True)
class VerdictAgreement:
    """How far reviewers agree over revisions that two of them answered, and who flagged whom how often.

    `received` counts, for each author, the flags among all answers to first-round revisions; `given`, for each
    reviewer, the flags among all answers.
    """

    kappa: Coefficient
    alike: Rate
    received: list[PersonRate]
    given: list[PersonRate]


class VerdictRow(NamedTuple):
    revision: int
    round: int
    author: int
    reviewer: int
    choice: str


def live_grades(project: Project, rounds: Iterable[Round] | None = None) -> QuerySet[Judgement]:
    """Grades that stand, oldest first: given by people in a round of their own, for the first time, not superseded."""
    found = Judgement.objects.filter(
        round__project=project,
        round__kind=RoundKind.JUDGING,
        superseded_by=None,
        pass_number=1,
        grade__isnull=False,
    )
    if rounds is not None:
        found = found.filter(round__in=rounds)
    return found.order_by("given_at", "pk")


def ratings_in(project: Project, rounds: Iterable[Round] | None = None) -> Ratings:
    rows = live_grades(project, rounds).values_list("entry__query_id", "entry__version_id", "annotator_id", "grade")
    return ratings_from(rows.iterator(chunk_size=10_000), project.grades)


def grade_agreement(project: Project, rounds: Iterable[Round] | None = None) -> GradeAgreement:
    ratings = ratings_in(project, rounds)
    return GradeAgreement(ratings=ratings, overall=alpha_of(ratings), pairs=pairs_of(ratings))


def answered_rounds(project: Project) -> list[list[VerdictRow]]:
    """The verdicts that stand, by revision; revisions without both answers are left out."""
    rows = (
        Verdict.objects.filter(revision__triple__project=project, superseded_by=None)
        .order_by("revision_id", "pk")
        .values_list("revision_id", "revision__round", "revision__author_id", "reviewer_id", "choice")
    )
    by_revision: defaultdict[int, list[VerdictRow]] = defaultdict(list)
    for row in rows.iterator(chunk_size=10_000):
        by_revision[row[0]].append(VerdictRow(*row))
    return [answers for answers in by_revision.values() if len(answers) >= VERDICTS_OF_A_ROUND]


def verdict_agreement(project: Project) -> VerdictAgreement:
    answered = answered_rounds(project)
    flags = np.array([sum(v.choice == Choice.FLAG for v in answers) for answers in answered], dtype=np.int64)
    totals = np.array([len(answers) for answers in answered], dtype=np.int64)
    counts = np.stack([totals - flags, flags], axis=1)
    alike = int(np.count_nonzero((flags == 0) | (flags == totals)))
    verdicts = [verdict for answers in answered for verdict in answers]
    return VerdictAgreement(
        kappa=fleiss_kappa(counts),
        alike=Rate(alike, len(answered)),
        received=_rates((v.author, v.choice) for v in verdicts if v.round == FIRST_ROUND),
        given=_rates((v.reviewer, v.choice) for v in verdicts),
    )


def _rates(answers: Iterable[tuple[int, str]]) -> list[PersonRate]:
    """Flags by person, most answers first."""
    flags: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    for person, choice in answers:
        totals[person] += 1
        flags[person] += choice == Choice.FLAG
    return [
        PersonRate(person, Rate(flags[person], n))
        for person, n in sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    ]


def round_for(member: Member, pk: int) -> Round:
    found = rounds_for(member).filter(pk=pk).first()
    if found is None:
        raise Http404("No such round.")
    return found


def rounds_for(member: Member) -> QuerySet[Round]:
    """The rounds whose grades this member may see added up: for annotators only those that are closed."""
    found = Round.objects.filter(project=member.project, kind=RoundKind.JUDGING).order_by("number")
    return found.filter(state=RoundState.CLOSED) if is_bound(member) else found


def is_bound(member: Member) -> bool:
    """Whether this member may still grade in rounds that are open, and is not their lead."""
    return member.holds(Role.ANNOTATOR) and not member.is_lead


def names_for(member: Member, people: Iterable[int]) -> dict[int, str]:
    """What this member may call people: leads use names; others know themselves, and the rest by letters.

    Letters follow the order in which people joined, so that they stay the same from visit to visit.
    """
    ids = sorted(set(people))
    if member.is_lead:
        return dict(User.objects.filter(pk__in=ids).values_list("pk", "name"))
    others = [pk for pk in ids if pk != member.user.pk]
    named = {pk: f"Person {_letters(place)}" for place, pk in enumerate(others)}
    return {**named, member.user.pk: "You"}


def _letters(place: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    word = ""
    while place >= 0:
        place, rest = divmod(place, 26)
        word = chr(ord("A") + rest) + word
        place -= 1
    return word


def summary(project: Project) -> list[Coefficient]:
    """The figures of the whole project for its home page: alpha over all grades, kappa over all verdicts."""
    return [alpha_of(ratings_in(project)), verdict_agreement(project).kappa]


def as_facts(coefficient: Coefficient) -> dict[str, Any]:
    """A coefficient as plain values, for manifests and the API."""
    facts: dict[str, Any] = {"name": coefficient.name, "value": coefficient.value, "n": coefficient.n}
    if coefficient.value is None:
        return {**facts, "reason": coefficient.reason}
    return {**facts, "ci": list(coefficient.interval) if coefficient.interval else None, "method": coefficient.method}
