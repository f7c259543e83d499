"""Which verdicts count, and whose they are.

A verdict counts once both of its round are in: it is in force, and so is another person's on the same revision. That is
read from the rows themselves, never from the triple's state. Rounds that added a candidate block are left out: they
exist only where it was added, so that they would make reviewers look more alike than they are.
"""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.accounts.models import Project
from apps.common.database.questions import once
from apps.review.enums import RateSide, VerdictChoice
from apps.review.models import Verdict
from apps.triples.models import Revision

FIRST_ROUND = 1


PERSON = {RateSide.AUTHOR: "revision__author_id", RateSide.REVIEWER: "reviewer_id"}

FLAGS = Count("pk", filter=Q(choice=VerdictChoice.FLAG))


def other_verdict() -> QuerySet[Verdict]:
    """The verdict in force of the other reviewer in the same round."""
    return Verdict.objects.filter(revision=OuterRef("revision"), superseded_by=None).exclude(
        reviewer=OuterRef("reviewer")
    )


def counted(project: Project) -> QuerySet[Verdict]:
    """Verdicts in force, of closed rounds."""
    counts = Verdict.objects.filter(Exists(other_verdict()), superseded_by=None, revision__triple__project=project)
    return counts.filter(revision__candidate_block=None)


def reviews_of(project: Project, side: RateSide, person: int | None = None) -> QuerySet[Verdict]:
    """What a rate of `side` is computed from: for authors the verdicts of first rounds, for reviewers all of them."""
    verdicts = counted(project)
    if side is RateSide.AUTHOR:
        verdicts = verdicts.filter(revision__round=FIRST_ROUND)
    return verdicts if person is None else verdicts.filter(**{PERSON[side]: person})


def last_verdict(project: Project) -> int:
    """The key of the project's newest verdict, 0 for none: figures here change only with it."""
    return once(verdict_key(project), lambda: newest_verdicts(project).first() or 0)


def verdict_key(project: Project) -> tuple[str, int]:
    """The name under which a page knows `last_verdict`."""
    return "newest verdict", project.pk


def newest_verdicts(project: Project) -> QuerySet[Verdict, int]:
    """The keys of the project's verdicts, the newest first."""
    ours = Revision.objects.filter(pk=OuterRef("revision"), triple__project=project)
    return Verdict.objects.filter(Exists(ours)).order_by("-pk").values_list("pk", flat=True)
