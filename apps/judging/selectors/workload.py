"""How much each annotator of a round has done of their share, and how fast."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Q

from apps.accounts.models import User
from apps.judging.core.eta import LOOKS_BACK
from apps.judging.models import Round
from apps.judging.selectors.own_share import even_share
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.progress import minutes, people_in
from apps.judging.selectors.round_plan import plan_of


class Workload(NamedTuple):
    """One annotator's work: pairs done of their even share, those timed with their mean, those below a limit, lately.

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


def workloads(round_: Round, *, fast_ms: int, at: datetime) -> list[Workload]:
    """Every annotator of the round, by name, in at most three queries. `fast_ms` is the limit of a fast pair."""
    days = min(LOOKS_BACK, max(1, (at - (round_.opened_at or at)).days + 1))
    judged: dict[int, dict[str, Any]] = {
        row["annotator"]: dict(row)
        for row in live_judgements(round_)
        .values("annotator")
        .annotate(
            done=Count("pk"),
            timed=Count("active_ms"),
            mean_ms=Avg("active_ms"),
            fast=Count("pk", filter=Q(active_ms__lt=fast_ms)),
            lately=Count("pk", filter=Q(given_at__gt=at - timedelta(days=days))),
        )
        .order_by()
    }
    people = people_in(round_)
    first = even_share(round_, len(people))
    share = first + int(plan_of(round_).again * first + 0.5)
    none: dict[str, Any] = {"done": 0, "timed": 0, "mean_ms": None, "fast": 0, "lately": 0}
    rows = [(person, judged.get(person.pk, none)) for person in people]
    return [
        Workload(person, row["done"], share, row["timed"], row["mean_ms"], row["fast"], row["lately"], days)
        for person, row in rows
    ]
