"""Names in imported files, the members who they turned out to be, and the grades here beside which a file stands."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import Http404

from apps.accounts.models import PLACEHOLDER_DOMAIN, Project, User
from apps.accounts.selectors import placeholder_named
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import TextKey, texts_of
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Adjudication, Judgement, PlaceholderClaim, Round, RoundAnnotator, Seat

GIVEN = (RoundKind.JUDGING, RoundKind.IMPORTED)
"""Rounds whose grades their annotators gave themselves."""


class Placeholder(NamedTuple):
    """A name with the grades under it. `claim` says who it is, where a lead has said so."""

    user: User
    grades: int
    rounds: int
    claim: PlaceholderClaim | None


class SharedPairs(NamedTuple):
    """How many pairs both have judged, and the id of the query of one."""

    number: int
    example: str


def placeholders_in(project: Project) -> list[Placeholder]:
    """The placeholders with grades in force, by name.

    A grade that stands in a later round too, beside a second opinion, is counted where it was given.
    """
    counted = (
        Judgement.objects.filter(round__project=project, round__kind__in=GIVEN, round__withdrawn_at=None)
        .filter(annotator__email__endswith=PLACEHOLDER_DOMAIN, given_at__gte=F("round__created_at"))
        .order_by()
        .values("annotator")
        .annotate(grades=Count("pk"), rounds=Count("round", distinct=True))
    )
    counts = {row["annotator"]: (row["grades"], row["rounds"]) for row in counted}
    claims = {claim.placeholder_id: claim for claim in live_claims(project).select_related("member")}
    people = User.objects.filter(pk__in=counts).order_by("name", "pk")
    return [Placeholder(person, *counts[person.pk], claims.get(person.pk)) for person in people]


def placeholder_in(project: Project, pk: int) -> User:
    """A name under which grades came to this project; Http404 for anybody else."""
    rows = RoundAnnotator.objects.filter(round__project=project, round__kind__in=GIVEN)
    rows = rows.filter(annotator=pk, annotator__email__endswith=PLACEHOLDER_DOMAIN).select_related("annotator")
    row = rows.first()
    if row is None:
        raise Http404("No such name in an imported file.")
    return row.annotator


def live_claims(project: Project) -> QuerySet[PlaceholderClaim]:
    return PlaceholderClaim.objects.filter(project=project, ended_at=None)


def selves_of(user: User) -> QuerySet[User]:
    """A person, and the placeholders who are that person."""
    claimed = PlaceholderClaim.objects.filter(member=user, ended_at=None)
    return User.objects.filter(Q(pk=user.pk) | Q(pk__in=claimed.values("placeholder"))).order_by()


def shared_pairs(project: Project, placeholder: User, member: User) -> SharedPairs:
    """The pairs that a placeholder and a member, under whatever name, have both judged."""
    given = Judgement.objects.filter(round__project=project, round__withdrawn_at=None, round__kind__in=GIVEN)
    theirs = given.filter(
        annotator__in=selves_of(member).values("pk"),
        entry__query=OuterRef("entry__query"),
        entry__version=OuterRef("entry__version"),
    )
    both = given.filter(Exists(theirs), annotator=placeholder, superseded_by=None).order_by("pk")
    example = both.values_list("entry__query__outside_id", flat=True).first()
    return SharedPairs(both.count() if example else 0, example or "")


Pair = tuple[int, int]
"""A query and a block version."""
OF_TEXT = ("entry__query", "entry__version__block", "entry__version__text_digest")


class EarlierAnswer(NamedTuple):
    """What somebody answered on a pair, in the round that counts for it."""

    pair: Pair
    round_id: int
    annotator_id: int
    grade: int | None
    cant_judge: str
    note: str
    given_at: datetime
    facets: list[str] | None


class EarlierDecision(NamedTuple):
    """What a lead decided on a pair there; no grade: it can't be judged."""

    pair: Pair
    adjudicator_id: int
    grade: int | None
    reason: str


class Earlier(NamedTuple):
    """What is here on some pairs; `being_judged` are those that an open round asks people about."""

    answers: list[EarlierAnswer]
    decisions: list[EarlierDecision]
    being_judged: set[Pair]


def has_grades(snapshot: Snapshot) -> bool:
    """Whether anybody has judged, or is to judge, on the corpus of this snapshot."""
    return _rounds(snapshot).exists()


def _rounds(snapshot: Snapshot) -> QuerySet[Round]:
    given = Round.objects.in_force().exclude(kind=RoundKind.PROPAGATED)
    return given.filter(pool__snapshot__corpus=snapshot.corpus_id)


def earlier_grades(snapshot: Snapshot, pairs: Collection[Pair]) -> Earlier:
    """Of closed rounds, the latest that has an answer to the pair counts, as for a version. In a few statements.

    A grade that was carried over is nobody's answer to the pair.
    """
    texts = texts_of(version for _, version in pairs)
    by_text: dict[tuple[int, TextKey], Pair] = {(query, texts[version]): (query, version) for query, version in pairs}
    of_pairs = Q(entry__query__in={query for query, _ in pairs}, pass_number=1)
    rounds = _rounds(snapshot)
    closed = rounds.filter(state=RoundState.CLOSED)
    live = Judgement.objects.filter(of_pairs, round__in=closed, superseded_by=None).order_by("round__number", "pk")
    found: dict[Pair, list[EarlierAnswer]] = {}
    rows = live.values_list(*OF_TEXT, "round", "annotator", "grade", "cant_judge", "note", "given_at", "facets")
    for query, block, digest, *answer in rows:
        if pair := by_text.get((query, TextKey(block, digest))):
            given = EarlierAnswer(pair, *answer)
            others = found.get(pair, [])
            found[pair] = [*others, given] if others and others[0].round_id == given.round_id else [given]
    counting = {pair: answers[0].round_id for pair, answers in found.items()}
    ruled = Adjudication.objects.filter(
        round__in=set(counting.values()), entry__query__in={query for query, _ in counting}, superseded_by=None
    )
    decisions = []
    for query, block, digest, round_id, *decision in ruled.values_list(
        *OF_TEXT, "round", "adjudicator", "grade", "reason"
    ):
        pair = by_text.get((query, TextKey(block, digest)))
        if pair and counting.get(pair) == round_id:
            decisions.append(EarlierDecision(pair, *decision))
    planned = Seat.objects.filter(of_pairs, round__in=rounds.exclude(state=RoundState.CLOSED)).order_by()
    texts_planned = {(query, TextKey(*text)) for query, *text in planned.values_list(*OF_TEXT).distinct()}
    being_judged = {by_text[text] for text in texts_planned if text in by_text}
    return Earlier([answer for answers in found.values() for answer in answers], decisions, being_judged)


def people_behind(project: Project, raters: Collection[str], importer: User | None) -> Mapping[str, set[int]]:
    """For each rater of a file, "" for the importer, the keys of everybody here who is that person."""
    claims = dict(PlaceholderClaim.objects.filter(project=project, ended_at=None).values_list("placeholder", "member"))

    def selves(user: User | None) -> set[int]:
        if user is None:
            return set()
        member = claims.get(user.pk, user.pk)
        return {user.pk, member, *(placeholder for placeholder, each in claims.items() if each == member)}

    named = {rater: selves(placeholder_named(project, rater)) for rater in raters}
    return {"": selves(importer), **named}
