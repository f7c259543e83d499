"""Who reviews what: two seats a revision, given by least load, never to anybody who wrote."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, F

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.review.models import ReviewSeat
from apps.review.standing import REVIEWERS_PER_ROUND
from apps.triples.enums import State
from apps.triples.models import Revision, Triple
from apps.triples.selectors import authors_of


def open_load(project: Project) -> dict[int, int]:
    """Seats in open rounds per person, answered or not.

    Answered ones count too: otherwise where the next triple goes would tell who has answered this one.
    """
    rows = (
        ReviewSeat.objects.filter(
            released_at=None,
            revision__triple__project=project,
            revision__triple__state=State.IN_REVIEW,
            revision_id=F("revision__triple__current_id"),
        )
        .values_list("reviewer")
        .annotate(Count("pk"))
    )
    return dict(rows)


def _lot(triple: Triple, person: User) -> str:
    return hashlib.sha256(f"{triple.pk}:{person.pk}".encode()).hexdigest()


def choose(
    triple: Triple, people: Iterable[User], load: dict[int, int], keep: Iterable[int], writers: frozenset[int]
) -> list[User]:
    """Two reviewers: those of the round before first, then the least loaded, ties by lot. Fewer when there are none."""
    kept = set(keep)
    able = [person for person in people if person.pk not in writers]
    able.sort(key=lambda person: (person.pk not in kept, load.get(person.pk, 0), _lot(triple, person)))
    return able[:REVIEWERS_PER_ROUND]


def reviewers_for(triple: Triple) -> list[User]:
    before = ReviewSeat.objects.filter(revision=triple.current_id, released_at=None).values_list("reviewer", flat=True)
    return choose(
        triple,
        members_of(triple.project, Role.REVIEWER),
        open_load(triple.project),
        before,
        authors_of(triple),
    )


def open_seats(revision: Revision, reviewers: list[User], at: datetime) -> list[ReviewSeat]:
    return [
        ReviewSeat.objects.create(revision=revision, number=number, reviewer=reviewer, opened_at=at)
        for number, reviewer in enumerate(reviewers, start=1)
    ]
