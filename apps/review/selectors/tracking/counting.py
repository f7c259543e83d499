"""Which verdicts count, and whose they are.

A verdict counts once both of its round are in: it stands, and so does another person's on the same revision. That is
asked of the rows themselves, never of the triple's state.
"""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project
from apps.review.enums import RateSide, VerdictChoice
from apps.review.models import Verdict
from apps.triples.models import Revision

FIRST_ROUND = 1


PERSON = {RateSide.AUTHOR: "revision__author_id", RateSide.REVIEWER: "reviewer_id"}

FLAGS = Count("pk", filter=Q(choice=VerdictChoice.FLAG))


def beside_it() -> QuerySet[Verdict]:
    """The verdict that stands beside the outer one in its round."""
    return Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None).exclude(
        reviewer=OuterRef("reviewer")
    )


def counted(project: Project) -> QuerySet[Verdict]:
    """Verdicts that stand, of closed rounds."""
    return Verdict.objects.filter(Exists(beside_it()), superseded_by=None, revision__triple__project=project)


def reviews_of(project: Project, side: RateSide, person: int | None = None) -> QuerySet[Verdict]:
    """What a rate of `side` is computed from: for authors the verdicts of first rounds, for reviewers all of them."""
    found = counted(project)
    if side is RateSide.AUTHOR:
        found = found.filter(revision__round=FIRST_ROUND)
    return found if person is None else found.filter(**{PERSON[side]: person})


def last_verdict(project: Project) -> int:
    """The key of the project's newest verdict, 0 for none: while it stays, no figure here moves."""
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    return Verdict.objects.filter(Exists(ours)).order_by("-pk").values_list("pk", flat=True).first() or 0
