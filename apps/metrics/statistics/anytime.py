"""Evidence for a difference that stays right however often it is looked at: an e-process.

Someone who believes in no difference would take any fair bet against it. So bet, query by query, and see what becomes
of 1: of a bet λ on differences d between −1 and 1, after n queries the product of 1 + λ·d. If the mean difference is 0,
whatever the distribution, no bet grows on average, and the chance that the capital ever reaches 20 is at most 5 %
(Ville 1939). The evidence is the mean capital of the same few bets on either side. Waudby-Smith and Ramdas, "Estimating
means of bounded random variables by betting", JRSS B 86, 2024; Shafer, "Testing by betting", JRSS A 184, 2021.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from apps.metrics.columns import Floats, Ints
from apps.metrics.estimate import QUERIES, Items
from apps.metrics.statistics.significance import EQUAL, LEVEL, Correction

BETS = (0.25, 0.5, 0.99)
"""Small bets find small differences among much scatter; no larger ones could pay all that they may lose."""
NEEDED = 1 / LEVEL
GREATEST = 1e300
"""Evidence beyond this is given as this: a float ends soon after."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The evidence for one of a family of differences after each query, in an order that knows no value.

    `alone[i]` is that of this difference after i + 1 queries, `corrected[i]` the strongest so far, corrected over the
    family as p is, which is 1 divided by evidence.
    """

    alone: Floats
    corrected: Floats

    @property
    def value(self) -> float:
        """The evidence of all queries."""
        return float(self.alone[-1])

    @property
    def strongest(self) -> float:
        """The strongest at any number of queries, 1 before the first."""
        return max(1.0, float(self.alone.max()))

    @property
    def strongest_words(self) -> str:
        return evidence_words(self.strongest)

    @property
    def strongest_corrected(self) -> float:
        return float(self.corrected[-1])

    @property
    def corrected_words(self) -> str:
        return evidence_words(self.strongest_corrected)

    @property
    def settled_after(self) -> int | None:
        """After how many queries it was settled for good, over the whole family; None where it is not."""
        reached = self.corrected >= NEEDED
        return int(reached.argmax()) + 1 if reached.any() else None

    @property
    def is_settled(self) -> bool:
        return self.settled_after is not None

    @property
    def as_json(self) -> dict[str, Any]:
        return {
            "evidence": self.value,
            "strongest": self.strongest,
            "strongest_holm": self.strongest_corrected,
            "settled_after": self.settled_after,
            "is_settled": self.is_settled,
        }

    def words(self, over: str = "", items: Items = QUERIES, *, is_sure: bool = False) -> str:
        """For whom the verdict beside it decides. `over` says what the evidence is corrected over, as `over_words`.

        `is_sure`: interval and p settle the difference, for whoever looks once.
        """
        often = f"hoever looks again and again while {items.many} are added"
        state = f"the evidence{over} {self.state_words(items)}"
        if self.is_settled and is_sure:
            return f"This holds for whoever looks once, and for w{often}: {state}."
        if self.is_settled:
            return f"W{often} may decide: {state}."
        once = f"Whoever looks once, at a number of {items.many} set before, may decide by this. " if is_sure else ""
        return f"{once}W{often} cannot decide yet: {state}."

    def state_words(self, items: Items = QUERIES) -> str:
        """How far it is, after its subject: `is 3.2, and 20 is needed`, `reached 20 after 44 of 60 queries`."""
        if self.settled_after is not None:
            return f"reached {NEEDED:g} after {self.settled_after:,} of {items.counted(len(self.corrected))}"
        return f"is {self.corrected_words}, and {NEEDED:g} is needed"


def fixed_words(items: Items = QUERIES) -> str:
    """What the interval and p beside the evidence are good for; the figure is that of `benchmarks/coverage.py`."""
    return f"Interval and p are right for one look, at a number of {items.many} set before. {again_words(items)}"


def again_words(items: Items = QUERIES) -> str:
    """What interval and p are worth for whoever looks again and again."""
    again = f"Whoever looks after every second {items.one} from 10 to 100, and stops at the first p below {LEVEL:g}"
    simulated = f"simulated, with values that differ on every {items.one}"
    return f"{again}, calls about 26 of 100 pairs different that are equally good ({simulated})."


def evidence_words(evidence: float) -> str:
    """`3.2`, `0.08`, `1,250`, `over a million`: rounded down, so that 19.99 is not called 20."""
    if evidence > 1e6:
        return "over a million"
    places = 0 if evidence >= 100 else 1 if evidence >= 1 else 2
    return f"{math.floor(evidence * 10**places) / 10**places:,.{places}f}"


def evidence_of(
    change: Floats,
    order: Ints | None = None,
    originals: Ints | None = None,
    correction: Correction = Correction.HOLM,
) -> list[Evidence]:
    """The evidence against a mean of 0 of each column of a (queries, columns) array of differences between −1 and 1.

    `order` has the rows as the queries came, which no value may have decided: as they stand where it is None. It is
    two-sided and draws nothing. With `originals`, a number for each row, the variants of a question count once, by
    their mean, where the first of them came. Raises ValueError without rows, and for a difference that is no number or
    beyond 1.
    """
    if len(change) == 0 or not (np.abs(change) <= 1 + EQUAL).all():
        raise ValueError("Evidence needs at least one query, and differences between -1 and 1.")
    came = change if order is None else change[order]
    if originals is not None:
        came = _by_question(came, originals if order is None else originals[order])
    alone = np.full(came.shape, -np.inf)
    for bet in (*BETS, *(-bet for bet in BETS)):
        np.logaddexp(alone, np.cumsum(np.log1p(bet * came), axis=0), out=alone)
    alone -= np.log(2 * len(BETS))
    strongest = np.maximum.accumulate(np.maximum(alone, 0.0), axis=0)
    highest = np.log(GREATEST)
    return [
        Evidence(np.exp(np.minimum(own, highest)), np.exp(np.minimum(corrected, highest)))
        for own, corrected in zip(alone.T, _corrected(strongest, correction).T, strict=True)
    ]


def _by_question(came: Floats, originals: Ints) -> Floats:
    """A row for each question, in the order of their first variants: the mean of all of them."""
    _, first, member, size = np.unique(originals, return_index=True, return_inverse=True, return_counts=True)
    means = np.column_stack([np.bincount(member, weights=column) / size for column in came.T])
    return means[np.argsort(first)]


def _corrected(strongest: Floats, correction: Correction) -> Floats:
    """Logarithms of evidence, corrected in each row over its columns, strongest first.

    By Holm each is divided by how many are left of the list, and is at most the one before it; by Benjamini and
    Hochberg by their number over its place, and is at least the one after it.
    """
    places = np.argsort(-strongest, axis=1, kind="stable")
    count = strongest.shape[1]
    sorted_down = np.take_along_axis(strongest, places, axis=1)
    if correction == Correction.HOLM:
        reached = np.minimum.accumulate(sorted_down - np.log(np.arange(count, 0, -1)), axis=1)
    else:
        shares = np.log(np.arange(1, count + 1) / count)
        reached = np.maximum.accumulate((sorted_down + shares)[:, ::-1], axis=1)[:, ::-1]
    corrected = np.empty_like(strongest)
    np.put_along_axis(corrected, places, reached, axis=1)
    return corrected


def joining_order(ids: Sequence[str], joined: Mapping[str, int]) -> Ints:
    """Row numbers in the order in which evidence counts queries: by the version they joined in, then a hash of the id.

    `joined` has the version of each id. So no value decides, and what joins later comes later.
    """
    keys = [(joined[one], hashlib.sha256(one.encode()).digest()) for one in ids]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
