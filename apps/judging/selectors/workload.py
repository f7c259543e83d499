"""What each person has answered in a round: how much of their share, how fast, and how often the same once more."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.accounts.models import User
from apps.judging.core.eta import LOOKS_BACK, Lately, Workload, minutes
from apps.judging.models import Judgement, KnownAnswer, Round
from apps.judging.selectors.pairs import live_judgements
from apps.judging.selectors.plans import even_share, plan_of
from apps.judging.selectors.progress import places_in
from apps.metrics.agreement.ratings import Rate


class Answers(NamedTuple):
    """What one person has answered in a round, in force; `fast` counts what was below a limit of time.

    `lately` counts the answers of the last days, `timed_lately` and `ms_lately` the time that these took.
    """

    done: int = 0
    cant_judge: int = 0
    timed: int = 0
    mean_ms: float | None = None
    fast: int = 0
    last_at: datetime | None = None
    lately: int = 0
    timed_lately: int = 0
    ms_lately: int = 0

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"; empty while nothing was timed."""
        return minutes(self.mean_ms)


class RoundAnswers(NamedTuple):
    """The answers of a round by the person's key. Those of the last `days` days count as of late."""

    days: int
    by_person: Mapping[int, Answers]

    def of(self, person: User) -> Answers:
        return self.by_person.get(person.pk, Answers())

    @property
    def lately(self) -> Lately:
        """What all of them gave in the last days."""
        rows = self.by_person.values()
        return Lately(
            self.days,
            sum(row.lately for row in rows),
            sum(row.timed_lately for row in rows),
            sum(row.ms_lately for row in rows),
        )

    def judged_since(self, at: datetime) -> int:
        """How many people have judged since then: whoever changed a grade has one in force from then."""
        return sum(row.last_at is not None and row.last_at >= at for row in self.by_person.values())


def answers_in(round_: Round, *, at: datetime, fast_ms: int = 0) -> RoundAnswers:
    """The answers of everybody who has given one, in one statement. `fast_ms` limits a fast pair.

    Of late is what was given in the last seven days, or since the round was opened.
    """
    days = min(LOOKS_BACK, max(1, (at - (round_.opened_at or at)).days + 1))
    late = Q(given_at__gt=at - timedelta(days=days))
    counted = live_judgements(round_).order_by().values("annotator")
    counted = counted.annotate(
        done=Count("pk"),
        cant=Count("pk", filter=~Q(cant_judge="")),
        timed=Count("active_ms"),
        mean_ms=Avg("active_ms"),
        fast=Count("pk", filter=Q(active_ms__lt=fast_ms)),
        last=Max("given_at"),
        late=Count("pk", filter=late),
        timed_late=Count("active_ms", filter=late),
        ms_late=Coalesce(Sum("active_ms", filter=late), 0),
    )
    columns = ("annotator", "done", "cant", "timed", "mean_ms", "fast", "last", "late", "timed_late", "ms_late")
    return RoundAnswers(days, {person: Answers(*each) for person, *each in counted.values_list(*columns)})


def workloads(round_: Round, answers: RoundAnswers) -> list[tuple[User, Workload]]:
    """Every annotator of the round, by name, with what they have answered of their share."""
    places, again = places_in(round_), plan_of(round_).again
    rows = []
    for place in places:
        first = even_share(round_, len(places)) if place.share is None else place.share
        share, own = first + int(again * first + 0.5), answers.of(place.person)
        work = Workload(own.done, share, own.timed, own.mean_ms, own.fast, own.lately, answers.days)
        rows.append((place.person, work))
    return rows


class Steadiness(NamedTuple):
    """Of a person's repeated pairs, those graded alike; of their checks, those they got right."""

    repeats: Rate = Rate(0, 0)
    checks: Rate = Rate(0, 0)


def steadiness(round_: Round) -> dict[int, Steadiness]:
    """The consistency of each person who has a repeated pair or a check, by the person's id."""
    live, columns = live_judgements(round_), ("annotator", "known", "grade")
    repeats = same_answers(repeats_among(live).values_list(*columns))
    checks = same_answers(checks_among(live).values_list(*columns))
    none = Rate(0, 0)
    return {pk: Steadiness(repeats.get(pk, none), checks.get(pk, none)) for pk in {*repeats, *checks}}


def repeats_among(answers: QuerySet[Judgement]) -> QuerySet[Any]:
    """The answers to pairs that the same person judged once more, blindly; `known` is the first one."""
    first = answers.filter(
        round=OuterRef("round"), annotator=OuterRef("annotator"), entry=OuterRef("entry"), pass_number=1
    )
    return answers.filter(pass_number__gt=1).annotate(known=Subquery(first.values("grade")[:1]))


def checks_among(answers: QuerySet[Judgement]) -> QuerySet[Any]:
    """The answers to checks; `known` is the known grade."""
    known = KnownAnswer.objects.filter(round=OuterRef("round"), entry=OuterRef("entry"))
    return answers.filter(pass_number=0).annotate(known=Subquery(known.values("grade")[:1]))


def same_answers(rows: Iterable[tuple[int, int | None, int | None]]) -> dict[int, Rate]:
    """By key, in how many rows both answers are the same. "Can't judge", None, is an answer."""
    found: dict[int, Rate] = {}
    for key, one, other in rows:
        before = found.get(key, Rate(0, 0))
        found[key] = Rate(before.hits + (one == other), before.n + 1)
    return found
