"""A person's own work in judging, for them alone.

While a round is open, only counts and times are shown: a figure that changed with a grade would reveal which pair is
repeated, or others' grades. Leads' decisions are shown once the round is closed, and never of a pair that the person
may still be assigned in another one.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date
from typing import Any, NamedTuple

from django.db.models import Avg, Count, Exists, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import TruncWeek

from apps.accounts.models import Project, User
from apps.judging.enums import RoundKind, RoundState
from apps.judging.models import Adjudication, Judgement, KnownAnswer, Round, RoundAnnotator
from apps.judging.selectors.progress import minutes
from apps.judging.selectors.rounds import rounds_of
from apps.metrics.agreement.ratings import Rate
from apps.retrieval.models import PoolEntry

WEEKS = 8
ROUNDS = 30
SHOWN = 50


class WorkWeek(NamedTuple):
    """One week of a person's work, from Monday in UTC, whatever the reader's time zone."""

    begins: date
    pairs: int
    mean_ms: float | None
    timed_ms: int | None

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"."""
        return minutes(self.mean_ms)

    @property
    def hours(self) -> float | None:
        """The working time, in hours."""
        return self.timed_ms / 3_600_000 if self.timed_ms else None


class OwnRound(NamedTuple):
    """A person's work in a round and, once it is closed, how far decisions, repeats and checks agreed: None before."""

    round: Round
    pairs: int
    mean_ms: float | None
    repeats: Rate | None
    decisions: Rate | None
    checks: Rate | None

    @property
    def pace(self) -> str:
        """The mean time of a pair, "1:48"."""
        return minutes(self.mean_ms)


def own_grades(user: User, project: Project) -> QuerySet[Judgement]:
    """This person's answers in force, of every pass."""
    return Judgement.objects.filter(
        annotator=user, round__project=project, round__kind=RoundKind.JUDGING, superseded_by=None
    )


def own_weeks(user: User, project: Project) -> list[WorkWeek]:
    """The last weeks in which this person judged, latest first."""
    rows = own_grades(user, project).annotate(week=TruncWeek("given_at", tzinfo=UTC)).values_list("week")
    weeks = rows.annotate(n=Count("pk"), mean=Avg("active_ms"), ms=Sum("active_ms")).order_by("-week")[:WEEKS]
    return [WorkWeek(week.date(), n, mean, ms) for week, n, mean, ms in weeks]


def own_rounds(user: User, project: Project) -> list[OwnRound]:
    """The rounds in which this person is an annotator, newest first, in a fixed number of statements."""
    rounds = list(rounds_of(user, project)[:ROUNDS])
    rows = own_grades(user, project).filter(pass_number=1, round__in=rounds).values_list("round")
    counts = {pk: (n, mean) for pk, n, mean in rows.annotate(n=Count("pk"), mean=Avg("active_ms")).order_by()}
    closed = [round_.pk for round_ in rounds if round_.state == RoundState.CLOSED]
    rates = (_repeats(user, project), _shares(_decided(user, project)), _checks(user, project))
    return [
        OwnRound(
            round_,
            *counts.get(round_.pk, (0, None)),
            *(shares.get(round_.pk, Rate(0, 0)) if round_.pk in closed else None for shares in rates),
        )
        for round_ in rounds
    ]


def own_decisions(user: User, project: Project) -> list[Adjudication]:
    """Decisions that differ from this person's grade, latest first; `own_grade` is theirs."""
    decided = _decided(user, project).exclude(own_grade=F("grade")).exclude(own_grade=None, grade=None)
    decisions = decided.select_related("round", "entry__query", "entry__version__block__document")
    return list(decisions.order_by("-pk")[:SHOWN])


def _closed(user: User, project: Project) -> QuerySet[Judgement]:
    return own_grades(user, project).filter(round__state=RoundState.CLOSED)


def _decided(user: User, project: Project) -> QuerySet[Any]:
    """Decisions in force in closed rounds on pairs this person judged and cannot be assigned again."""
    own = _closed(user, project).filter(round=OuterRef("round"), entry=OuterRef("entry"), pass_number=1)
    still = RoundAnnotator.objects.filter(annotator=user).exclude(round__state=RoundState.CLOSED)
    same = PoolEntry.objects.filter(
        pool__in=still.values("round__pool"), query=OuterRef("entry__query"), version=OuterRef("entry__version")
    )
    decisions = Adjudication.objects.filter(Exists(own), ~Exists(same), superseded_by=None)
    return decisions.annotate(own_grade=Subquery(own.values("grade")[:1]))


def _shares(decisions: QuerySet[Any]) -> dict[int, Rate]:
    rows = decisions.values_list("round", "own_grade", "grade")
    return _counted((pk, _is_alike(own, grade)) for pk, own, grade in rows)


def _repeats(user: User, project: Project) -> dict[int, Rate]:
    first = own_grades(user, project).filter(round=OuterRef("round"), entry=OuterRef("entry"), pass_number=1)
    repeats = _closed(user, project).filter(Exists(first), pass_number__gt=1)
    rows = repeats.annotate(first=Subquery(first.values("grade")[:1])).values_list("round", "first", "grade")
    return _counted((pk, _is_alike(before, grade)) for pk, before, grade in rows)


def _checks(user: User, project: Project) -> dict[int, Rate]:
    known = KnownAnswer.objects.filter(round=OuterRef("round"), entry=OuterRef("entry"))
    checks = _closed(user, project).filter(Exists(known), pass_number=0)
    rows = checks.annotate(known=Subquery(known.values("grade")[:1])).values_list("round", "known", "grade")
    return _counted((pk, _is_alike(answer, grade)) for pk, answer, grade in rows)


def _is_alike(one: int | None, other: int | None) -> bool:
    """Whether two answers are the same; "can't judge" is an answer."""
    return one == other


def _counted(rows: Iterable[tuple[int, bool]]) -> dict[int, Rate]:
    hits: Counter[int] = Counter()
    n: Counter[int] = Counter()
    for pk, is_hit in rows:
        n[pk] += 1
        hits[pk] += is_hit
    return {pk: Rate(hits[pk], n[pk]) for pk in n}
