"""Reads of agreement between annotators and between reviewers, and who may see them.

A verdict counts once both verdicts of the round are in, never before: no figure here changes because one reviewer
answered. Grades of an open round are counted for leads alone (`grades_refusal`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Exists, OuterRef, Q, QuerySet
from numpy.typing import NDArray

from apps.accounts.enums import Role
from apps.accounts.models import PLACEHOLDER_DOMAIN, Membership, Project, User
from apps.accounts.selectors import Member
from apps.agreement.core.drift import DriftCheck
from apps.agreement.core.weeks import monday_of
from apps.calibration.selectors import rates
from apps.calibration.selectors.rates import SideRates
from apps.common.database.batched_reads import once
from apps.common.database.functions import Day
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Judgement, Round, RoundAnnotator
from apps.judging.selectors.progress import known_rounds
from apps.metrics.agreement.multi_rater import fleiss_kappa
from apps.metrics.agreement.ratings import PairAgreement, Rate, Ratings, alpha_of, pairs_of, ratings_from
from apps.metrics.agreement.results import Coefficient
from apps.queries.models import Query
from apps.review.enums import RateSide
from apps.review.selectors import tracking

Pair = tuple[int, TextKey]
"""A query and a text: unchanged from one snapshot to the next, it is the same item in both."""


def repeats_since(rounds: Sequence[Round], since: date) -> list[DriftCheck]:
    """Pairs of these rounds judged a second time since this day; superseded and "can't judge" answers do not count."""
    live = Judgement.objects.filter(round__in=rounds, superseded_by=None, grade__isnull=False)
    again = live.filter(pass_number__gt=1, given_at__gte=datetime.combine(since, time(), UTC))
    rows: Any = again.order_by("pk").values_list("round", "entry", "annotator", "grade", Day("given_at"))
    looks: Any = live.filter(pass_number=1, entry__in=again.values("entry"))
    first = {look[:3]: look[3] for look in looks.values_list("round", "entry", "annotator", "grade")}
    return [
        DriftCheck(monday_of(date.fromisoformat(day)), first[round_, entry, person], grade)
        for round_, entry, person, grade, day in rows
        if (round_, entry, person) in first
    ]


def grades_refusal(*, is_closed: bool, is_lead: bool, is_asked: bool) -> str | None:
    """Why a member may not see figures of the grades of a round, or None.

    Grades of an open round may still change, and its judges could infer others' grades from how the figures move. So
    until it is closed only leads see them, and no lead who judges in it.
    """
    if is_closed or (is_lead and not is_asked):
        return None
    if is_asked:
        return "While you may still grade in a round, other people’s grades in it are not shown to you."
    return "Agreement in a round is shown once a lead closes it."


@dataclass(frozen=True)
class GradeAgreement:
    """Agreement of annotators: over everybody, and for every two people who share a pair."""

    ratings: Ratings
    overall: Coefficient
    pairs: list[PairAgreement]


class PersonRate(NamedTuple):
    person: int
    rate: Rate


@dataclass(frozen=True)
class VerdictAgreement:
    """Agreement of reviewers over revisions that two of them reviewed, and flags by author and reviewer.

    `received` counts, for each author, the flags among all verdicts on first-round revisions; `given`, for each
    reviewer, the flags among all verdicts.
    """

    kappa: Coefficient
    alike: Rate
    received: list[PersonRate]
    given: list[PersonRate]
    questions: list["QuestionAgreement"]


@dataclass(frozen=True)
class QuestionAgreement:
    """Agreement of two reviewers on one of the three questions: is the question, the block, the answer right?"""

    aspect: str
    alike: Rate
    kappa: Coefficient
    no_by_both: int
    no_by_one: int


def live_grades(project: Project, rounds: Iterable[Round] | None = None) -> QuerySet[Judgement]:
    """Grades in force, oldest first: of the first pass, not superseded, by the people of a round.

    Imported ratings count under their raters; imported judgements without a name do not.
    """
    grades = Judgement.objects.filter(
        _has_people("round__"),
        round__project=project,
        superseded_by=None,
        pass_number=1,
        grade__isnull=False,
    )
    if rounds is not None:
        grades = grades.filter(round__in=rounds)
    return grades.order_by("given_at", "pk")


def fresh_ratings(
    project: Project, rounds: Iterable[Round] | None = None, pairs: Collection[Pair] | None = None
) -> Ratings:
    """The grades of these rounds, read now; of the pairs in `pairs` only, where it is given."""
    rows: Any = live_grades(project, rounds).values_list(
        "entry__query_id", "entry__version_id", "annotator_id", "grade"
    )
    cells = chain.from_iterable(rows.iterator(chunk_size=10_000))
    table = np.fromiter(cells, dtype=np.int64).reshape(-1, 4)
    if pairs is not None:
        table = rows_of(table, pairs)
    return ratings_from(one_item_a_text(table), project.grades)


def _has_people(prefix: str = "") -> Q:
    """Rounds in force whose grades belong to people: judged here, or imported with the names of their raters."""
    raters = RoundAnnotator.objects.filter(annotator__email__endswith=PLACEHOLDER_DOMAIN)
    field = f"{prefix.removesuffix('__')}__in" if prefix else "pk__in"
    named = Q(**{f"{prefix}kind": RoundKind.IMPORTED, field: raters.values("round")})
    judged = Q(**{f"{prefix}kind": RoundKind.JUDGING})
    return Q(**{f"{prefix}withdrawn_at": None}) & (judged | named)


def one_item_a_text(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of (query, block version, …), oldest first, with the last block version for each text of a query.

    Block versions of the same text differ only in page or heading.
    """
    texts = texts_of(np.unique(table[:, 1]).tolist())
    versions: dict[TextKey, list[int]] = {}
    for version, text in texts.items():
        versions.setdefault(text, []).append(version)
    twins = [version for group in versions.values() if len(group) > 1 for version in group]
    places = np.flatnonzero(np.isin(table[:, 1], twins)).tolist()
    pairs = [(int(table[place, 0]), texts[int(table[place, 1])]) for place in places]
    last = {pair: int(table[place, 1]) for pair, place in zip(pairs, places, strict=True)}
    merged = table.copy()
    merged[places, 1] = [last[pair] for pair in pairs]
    return merged


