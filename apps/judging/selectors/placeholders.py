"""Names in imported files, under which grades are here, and the members who they turned out to be."""

from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.http import Http404

from apps.accounts.models import PLACEHOLDER_DOMAIN, Project, User
from apps.judging.enums import RoundKind
from apps.judging.models import Judgement, PlaceholderClaim, RoundAnnotator
from apps.retrieval.models import PoolEntry

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


def has_judged(entry: PoolEntry, round_id: int, user: User) -> bool:
    """Whether this person has answered the pair in the round, under whatever name."""
    answers = Judgement.objects.filter(round=round_id, entry=entry, annotator__in=selves_of(user).values("pk"))
    return answers.exists()


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
