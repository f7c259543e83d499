"""An annotator's progress in a round: their share, what is left of it, and their last grades."""

from typing import NamedTuple

from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Round, RoundAnnotator, Seat
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import query_in_remit
from apps.judging.selectors.progress import minutes
from apps.judging.selectors.round_plan import plan_of, seats_at_opening, undecided_pilot_queries
from apps.retrieval.models import PoolQuery

MOST_EXTRA = 200
LOOK = 2 * MOST_EXTRA
PACE_OF = 200


class OwnProgress(NamedTuple):
    """An annotator's own work in a round; `total` is their share, or less where fewer pairs can be assigned to them.

    After their share they may continue: `beyond` pairs of others' shares are open to them.
    """

    done: int
    total: int
    mean_ms: float | None
    beyond: int = 0

    @property
    def to_go(self) -> int:
        """Pairs of their share still to be judged."""
        return max(0, self.total - self.done)

    @property
    def is_past(self) -> bool:
        """Whether the next pair is beyond their share."""
        return self.done >= self.total and self.beyond > 0

    @property
    def waiting(self) -> int:
        """Pairs they can judge now: of their share, and once that is done of others'."""
        return self.to_go or self.beyond

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty where none was timed."""
        return minutes(self.mean_ms)


def own_progress(round_: Round, annotator: User) -> OwnProgress:
    """An annotator's own work. The goal is an even share of the round, of its expected repeated pairs, and the checks.

    Repeated pairs are counted as the plan expects them, never as sampled: a goal that grew with a grade would reveal
    that its pair is repeated. The goal shrinks to what can still be assigned to them when that is less, and does not
    change once it is reached. At most 200 pairs are counted beyond it, so that the page takes no longer in a larger
    round.
    """
    mine = Seat.objects.filter(round=round_, annotator=annotator)
    done = mine.filter(state=SeatState.DONE).count()
    checks = Seat.objects.filter(round=round_, reserved_for=annotator, pass_number=0).count()
    first = even_share(round_)
    share = first + int(plan_of(round_).again * first + 0.5) + checks
    left = _left_for(round_, annotator)
    to_go = max(0, share - done) if left is None else min(max(0, share - done), left)
    beyond = MOST_EXTRA if left is None else min(left - to_go, MOST_EXTRA)
    return OwnProgress(done, done + to_go if done < share else share, _usual_time(round_, annotator), beyond)


def even_share(round_: Round, people: int | None = None) -> int:
    """How many pairs each person would judge in equal shares of the seats at opening; `people` if already counted."""
    opened_with = seats_at_opening(round_)
    if opened_with is None:
        opened_with = Seat.objects.filter(round=round_, reserved_for=None).count()
    if people is None:
        people = RoundAnnotator.objects.filter(round=round_).count()
    return -(-opened_with // (people or 1))


def _left_for(round_: Round, annotator: User) -> int | None:
    """How many pairs are leased to this person or can still be assigned to them; None above the limit."""
    place = RoundAnnotator.objects.filter(round=round_, annotator=annotator).first()
    if place is None:
        return 0
    seats = Seat.objects.filter(round=round_)
    own = seats.filter(entry=OuterRef("entry"), pass_number=OuterRef("pass_number"), annotator=annotator)
    ready = seats.filter(state=SeatState.OPEN)
    if (pilot := undecided_pilot_queries(round_)) is not None:
        ready = ready.filter(query__in=pilot)
    if place.only is not None:
        within = PoolQuery.objects.filter(query_in_remit(place.only), pool=round_.pool_id)
        ready = ready.filter(query__in=within.values("query"))
    free = ready.filter(~Exists(own), reserved_for=None).order_by("query_id").values_list("entry_id", flat=True)
    entries = list(free.filter(query_id__gte=place.cursor)[:LOOK])
    entries += free.filter(query_id__lt=place.cursor)[: LOOK - len(entries)]
    if len(entries) >= LOOK:
        return None
    leased = seats.filter(annotator=annotator, state=SeatState.LEASED).count()
    return len(set(entries)) + leased + ready.filter(reserved_for=annotator).count()


def _usual_time(round_: Round, annotator: User) -> float | None:
    """The mean time of the last 200 pairs that were timed."""
    mine = live_judgements(round_).filter(annotator=annotator, active_ms__isnull=False)
    last = mine.order_by("-given_at", "-pk").values_list("active_ms", flat=True)[:PACE_OF]
    times = [time for time in last if time is not None]
    return sum(times) / len(times) if times else None


def recent_pairs(round_: Round, annotator: User, n: int = 20) -> list[Judgement]:
    """The last pairs this person graded, latest first: those that undo can reach."""
    mine = live_judgements(round_).filter(annotator=annotator)
    return list(mine.select_related("entry__query", "seat").order_by("-given_at", "-pk")[:n])
