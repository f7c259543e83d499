"""Flag rates: of each person, of everybody, by month, domain, source, difficulty and reason, with their intervals.

The denominators of rates are: flags an author received among the verdicts on first revisions of theirs; flags a
reviewer gave among all verdicts of theirs. Only closed rounds count. Machine-written triples are counted separately, in
neither a rate of people's triples nor a control chart.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from django.core.cache import cache

from apps.accounts.models import Project
from apps.accounts.selectors import policy
from apps.calibration.core.control_chart import Count, Group, Signal, groups_of, mean_of, signal_of
from apps.common.digests import digest_of
from apps.metrics.agreement.ratings import Rate
from apps.queries.enums import Difficulty
from apps.review.enums import RateSide, Reason
from apps.review.selectors import tracking
from apps.review.selectors.tracking import Dimension, FlagTally

CACHE_SECONDS = 3600
NONE_NAMED = "none named"
DENOMINATORS = {
    RateSide.AUTHOR: "flags received, as a share of first-round verdicts",
    RateSide.REVIEWER: "flags given, as a share of all verdicts",
}


class PersonRates(NamedTuple):
    """One person's rates. `n` counts all their reviews; while it is below the policy the person is calibrating."""

    person: int
    people: Rate
    machine: Rate
    is_calibrating: bool
    signal: Signal | None

    @property
    def n(self) -> int:
        return self.people.n + self.machine.n


class SideRates(NamedTuple):
    """Everybody on one side. `mean` is p̄ of the control charts, None where nothing was counted."""

    side: RateSide
    mean: float | None
    people: list[PersonRates]
    everybody: PersonRates
    counts: dict[int, list[Count]]
    least: int

    def groups(self, person: int) -> list[Group]:
        """The points of one person's control chart."""
        return [] if self.mean is None else groups_of(self.counts.get(person, []), self.mean, self.least)


class BreakdownRate(NamedTuple):
    """One value of a breakdown."""

    label: str
    people: Rate
    machine: Rate


def cached(project: Project, name: str, compute: Callable[[], Any], *parts: Any) -> Any:
    """The result of `compute`, cached until the project's next verdict. Names are refreshed after an hour."""
    key = f"tracker:{project.slug}:{digest_of([name, tracking.last_verdict(project), *parts])}"
    return cache.get_or_set(key, compute, CACHE_SECONDS)


def side_rates(project: Project, side: RateSide) -> SideRates:
    tallies = cached(project, "tallies", lambda: tracking.tallies(project, side), side.value)
    least, few = policy(project, "calibration_reviews"), policy(project, "calibrating_reviews")
    return rates_from(tallies, side, least=least, few=few)


def rates_from(tallies: Iterable[FlagTally], side: RateSide, *, least: int, few: int) -> SideRates:
    """Rates, charts and signals from the tallies of one side. No database."""
    people: dict[int, Counter[bool]] = {}
    flags: dict[int, Counter[bool]] = {}
    counts: dict[int, list[Count]] = {}
    for tally in tallies:
        people.setdefault(tally.person, Counter())[tally.is_machine] += tally.n
        flags.setdefault(tally.person, Counter())[tally.is_machine] += tally.flags
        if not tally.is_machine:
            counts.setdefault(tally.person, []).append(Count(tally.month, tally.flags, tally.n))
    mean = mean_of(count for person in counts.values() for count in person)
    rows = []
    for person, n in people.items():
        is_calibrating = n.total() < few
        groups = [] if mean is None or is_calibrating else groups_of(counts.get(person, []), mean, least)
        rows.append(
            PersonRates(
                person,
                Rate(flags[person][False], n[False]),
                Rate(flags[person][True], n[True]),
                is_calibrating,
                signal_of(groups),
            )
        )
    rows.sort(key=lambda row: (row.is_calibrating, -row.n, row.person))
    everybody = PersonRates(
        0,
        Rate(sum(row.people.hits for row in rows), sum(row.people.n for row in rows)),
        Rate(sum(row.machine.hits for row in rows), sum(row.machine.n for row in rows)),
        is_calibrating=False,
        signal=None,
    )
    return SideRates(side, mean, rows, everybody, counts, least)


def breakdown(project: Project, side: RateSide, by: Dimension, person: int | None = None) -> list[BreakdownRate]:
    """Rates by the values of one dimension, in their order."""
    shares = tracking.shares(project, side, by, person)  # not cached: a triple's properties change without a verdict
    labels = dict(Difficulty.choices) if by is Dimension.DIFFICULTY else {}
    by_value: dict[str, dict[bool, Rate]] = {}
    for share in shares:
        by_value.setdefault(share.value, {})[share.is_machine] = Rate(share.flags, share.n)
    nothing = Rate(0, 0)
    return [
        BreakdownRate(str(labels.get(value, value)) or NONE_NAMED, rates.get(False, nothing), rates.get(True, nothing))
        for value, rates in by_value.items()
    ]


def by_reason(project: Project, side: RateSide, of: PersonRates, person: int | None = None) -> list[BreakdownRate]:
    """How often each reason was named among the reviews of `of`. One flag may name several: no sum to 1."""
    named = cached(project, "reasons", lambda: tracking.reasons_named(project, side, person), side.value, person)
    return [
        BreakdownRate(
            str(reason.label),
            Rate(named[reason.value, False], of.people.n),
            Rate(named[reason.value, True], of.machine.n),
        )
        for reason in Reason
    ]