def rows_of(table: NDArray[np.int64], pairs: Collection[Pair]) -> NDArray[np.int64]:
    versions, places = np.unique(table[:, 1], return_inverse=True)
    texts = texts_of(versions.tolist())
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts.values()))}
    of_version = np.array([numbers[texts[version]] for version in versions.tolist()], dtype=np.int64)
    wanted = [query * len(numbers) + numbers[text] for query, text in pairs if text in numbers]
    rows: NDArray[np.int64] = table[np.isin(table[:, 0] * len(numbers) + of_version[places], wanted)]
    return rows


def grade_agreement(
    project: Project, rounds: Iterable[Round] | None = None, pairs: Collection[Pair] | None = None
) -> GradeAgreement:
    ratings = fresh_ratings(project, rounds, pairs)
    return GradeAgreement(ratings=ratings, overall=alpha_of(ratings), pairs=pairs_of(ratings))


def verdicts_on(project: Project, triples: Collection[int]) -> Coefficient:
    """Agreement of two reviewers on these triples, over all revisions."""
    return fleiss_kappa(_pairs(tracking.flag_table(tracking.meetings(project, triples=triples))))


def verdict_agreement(project: Project) -> VerdictAgreement:
    meetings = rates.cached(project, "meetings", lambda: tracking.meetings(project))
    table = tracking.flag_table(meetings)
    return VerdictAgreement(
        kappa=fleiss_kappa(_pairs(table)),
        alike=Rate(table[0] + table[2], table.total()),
        questions=questions_of(meetings),
        received=_rates(rates.side_rates(project, RateSide.AUTHOR)),
        given=_rates(rates.side_rates(project, RateSide.REVIEWER)),
    )


class SubtopicAgreement(NamedTuple):
    """How far judges agree whether passages answer one subtopic; over the passages that two or more were asked about.

    `answered` counts the judgements that name it, of `asked`.
    """

    query: str
    facet: str
    words: str
    kappa: Coefficient
    answered: int
    asked: int


class SubtopicsAgreement(NamedTuple):
    """All subtopics together, with intervals over queries, and one by one; None where nobody was asked twice."""

    pooled: Coefficient | None
    rows: list[SubtopicAgreement]


def subtopic_agreement(project: Project, rounds: Iterable[Round] | None = None) -> SubtopicsAgreement:
    """Fleiss' κ of each subtopic and of all, by query and subtopic in their order."""
    chosen: dict[tuple[int, int], dict[int, list[str]]] = {}
    rows = live_grades(project, rounds).filter(facets__isnull=False)
    columns = ("entry__query_id", "entry__version_id", "annotator_id", "facets")
    for query, version, person, facets in rows.values_list(*columns).iterator(chunk_size=2_000):
        chosen.setdefault((query, version), {})[person] = facets
    twice: dict[int, list[list[list[str]]]] = {}
    for (query, _), answers in chosen.items():
        if len(answers) > 1:
            twice.setdefault(query, []).append(list(answers.values()))
    queries = Query.objects.filter(pk__in=twice).exclude(facets=[]).order_by("outside_id")
    found: list[SubtopicAgreement] = []
    tables, clusters = [], []
    for query in queries:
        for facet in query.facets:
            named = [[facet["id"] in answer for answer in answers] for answers in twice[query.pk]]
            table = np.array([[len(row) - sum(row), sum(row)] for row in named], dtype=np.int64)
            answered, asked = int(table[:, 1].sum()), int(table.sum())
            found.append(
                SubtopicAgreement(query.outside_id, facet["id"], facet["words"], fleiss_kappa(table), answered, asked)
            )
            tables.append(table)
            clusters.append(np.full(len(table), query.pk, dtype=np.int64))
    if not found:
        return SubtopicsAgreement(None, [])
    return SubtopicsAgreement(fleiss_kappa(np.concatenate(tables), clusters=np.concatenate(clusters)), found)


