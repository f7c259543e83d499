"""What the grades owe to each system that was pooled: leave one out, and what nobody judged.

A system whose results were judged has an edge over one whose results were not. How large it is shows when the grades
of the pairs that it alone brought in are taken away and everything is scored again (Zobel, SIGIR 1998; Buckley and
Voorhees, SIGIR 2004). Knows no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apps.common.text.wording import number
from apps.metrics.columns import BlockIds, Floats, Ints, Judged, Ranked, pair_keys
from apps.metrics.measures import Measure, measure_run
from apps.metrics.statistics.significance import mean_of

EQUAL_PLACES = 12
SMALLEST_SHOWN = 0.0005

# In place of a system: nobody is known to have found the pair; several systems did; it was drawn at random.
UNKNOWN, SEVERAL, BY_CHANCE = -1, -2, 0


class Finds(NamedTuple):
    """Who brought which pair in, one row a finding, in any order. `BY_CHANCE` is a finder that is never left out."""

    query: Ints
    block: Ints
    system: Ints


def sole_finders(judged: Judged, finds: Finds) -> Ints:
    """For each grade the system that alone brought its pair in, else SEVERAL or UNKNOWN."""
    found = np.full(len(judged.query), UNKNOWN, dtype=np.int64)
    keys = pair_keys(finds.query, finds.block)
    if not len(keys):
        return found
    order = np.argsort(keys, kind="stable")
    keys, system = keys[order], finds.system[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    first, last = np.minimum.reduceat(system, starts), np.maximum.reduceat(system, starts)
    alone = np.where(first == last, first, SEVERAL)
    keys = keys[starts]
    wanted = pair_keys(judged.query, judged.block)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known = keys[places] == wanted
    found[known] = alone[places[known]]
    return found


def without(judged: Judged, gone: np.ndarray) -> Judged:
    """The judgements without those marked. Every query stays, with or without a grade, so that means compare."""
    kept = ~gone
    return Judged(judged.queries, judged.query[kept], judged.block[kept], judged.grade[kept])


def means_under(
    grounds: Sequence[Judged], measures: Sequence[Measure], ranked: Ranked, block_ids: BlockIds
) -> list[list[float | None]]:
    """The means of one run, a row for each of the grounds, a column a measure. A mean over no query is None."""
    rows = []
    for ground in grounds:
        values = measure_run(measures, ground, ranked, block_ids)
        rows.append([mean_of(column[~np.isnan(column)]) for column in values.T])
    return rows


def ranks(means: Sequence[float | None]) -> list[int]:
    """The rank of each mean from 1, the best first; equal ones share the better rank, None comes last."""
    values = _comparable(means)
    return [1 + int((values > value).sum()) for value in values]


def kendall_tau(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Kendall's τ-b of two orders of the same runs, −1 to 1; None when there are fewer than two or all are tied."""
    left, right = _comparable(before), _comparable(after)
    one, other = np.triu_indices(len(left), 1)
    first, second = np.sign(left[one] - left[other]), np.sign(right[one] - right[other])
    pairs = float(np.sqrt((first != 0).sum() * (second != 0).sum()))
    return float((first * second).sum() / pairs) if pairs else None


def _comparable(means: Sequence[float | None]) -> Floats:
    """Rounded, so that what differs by the order of a sum is equal."""
    return np.round([-1.0 if mean is None else mean for mean in means], EQUAL_PLACES)


class SystemMeans(NamedTuple):
    """A run under all judgements: its means, one a measure. `system` is the key of what made it."""

    tag: str
    system: int
    means: list[float | None]


class LeftOutSystem(NamedTuple):
    """A system without the grades that it alone brought in; `means` has a row a run and a column a measure."""

    system: int
    name: str
    pairs: int
    relevant: int
    means: list[list[float | None]]


class RankMove(NamedTuple):
    """What leaving its own system out does to a run, by one measure."""

    left_out: LeftOutSystem
    tag: str
    before: float | None
    after: float | None
    rank_before: int
    rank_after: int
    others_most: float
    tau: float | None

    @property
    def change(self) -> float:
        return (self.after or 0.0) - (self.before or 0.0)

    @property
    def places(self) -> int:
        """How far it falls; negative when it rises."""
        return self.rank_after - self.rank_before


def moves(runs: Sequence[SystemMeans], left_out: Sequence[LeftOutSystem], measure: int) -> list[RankMove]:
    """A line for each run whose system was left out, by the order of the systems and then of the runs."""
    before = [run.means[measure] for run in runs]
    old = ranks(before)
    found = []
    for out in left_out:
        after = [row[measure] for row in out.means]
        new = ranks(after)
        others = [place for place, run in enumerate(runs) if run.system != out.system]
        tau = kendall_tau([before[place] for place in others], [after[place] for place in others])
        changes = [(after[place] or 0.0) - (before[place] or 0.0) for place in others]
        most = max(changes, key=abs, default=0.0)
        for place, run in enumerate(runs):
            if run.system == out.system:
                found.append(RankMove(out, run.tag, before[place], after[place], old[place], new[place], most, tau))
    return found


def verdict(found: Sequence[RankMove], measure: str) -> str:
    """The sentence at the head of the report."""
    if len(found) < 2:
        return "One run has nothing to swap ranks with. Start a new report with two runs or more."
    if not any(move.left_out.pairs for move in found):
        return "No graded pair was found by only one system, so leaving one out removes no grade."
    furthest = max(abs(move.places) for move in found)
    worst = min(found, key=lambda move: move.change)
    if furthest == 0:
        said = "No run changes its rank when its own system is left out"
    else:
        said = f"No run moves more than {_places(furthest)} when its own system is left out"
    if worst.change > -SMALLEST_SHOWN:
        return f"{said}, and none scores lower."
    return f"{said}; leaving out {worst.left_out.name} costs it {number(-worst.change)} {measure}."


def _places(places: int) -> str:
    return "one place" if places == 1 else f"{places} places"
