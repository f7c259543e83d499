"""Past triples to review once more."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from apps.accounts.models import Project
from apps.review.enums import VerdictChoice
from apps.review.models import Verdict
from apps.review.selectors.tracking.counting import other_verdict
from apps.triples.enums import State
from apps.triples.models import Revision

PAST = (State.ACCEPTED, State.DROPPED, State.SPLIT, State.RETIRED)


def past_rounds(
    project: Project, writers: tuple[int, ...], *, flagged: bool, apart_from: QuerySet[Any], most: int
) -> list[tuple[int, int]]:
    """(revision, triple) of closed rounds, oldest first, on triples that ended and that none of `writers` wrote.

    `flagged`: at least one reviewer flagged; else both confirmed. `apart_from` are ids of triples to leave out.
    """
    live = Verdict.objects.filter(revision=OuterRef("pk"), superseded_by=None)
    both = live.filter(Exists(other_verdict()))
    wrote = Revision.objects.filter(triple=OuterRef("triple"), author__in=writers)
    rows = (
        Revision.objects.filter(Exists(both), candidate_block=None, triple__project=project, triple__state__in=PAST)
        .exclude(Exists(wrote))
        .exclude(triple__author__in=writers)
        .exclude(triple__adopted_by__in=writers)
        .exclude(triple__in=apart_from)
    )
    flags = Exists(live.filter(choice=VerdictChoice.FLAG))
    rows = rows.filter(flags) if flagged else rows.exclude(flags)
    return list(rows.order_by("pk").values_list("pk", "triple")[:most])
