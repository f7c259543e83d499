"""The plan of a round: seats for each pair of a pool, shares, remits, pilot, repeated pairs and checks. No database.

Seeded numbers and orders are the same on every machine and every database.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from apps.judging.core.resolution import ResolutionRule
from apps.queries.core.stratified import Candidate, draw

Item = TypeVar("Item")

PRIME = 2_147_483_647
_TOP = 1 << 63


def seeded_number(seed: int, *parts: str | int) -> int:
    """A hash of the parts under the seed, a whole number in [0, 2**63).

    Parts are length-prefixed, so ("ab", "c") and ("a", "bc") differ.
    """
    digest = blake2b(str(seed).encode(), digest_size=8)
    for part in parts:
        data = str(part).encode()
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return int.from_bytes(digest.digest(), "big") % _TOP


def shuffled(items: Iterable[Item], *, seed: int, who: str | int, key: Callable[[Item], str | int]) -> list[Item]:
    """Items in this annotator's order: seeded, different for everyone, the same every time."""
    return sorted(items, key=lambda item: (seeded_number(seed, who, key(item)), key(item)))


class OwnOrder(NamedTuple):
    """A person's order of the pairs of a query, which the database can compute as well.

    `rank` squares a line over a prime field, so it looks random, is the same every time, and never leaves 63 bits.
    """

    factor: int
    shift: int

    def rank(self, entry: int) -> int:
        """The rank of a pair; of equal ones the lower key comes first."""
        line = ((entry % PRIME) * self.factor + self.shift) % PRIME
        return line * line % PRIME


def own_order(seed: int, who: int) -> OwnOrder:
    """This person's order under the seed."""
    factor = 1 + seeded_number(seed, "factor", who) % (PRIME - 1)
    return OwnOrder(factor, seeded_number(seed, "shift", who) % PRIME)


def place_in_order(query: int, entry: int, reached: int, own: OwnOrder) -> tuple[bool, int, int, int]:
    """A key to sort a person's pairs by: queries as they reach them, going round, and within one their own order."""
    return query <= reached, query, own.rank(entry), entry


Remit = Mapping[str, list[str]]

PROPERTIES = ("domain", "query_type", "difficulty", "source")


def remit_from(choices: Iterable[str]) -> dict[str, list[str]] | None:
    """Parse "domain:security" and the like; None for no choice, which means every query."""
    remit: dict[str, list[str]] = {}
    for choice in choices:
        name, _, value = choice.partition(":")
        if name not in PROPERTIES or not value:
            raise ValueError(f"{choice!r} is no property of a query with its value")
        remit.setdefault(name, []).append(value)
    return remit or None


def fits(remit: Remit | None, facts: Mapping[str, str]) -> bool:
    """Whether a query with these properties is within a remit: one of the values of each property it names."""
    return all(facts.get(name) in allowed for name, allowed in (remit or {}).items())


MOST_SLACK = 12


