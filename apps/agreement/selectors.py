"""Reads of agreement: what annotators and reviewers said, and how far they said the same.

A reviewer's answer counts from the moment both answers of the round are in, never before: no figure here moves
because one reviewer answered. Grades of a round that is still open are not added up for annotators: who may still
change a grade could read the others' from how the figures move.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.agreement import rates
from apps.agreement.coefficients import Coefficient, fleiss_kappa
from apps.agreement.rates import SideRates
from apps.agreement.ratings import PairAgreement, Rate, Ratings, alpha_of, pairs_of, ratings_from
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Judgement, Round, RoundAnnotator
from apps.review import tracking
from apps.review.tracking import Side


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
    questions: list["QuestionAgreement"]


@dataclass(frozen=True)
class QuestionAgreement:
    """How far two reviewers answered one of the three questions alike: is the question, the block, the answer right?"""

    aspect: str
    alike: Rate
    kappa: Coefficient
    no_by_both: int
    no_by_one: int


def live_grades(project: Project, rounds: Iterable[Round] | None = None) -> QuerySet[Judgement]:
    """Grades that stand, oldest first: for the first time, not superseded, by the people of a round.

    Ratings that came in with their raters count; judgements that came in with nobody's name do not.
    """
    found = Judgement.objects.filter(
        _has_people("round__"),
        round__project=project,
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


def _has_people(prefix: str = "") -> Q:
    """Rounds whose grades are by different people: judged here, or taken in with several raters."""
    several = Q(**{f"{prefix}kind": RoundKind.IMPORTED, f"{prefix}judges__gt": 1})
    return Q(**{f"{prefix}kind": RoundKind.JUDGING}) | several


def grade_agreement(project: Project, rounds: Iterable[Round] | None = None) -> GradeAgreement:
    ratings = ratings_in(project, rounds)
    return GradeAgreement(ratings=ratings, overall=alpha_of(ratings), pairs=pairs_of(ratings))


def verdict_agreement(project: Project) -> VerdictAgreement:
    met = rates.kept(project, "meetings", lambda: tracking.meetings(project))
    table = tracking.flag_table(met)
    return VerdictAgreement(
        kappa=fleiss_kappa(_pairs(table)),
        alike=Rate(table[0] + table[2], table.total()),
        questions=questions_of(met),
        received=_rates(rates.side_rates(project, Side.AUTHOR)),
        given=_rates(rates.side_rates(project, Side.REVIEWER)),
    )


def questions_of(met: Iterable[tracking.Meeting]) -> list[QuestionAgreement]:
    """How far two reviewers answered each of the three questions alike, over these rounds."""
    return [_question(aspect, found) for aspect, found in tracking.aspect_tables(met).items()]


def _question(aspect: str, table: Counter[int]) -> QuestionAgreement:
    return QuestionAgreement(
        aspect=aspect,
        alike=Rate(table[0] + table[2], table.total()),
        kappa=fleiss_kappa(_pairs(table)),
        no_by_both=table[2],
        no_by_one=table[1],
    )


def _pairs(table: Counter[int]) -> NDArray[np.int64]:
    """Items by categories, from how many rounds had 0, 1 or 2 reviewers saying no."""
    patterns = np.array([[2, 0], [1, 1], [0, 2]], dtype=np.int64)
    return np.repeat(patterns, [table[no] for no in (0, 1, 2)], axis=0)


def _rates(found: SideRates) -> list[PersonRate]:
    """Flags by person, most answers first, people's and machine-written triples together."""
    rows = [PersonRate(row.person, Rate(row.people.hits + row.machine.hits, row.n)) for row in found.people]
    return sorted(rows, key=lambda row: (-row.rate.n, row.person))


def rounds_for(member: Member) -> QuerySet[Round]:
    """The rounds whose grades this member may see added up.

    For annotators those that are closed; for everybody else also open ones, unless they were asked to grade there:
    a lead who grades sees of that round no more than the other annotators do.
    """
    found = Round.objects.filter(_has_people(), project=member.project).order_by("number")
    is_closed = Q(state=RoundState.CLOSED)
    if is_bound(member):
        return found.filter(is_closed)
    asked = RoundAnnotator.objects.filter(annotator=member.user).values("round")
    return found.filter(is_closed | ~Q(pk__in=asked))


def is_bound(member: Member) -> bool:
    """Whether this member may still grade in rounds that are open, and is not their lead."""
    return member.holds(Role.ANNOTATOR) and not member.is_lead


def is_kept_from_rounds(member: Member) -> bool:
    """Whether rounds are left out for this member because they may still grade there."""
    every = Round.objects.filter(_has_people(), project=member.project)
    return every.exclude(pk__in=rounds_for(member).values("pk")).exists()


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