def questions_of(meetings: Iterable[tracking.Meeting]) -> list[QuestionAgreement]:
    """Agreement of two reviewers on each of the three questions, over these rounds."""
    return [_question(aspect, table) for aspect, table in tracking.aspect_tables(meetings).items()]


def _question(aspect: str, table: Counter[int]) -> QuestionAgreement:
    return QuestionAgreement(
        aspect=aspect,
        alike=Rate(table[0] + table[2], table.total()),
        kappa=fleiss_kappa(_pairs(table)),
        no_by_both=table[2],
        no_by_one=table[1],
    )


def _pairs(table: Counter[int]) -> NDArray[np.int64]:
    """Items by categories, from how many rounds had 0, 1 or 2 reviewers answering no."""
    patterns = np.array([[2, 0], [1, 1], [0, 2]], dtype=np.int64)
    return np.repeat(patterns, [table[no] for no in (0, 1, 2)], axis=0)


def _rates(side: SideRates) -> list[PersonRate]:
    """Flags by person, those with most verdicts first, people's and machine-written triples together."""
    rows = [PersonRate(row.person, Rate(row.people.hits + row.machine.hits, row.n)) for row in side.people]
    return sorted(rows, key=lambda row: (-row.rate.n, row.person))


def rounds_for(member: Member) -> list[Round]:
    """The rounds whose figures of agreement this member may see, oldest first."""
    found = [known for known in known_rounds(member.project, member.user) if known.has_people]
    return [known.round for known in found if _refusal(member, known.round, is_asked=known.is_asked) is None]


def rounds_refusal(member: Member, rounds: QuerySet[Round]) -> str | None:
    """Why this member may not see figures of agreement of all of these rounds, or None."""
    refusals = (reason for _, reason in _refusals(member, rounds.filter(_has_people())))
    return next((reason for reason in refusals if reason), None)


def _refusals(member: Member, rounds: QuerySet[Round]) -> list[tuple[Round, str | None]]:
    assigned = RoundAnnotator.objects.filter(annotator=member.user, round=OuterRef("pk"))
    found = rounds.annotate(is_asked=Exists(assigned)).order_by("number")
    return [(round_, _refusal(member, round_, is_asked=round_.is_asked)) for round_ in found]


def _refusal(member: Member, round_: Round, *, is_asked: bool) -> str | None:
    is_closed = round_.state == RoundState.CLOSED
    return grades_refusal(is_closed=is_closed, is_lead=member.is_lead, is_asked=is_asked)


def is_judge_only(member: Member) -> bool:
    """Whether this member may still grade in rounds that are open, and is not their lead."""
    return member.holds(Role.ANNOTATOR) and not member.is_lead


def exclusion_reason(member: Member) -> str | None:
    """Why rounds of the project are left out for this member; None where none are."""
    found = [known for known in known_rounds(member.project, member.user) if known.has_people]
    return next(filter(None, (_refusal(member, known.round, is_asked=known.is_asked) for known in found)), None)


def names_for(member: Member, people: Iterable[int]) -> dict[int, str]:
    """The names that this member sees: leads see all; others see their own, and letters for the rest.

    Letters follow the order in which people joined, so that they stay the same from visit to visit.
    """
    ids = sorted(set(people))
    if member.is_lead:
        known = once(("names", member.project.pk), lambda: _names_in(member.project))
        others = [pk for pk in ids if pk not in known]
        return {pk: known[pk] for pk in ids if pk in known} | (_names_of(pk__in=others) if others else {})
    others = [pk for pk in ids if pk != member.user.pk]
    named = {pk: f"Person {_letters(place)}" for place, pk in enumerate(others)}
    return {**named, member.user.pk: "You"}


def _names_in(project: Project) -> dict[int, str]:
    """The names of everybody who has or had a role or a round in the project."""
    members, judges = Membership.objects.filter(project=project), RoundAnnotator.objects.filter(round__project=project)
    return _names_of(Q(pk__in=members.values("user")) | Q(pk__in=judges.values("annotator")))


def _names_of(*which: Q, **more: Any) -> dict[int, str]:
    return dict(User.objects.filter(*which, **more).values_list("pk", "name"))


def _letters(place: int) -> str:
    """0 is A, 25 is Z, 26 is AA."""
    word = ""
    while place >= 0:
        place, rest = divmod(place, 26)
        word = chr(ord("A") + rest) + word
        place -= 1
    return word


def as_facts(coefficient: Coefficient) -> dict[str, Any]:
    """A coefficient as plain values, for manifests and the API."""
    return {"name": coefficient.name, **coefficient.estimate.as_json}
