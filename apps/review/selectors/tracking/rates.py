"""Flags among verdicts, by person and month, by day, by a property of the triple, and by reason."""

from collections import Counter
from enum import Enum
from typing import Any, NamedTuple

from django.db.models import Count, F

from apps.accounts.models import Project
from apps.common.database.periods import Day, Month
from apps.review.enums import RateSide, VerdictChoice
from apps.review.selectors.tracking.counting import FLAGS, PERSON, reviews_of


class Dimension(Enum):
    """By what rates are broken down. Reasons are separate: one flag may name several."""

    MONTH = "month"
    DOMAIN = "domain"
    SOURCE = "source"
    DIFFICULTY = "difficulty"


VALUE: dict[Dimension, Any] = {
    Dimension.MONTH: Month("given_at"),
    Dimension.DOMAIN: F("revision__triple__domain"),
    Dimension.SOURCE: F("revision__triple__source__name"),
    Dimension.DIFFICULTY: F("revision__triple__difficulty"),
}
MACHINE = F("revision__triple__is_machine_written")


class FlagTally(NamedTuple):
    """Flags among `n` verdicts of one person in one month, people's and machine-written triples apart."""

    person: int
    month: str
    is_machine: bool
    flags: int
    n: int


class FlagShare(NamedTuple):
    """Flags among `n` verdicts that have one value, such as one domain. "" means none."""

    value: str
    is_machine: bool
    flags: int
    n: int


def tallies(project: Project, side: RateSide) -> list[FlagTally]:
    """Each person's flags and verdicts of each month that has any, in the order of people and months."""
    rows = (
        reviews_of(project, side)
        .values_list(PERSON[side], Month("given_at"), MACHINE)
        .annotate(flags=FLAGS, n=Count("pk"))
        .order_by()
    )
    return sorted(FlagTally(*row) for row in rows)


def flags_by_day(project: Project) -> list[tuple[str, int, int]]:
    """Day, flags and verdicts of first rounds, in the order of days."""
    rows = reviews_of(project, RateSide.AUTHOR).values_list(Day("given_at")).annotate(flags=FLAGS, n=Count("pk"))
    return sorted(rows.order_by())


def shares(project: Project, side: RateSide, by: Dimension, person: int | None = None) -> list[FlagShare]:
    """Flags and verdicts of each value of `by`, in the order of values, "" first; of all people or of one."""
    rows = (
        reviews_of(project, side, person)
        .values_list(VALUE[by], MACHINE)
        .annotate(flags=FLAGS, n=Count("pk"))
        .order_by()
    )
    return sorted(FlagShare(value or "", is_machine, flags, n) for value, is_machine, flags, n in rows)


def reasons_named(project: Project, side: RateSide, person: int | None = None) -> Counter[tuple[str, bool]]:
    """How many flags name each reason, by (reason, machine-written). One flag may name several."""
    rows = (
        reviews_of(project, side, person)
        .filter(choice=VerdictChoice.FLAG)
        .values_list("reasons", MACHINE)
        .annotate(n=Count("pk"))
        .order_by()
    )
    named: Counter[tuple[str, bool]] = Counter()
    for reasons, is_machine, n in rows:
        for reason in set(reasons):
            named[reason, is_machine] += n
    return named
