"""The balance of a set of queries compared with the team's targets. Pure: counts in, shares out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

UNNAMED = ""


class StratumShare(NamedTuple):
    """One value of a stratum. `share` is of all queries; `short` is how many more the target requires."""

    value: str
    number: int
    share: float
    target: float | None = None
    short: int = 0


def shares(
    counts: Mapping[str, int],
    targets: Mapping[str, float] | None = None,
    order: Iterable[str] = (),
) -> list[StratumShare]:
    """The values with their shares: those of `order` first, then by size, and the empty value last.

    Targets are shares of the present set, so `short` is how many are missing now; values that have a target and no
    query are listed with 0. No queries: every share is 0.
    """
    targets = targets or {}
    total = sum(counts.values())
    known = [value for value in order if value in counts or value in targets]
    rest = sorted((set(counts) | set(targets)) - set(known) - {UNNAMED}, key=lambda v: (-counts.get(v, 0), v))
    values = known + rest + ([UNNAMED] if counts.get(UNNAMED) else [])
    result = []
    for value in values:
        number, target = counts.get(value, 0), targets.get(value)
        short = max(0, round((target or 0) * total) - number)
        result.append(StratumShare(value, number, number / total if total else 0.0, target, short))
    return result


def tally(rows: Iterable[tuple], place: int) -> Counter[str]:
    """Sums of the last column of rows, by the value in column `place`."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts[row[place]] += row[-1]
    return counts


def crossed(rows: Iterable[tuple], row_place: int, column_place: int) -> Counter[tuple[str, str]]:
    """Sums of the last column of rows, by the values in two columns."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        counts[row[row_place], row[column_place]] += row[-1]
    return counts
