"""All rounds of a project in one statement, with what pages that show several of them ask about each."""

from typing import NamedTuple

from django.db.models import Exists, OuterRef

from apps.accounts.models import STAND_IN_DOMAIN, Project, User
from apps.common.database.questions import once
from apps.judging.enums import RoundKind, RoundState, SeatState
from apps.judging.models import NOT_RETIRED, Round, RoundAnnotator, Seat

UNFINISHED = (SeatState.OPEN, SeatState.LEASED)


class KnownRound(NamedTuple):
    """A round as one person finds it. `is_asked`: they are an annotator of it; `has_raters`: grades came with names.

    `is_full`: it has seats, and every planned grade is given, but for retired queries. Only undo is possible there.
    """

    round: Round
    is_asked: bool
    has_raters: bool
    is_full: bool

    @property
    def is_judged_here(self) -> bool:
        return self.round.kind == RoundKind.JUDGING

    @property
    def has_people(self) -> bool:
        """Whether its grades count and belong to people: judged here, or imported with the names of their raters."""
        return self.round.withdrawn_at is None and (self.is_judged_here or self.has_raters)

    @property
    def may_need_a_lead(self) -> bool:
        """Whether two answers of it can differ, and count."""
        if self.round.withdrawn_at or self.round.state == RoundState.OPENING:
            return False
        return self.is_judged_here or self.round.judges > 1

    @property
    def can_be_judged(self) -> bool:
        """Whether its annotators are asked for grades."""
        return self.is_judged_here and self.round.state == RoundState.OPEN and self.round.withdrawn_at is None

    @property
    def can_be_closed(self) -> bool:
        """Whether it is open, and every planned grade is given."""
        return self.is_judged_here and self.round.state == RoundState.OPEN and self.is_full


def known_rounds(project: Project, user: User | None) -> list[KnownRound]:
    """The rounds of the project, oldest first, withdrawn ones too."""
    return once(("rounds", project.pk, user and user.pk), lambda: _read(project, user))


def newest_round(project: Project, user: User | None) -> Round | None:
    """The round that was planned last, once it is open."""
    found = [each.round for each in known_rounds(project, user) if each.is_judged_here]
    return next((round_ for round_ in reversed(found) if round_.state != RoundState.OPENING), None)


def _read(project: Project, user: User | None) -> list[KnownRound]:
    people, seats = RoundAnnotator.objects.filter(round=OuterRef("pk")), Seat.objects.filter(round=OuterRef("pk"))
    rounds = Round.objects.filter(project=project).annotate(
        is_asked=Exists(people.filter(annotator=user)),
        has_raters=Exists(people.filter(annotator__email__endswith=STAND_IN_DOMAIN)),
        has_seats=Exists(seats),
        is_unfinished=Exists(seats.filter(NOT_RETIRED, state__in=UNFINISHED)),
    )
    found = []
    for round_ in rounds.order_by("number"):
        round_.project = project
        is_full = round_.has_seats and not round_.is_unfinished
        found.append(KnownRound(round_, round_.is_asked, round_.has_raters, is_full))
    return found