class Shares:
    """Assigns pairs one after another: each to different people, in even shares, in which everybody meets everybody.

    The pairs of a query go to the same people as far as that is even: reading a query once serves all of its pairs. How
    far shares may differ on the way shrinks with what is left, to nothing. Between people who are equally far, those
    who share fewer pairs with the others of the pair come first, and then a hash under the seed decides. Where not
    everybody may judge everything, the shares are as even as that allows.
    """

    def __init__(
        self, people: Collection[int], *, seed: int, left: int, before: Mapping[int, int] | None = None
    ) -> None:
        """`left` judgements are to be assigned. `before` is what people have already, where a job goes on."""
        self.seed, self.left, self.people = seed, left, len(people)
        self.loads = {person: (before or {}).get(person, 0) for person in people}
        self.together: Counter[tuple[int, int]] = Counter()
        self.query, self.of_query = 0, set[int]()

    def judges_of(self, query: int, entry: int, number: int, able: Collection[int]) -> list[int]:
        """The `number` people who judge this pair, among those who are able to. Raises ValueError for too few."""
        if number > len(able):
            raise ValueError(f"{number} judges of a pair, and {len(able)} people who may judge it")
        if query != self.query:
            self.query, self.of_query = query, set()
        slack = min(MOST_SLACK, self.left // (2 * self.people * number))
        least = min(self.loads[person] for person in able)
        chosen: list[int] = []
        while len(chosen) < number:
            chosen.append(
                min(
                    (person for person in able if person not in chosen),
                    key=lambda person: self._rank(person, entry, chosen, least, slack),
                )
            )
        for person in chosen:
            self.loads[person] += 1
            self.together.update((person, other) for other in chosen if other != person)
        self.of_query.update(chosen)
        self.left -= number
        return chosen

    def _rank(
        self, person: int, entry: int, chosen: Collection[int], least: int, slack: int
    ) -> tuple[bool, int, int, int, int]:
        ahead = self.loads[person] - least
        met = sum(self.together[person, other] for other in chosen)
        is_further = ahead > slack or person not in self.of_query
        drawn = seeded_number(self.seed, "share", person, self.query, entry)
        return is_further, ahead // (slack + 1), met, ahead, drawn


REPEATED_AFTER = 20
TOP = 1 << 63
USUAL_BAR = 0.6
PILOT_TRIALS = 20
"""Samples of which the pilot is the best: few, since a form previews it at each change."""
LARGEST_SEED = 2**31


class Preview(NamedTuple):
    """How much work a plan means, before anybody is assigned pairs.

    `again` is an expected number, since it depends on who judges what; `extra` is the most that low agreement can add.
    `kept` pairs are assigned to nobody: the same text was judged or, for `being_judged` of them, still is to be.
    """

    pairs: int
    repeated: int
    judgements: int
    pilot: int = 0
    again: int = 0
    checks: int = 0
    extra: int = 0
    kept: int = 0
    being_judged: int = 0

    @property
    def every(self) -> int:
        """All pairs that the pool has for the round, with those that keep their grade."""
        return self.pairs + self.kept

    @property
    def judged(self) -> int:
        """The pairs that were judged on the same text."""
        return self.kept - self.being_judged


@dataclass(frozen=True, slots=True)
class Plan:
    """A share of the pairs is judged `judges` times, the others once; all else comes in addition.

    `overlap` is in 0..1. The usual plan is 20 % twice; an overlap of 1 is "`judges` for all". `again` is the share of a
    person's pairs that they judge a second time, blindly. The pairs of the first `pilot` queries are judged by
    everybody, before any other; the rest opens once their ordinal α reaches `pilot_bar`. While the α of a query is
    under `extra_bar`, its repeated pairs get one more judge, up to `most_judges`. `checks` pairs with a known grade are
    shown to everybody. `only_new` leaves out what an earlier round of the pool has planned. Unless `judge_again`, a
    pair that was judged already on the same text, in whichever pool or snapshot, is assigned to nobody. `rule` is what
    may settle near grades in one go (see `resolution.ResolutionRule`). With `reconcile` the judges of a pair settle
    their difference themselves first (see `differences`), and so nobody is added to it. `questions` is the key of a
    frozen query set: only the pairs of its queries are planned.
    """

    overlap: float = 0.2
    judges: int = 2
    seed: int = 0
    again: float = 0.0
    pilot: int = 0
    pilot_bar: float = USUAL_BAR
    extra_bar: float | None = None
    most_judges: int = 3
    checks: int = 0
    only_new: bool = False
    judge_again: bool = False
    rule: str = ResolutionRule.MAJORITY
    reconcile: bool = False
    questions: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.overlap <= 1:
            raise ValueError("overlap is a share of the pairs: 0 to 1")
        if self.judges < 1:
            raise ValueError("a pair needs at least one judge")
        if not 0 <= self.again <= 1:
            raise ValueError("what comes back is a share of a person's pairs: 0 to 1")
        if min(self.pilot, self.checks) < 0:
            raise ValueError("a pilot and checks are counted from 0 up")
        if not all(-1 <= bar <= 1 for bar in (self.pilot_bar, self.extra_bar or 0)):
            raise ValueError("a bar of agreement must be between -1 and 1")
        if self.reconcile and self.extra_bar is not None:
            raise ValueError("judges who differ reconcile, or one more is added: choose one of them")
        if self.rule not in set(ResolutionRule):
            raise ValueError(f"{self.rule!r} is no rule that grades are settled by")

    def to_json(self) -> dict[str, Any]:
        """Everything but overlap, judges and seed, which are columns of a round."""
        return {name: getattr(self, name) for name in REST}

    @classmethod
    def from_json(cls, rest: Mapping[str, Any] | None, *, overlap: float, judges: int, seed: int) -> "Plan":
        """Load a stored plan; missing values are the defaults.

        Plans from before grades were kept assign every pair, judged or not.
        """
        values = {"judge_again": True, **{name: rest[name] for name in REST if rest and name in rest}}
        return cls(overlap=overlap, judges=judges, seed=seed, **values)

    def repeated(self, pairs: int) -> int:
        """How many pairs get `judges` judgements: the share of all, rounded half up."""
        return int(self.overlap * pairs + 0.5) if self.judges > 1 else 0

    def preview(self, pairs: int, *, people: int = 0, pilot_pairs: int = 0, pilot_seats: int = 0) -> Preview:
        """The number of judgements for `pairs` pairs and so many people, computed without reading the pairs.

        `pilot_pairs` of them belong to the pilot's queries, and have `pilot_seats` seats together.
        """
        rest = pairs - pilot_pairs
        repeated = self.repeated(rest)
        first = rest + repeated * (self.judges - 1) + pilot_seats
        again = int(self.again * first + 0.5)
        checks = self.checks * people
        extra = repeated * max(0, min(self.most_judges, people) - self.judges) if self.extra_bar is not None else 0
        return Preview(pairs, repeated, first + again + checks, pilot_pairs, again, checks, extra)

    def seats(self, pairs: Iterable[tuple[str, str]], pilot: Mapping[str, int] | None = None) -> list[int]:
        """The number of seats of each (query id, block digest), in the order given.

        `pilot` maps each query of the pilot to the number of its judges; its pairs get that many. Of the others, the
        pairs with the lowest hash under the seed are the repeated ones, so the choice depends on ids and seed alone,
        not on the order or the machine. Raises ValueError for a duplicate pair.
        """
        first = pilot or {}
        hashes = [(seeded_number(self.seed, query, block), query, block) for query, block in pairs]
        ranked = sorted(entry for entry in hashes if entry[1] not in first)
        if any(one == other for one, other in pairwise(ranked)):
            raise ValueError("a pair is listed twice")
        repeated = set(ranked[: self.repeated(len(ranked))])
        return [first.get(entry[1]) or (self.judges if entry in repeated else 1) for entry in hashes]

    def pilot_of(self, queries: Iterable[Candidate]) -> list[str]:
        """The queries of the pilot: a sample by stratum under the seed, so that each large kind has its share."""
        return draw(queries, self.pilot, seed=f"{self.seed} pilot", trials=PILOT_TRIALS)

    def is_repeated(self, person: int, entry: int) -> bool:
        """Whether this person judges this pair a second time."""
        return seeded_number(self.seed, "again", person, entry) < self.again * TOP

    def repeated_after(self, judged: int, person: int, entry: int) -> int:
        """After how many of their judgements a person judges a pair again, whose first grade was their `judged`-th.

        20 to 39 of their pairs are between the two.
        """
        return judged + REPEATED_AFTER + seeded_number(self.seed, "when", person, entry) % REPEATED_AFTER

    def checks_after(self, entries: Iterable[int], person: int, share: int) -> dict[int, int]:
        """The checks spread over a person's `share` pairs: for each, after how many of their pairs it is due."""
        own = sorted(entries, key=lambda entry: (seeded_number(self.seed, "check", person, entry), entry))
        at = {entry: place + seeded_number(self.seed, "when", person, entry) / TOP for place, entry in enumerate(own)}
        return {entry: int(place * share / len(own)) for entry, place in at.items()}

    def wants_extra(self, alpha: float | None, judges: int) -> bool:
        """Whether a pair with so many judges gets one more, in a query of this ordinal α.

        False where α is undefined: unknown agreement is not low.
        """
        return self.extra_bar is not None and alpha is not None and alpha < self.extra_bar and judges < self.most_judges

    def passes(self, alpha: float | None) -> bool:
        """Whether a pilot of this ordinal α opens the rest of the round."""
        return alpha is not None and alpha >= self.pilot_bar - 1e-9


FIRST_NUMBER = {1: 0, 2: 10_000, 0: 20_000}
REST = (
    "again", "pilot", "pilot_bar", "extra_bar", "most_judges", "checks", "only_new", "judge_again", "rule", "reconcile",
    "questions",
)  # fmt: skip


def seat_number(pass_number: int, place: int) -> int:
    """The number of a seat within its pair: each pass has its own range, so that none depends on another's numbers."""
    return FIRST_NUMBER[pass_number] + place
