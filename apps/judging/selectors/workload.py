"""How much each annotator of a round has done of their share, and how fast."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Avg, Count, Max, Q, Sum
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.judging.core.eta import LOOKS_BACK, Lately
from apps.judging.models import Round
from apps.judging.selectors.my_progress import even_share
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import plan_of
from apps.judging.selectors.progress import minutes, places_in


class Workload(NamedTuple):
    """One annotator's work: pairs done of their share, those timed with their mean, those below a limit, lately.

    `lately` counts those of the last `days` days.
    """

    person: User
    done: int
    share: int
    timed: int
    mean_ms: float | None
    fast: int
    lately: int
    days: int

    @property
    def of_share(self) -> int:
        """How much of the share is done; what somebody did after it is `beyond`."""
        return min(self.done, self.share)

    @property
    def beyond(self) -> int:
        return self.done - self.of_share

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class Pace(NamedTuple):
    """What one annotator has given in a round, in force: in all, below a limit of time, and in the last `days` days.

    `last_at` is when the last of it was given.
    """

    done: int
    timed: int
    mean_ms: float | None
    fast: int
    lately: int
    lately_timed: int
    lately_ms: int
    last_at: datetime


class Paces(NamedTuple):
    """The pace of every annotator of a round who has given something, by key."""

    days: int
    by_person: dict[int, Pace]

    @property
    def lately(self) -> Lately:
        """What all of them gave in the last days."""
        rows = self.by_person.values()
        return Lately(
            self.days,
            sum(row.lately for row in rows),
            sum(row.lately_timed for row in rows),
            sum(row.lately_ms for row in rows),
        )

    def judged_since(self, at: datetime) -> int:
        """How many people have judged since then: whoever changed a grade has one in force from then."""
        return sum(row.last_at >= at for row in self.by_person.values())


def paces_in(round_: Round, *, fast_ms: int, at: datetime) -> Paces:
    """How much and how fast each annotator of the round has judged, in one statement. `fast_ms` limits a fast pair."""
    days = min(LOOKS_BACK, max(1, (at - (round_.opened_at or at)).days + 1))
    is_late = Q(given_at__gt=at - timedelta(days=days))
    counted = live_judgements(round_).values("annotator").order_by()
    counted = counted.annotate(
        done=Count("pk"),
        timed=Count("active_ms"),
        mean_ms=Avg("active_ms"),
        fast=Count("pk", filter=Q(active_ms__lt=fast_ms)),
        lately=Count("pk", filter=is_late),
        lately_timed=Count("active_ms", filter=is_late),
        lately_ms=Coalesce(Sum("active_ms", filter=is_late), 0),
        last_at=Max("given_at"),
    )
    rows = counted.values_list("annotator", *Pace._fields)
    return Paces(days, {person: Pace(*figures) for person, *figures in rows})


def workloads(round_: Round, paces: Paces) -> list[Workload]:
    """Every annotator of the round, by name, with their pace and their share."""
    places, again = places_in(round_), plan_of(round_).again
    rows = []
    for place in places:
        first = even_share(round_, len(places)) if place.share is None else place.share
        share, pace = first + int(again * first + 0.5), paces.by_person.get(place.person.pk)
        rows.append(
            Workload(place.person, pace.done, share, pace.timed, pace.mean_ms, pace.fast, pace.lately, paces.days)
            if pace
            else Workload(place.person, 0, share, 0, None, 0, 0, paces.days)
        )
    return rows
