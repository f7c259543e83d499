"""How scores and ranks change without the grades that one family of systems alone brought in.

A system whose results were judged has an advantage over one whose results were not. To measure it, remove the grades of
the pairs that this system alone brought in, and score every run again (Zobel, SIGIR 1998; Buckley and Voorhees, SIGIR
2004). Variants of one system find the same, so leaving out one of them would remove hardly anything: systems of a
family are left out together (Büttcher, Clarke, Yeung and Soboroff, SIGIR 2007). Knows no database.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number
from apps.metrics.columns import Floats, Ints, Judged, facets_among, pair_keys
from apps.metrics.estimate import interval_of
from apps.metrics.statistics.intervals import Interval, difference_interval
from apps.metrics.statistics.places import EQUAL_PLACES, kendall_taus
from apps.metrics.statistics.rank_similarity import tau_ap
from apps.metrics.statistics.significance import DEFAULT_CONFIDENCE, change_of, mean_of

SMALLEST_SHOWN = 0.0005

# In place of a system: none is known to have found the pair; several found it; it was sampled at random.
UNKNOWN, SEVERAL, BY_CHANCE = -1, -2, 0


class Finds(NamedTuple):
    """Which system found which pair, one row for each find, in any order. `BY_CHANCE` is never left out."""

    query: Ints
    block: Ints
    system: Ints

    def by_family(self, families: Mapping[int, int]) -> Finds:
        """The finds of whole families; a system that is in none stays by itself."""
        own = [families.get(system, system) for system in self.system.tolist()]
        return self._replace(system=np.array(own, dtype=np.int64))


def sole_finders(judged: Judged, finds: Finds) -> Ints:
    """For each grade, the only system that found its pair, else SEVERAL or UNKNOWN."""
    finders = np.full(len(judged.query), UNKNOWN, dtype=np.int64)
    keys = pair_keys(finds.query, finds.block)
    if not len(keys):
        return finders
    order = np.argsort(keys, kind="stable")
    keys, system = keys[order], finds.system[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    first, last = np.minimum.reduceat(system, starts), np.maximum.reduceat(system, starts)
    alone = np.where(first == last, first, SEVERAL)
    keys = keys[starts]
    wanted = pair_keys(judged.query, judged.block)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known = keys[places] == wanted
    finders[known] = alone[places[known]]
    return finders


def without(judged: Judged, gone: np.ndarray) -> Judged:
    """The judgements without the marked ones. All queries stay, even without a grade, so that means are comparable."""
    rest = ~gone
    pairs = judged.query[rest], judged.block[rest]
    facets = facets_among(judged.facets, *pairs)
    return replace(judged, query=pairs[0], block=pairs[1], grade=judged.grade[rest], facets=facets)


def means_of(values: Floats) -> list[float | None]:
    """The mean of each column of (queries, measures). None for no query."""
    return [mean_of(column[~np.isnan(column)]) for column in values.T]


def change_intervals(before: Floats, after: Floats) -> list[Interval | None]:
    """The interval of each measure's mean change, from values of the shape (queries, measures)."""
    change = change_of(before, after)
    return [difference_interval(column[~np.isnan(column)], DEFAULT_CONFIDENCE) for column in change.T]


def ranks(means: Sequence[float | None]) -> list[int]:
    """The rank of each mean, 1 for the best; equal means share the better rank, None is last."""
    values = _comparable(means)
    return [1 + int((values > value).sum()) for value in values]


def kendall_tau(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Kendall's τ-b of two orders of the same runs, −1 to 1; None with fewer than two runs or when all are tied."""
    (tau,) = kendall_taus(_comparable(before)[None], _comparable(after)[None]).tolist()
    return None if math.isnan(tau) else tau


def _comparable(means: Sequence[float | None]) -> Floats:
    """Rounded, so that means that differ only by the order of summation are equal."""
    return np.round([-1.0 if mean is None else mean for mean in means], EQUAL_PLACES)


class SystemMeans(NamedTuple):
    """A run under all judgements: one mean for each measure. `system` is the key of its family.

    `changes` are the intervals of its changes without its own family, by measure; empty in reports from before.
    """

    tag: str
    system: int
    means: list[float | None]
    changes: Sequence[Interval | None] = ()


class LeftOutSystem(NamedTuple):
    """The scores without the grades that one family alone brought in; `means` has a row for each run."""

    system: int
    name: str
    pairs: int
    relevant: int
    means: list[list[float | None]]


class RankMove(NamedTuple):
    """How one measure of a run changes when its own family is left out, with the interval of the change."""

    left_out: LeftOutSystem
    tag: str
    before: float | None
    after: float | None
    rank_before: int
    rank_after: int
    others_most: float
    tau: float | None
    tau_ap: float | None = None
    interval: Interval | None = None

    @property
    def change(self) -> float:
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def places(self) -> int:
        """How many places the run falls; negative when it rises."""
        return self.rank_after - self.rank_before


def moves(runs: Sequence[SystemMeans], left_out: Sequence[LeftOutSystem], measure: int) -> list[RankMove]:
    """One move for each run whose family was left out, in the order of the families, then of the runs."""
    before = [run.means[measure] for run in runs]
    old = ranks(before)
    rows = []
    for out in left_out:
        after = [row[measure] for row in out.means]
        new = ranks(after)
        others = [place for place, run in enumerate(runs) if run.system != out.system]
        kept, changed = ([means[place] for place in others] for means in (before, after))
        taus = kendall_tau(kept, changed), tau_ap(_comparable(kept), _comparable(changed))
        changes = [(after[place] or 0.0) - (before[place] or 0.0) for place in others]
        most = max(changes, key=abs, default=0.0)
        for place, run in enumerate(runs):
            if run.system == out.system:
                low, high = (run.changes[measure] if run.changes else None) or (None, None)
                own = (before[place], after[place], old[place], new[place])
                rows.append(RankMove(out, run.tag, *own, most, *taus, interval_of(low, high)))
    return rows


def verdict(rank_moves: Sequence[RankMove], measure: str) -> str:
    """The leading sentence of the report."""
    if len(rank_moves) < 2:
        return "One run has nothing to swap ranks with. Start a new report with two runs or more."
    if not any(move.left_out.pairs for move in rank_moves):
        return "No graded pair was found by one family alone, so leaving one out removes no grade."
    furthest = max(abs(move.places) for move in rank_moves)
    worst = min(rank_moves, key=lambda move: move.change)
    if furthest == 0:
        words = "No run changes its rank when its own family is left out"
    else:
        words = f"No run moves more than {_places(furthest)} when its own family is left out"
    if worst.change > -SMALLEST_SHOWN:
        return f"{words}, and none scores lower."
    return f"{words}; leaving out {worst.left_out.name} costs it {number(-worst.change)} {measure}."


def _places(places: int) -> str:
    return "one place" if places == 1 else f"{places} places"
