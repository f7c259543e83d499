"""What is known of blocks and queries beyond grades: the attributes, times and domains that some measures read.

Two CSV files bring it in, plain or gzipped; a name that ends in `.tsv` or `.tsv.gz` is divided by tabs:

- blocks: a column `block`, a column `time` where there are times, and any other columns, each an attribute
  (`type`, `source`, …);
- queries: a column `query`, and `time` and `domain` where they are known.

A time is a date or a date with a time of day as ISO 8601 writes it, UTC unless it names its zone. An empty cell says
that the value is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.errors import InputError
from apps.common.inputs import ErrorList
from apps.common.tabular import open_source, read_csv
from apps.evaluation.columns import Floats, Ints
from apps.evaluation.files.vocabulary import Vocabulary

BLOCKS = "blocks"
TIMES = "times"
UNKNOWN = -1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class Attribute(NamedTuple):
    """One attribute of blocks: for each block number the place of its value in `values`, or -1.

    Blocks numbered after the file was read are beyond the end of `codes`; nothing is known of them.
    """

    codes: Ints
    values: tuple[str, ...]

    def of(self, blocks: Ints) -> Ints:
        """The codes of these blocks, -1 where the value is not known."""
        if not len(self.codes):
            return np.full(len(blocks), UNKNOWN)
        found = self.codes[np.minimum(blocks, len(self.codes) - 1)]
        return np.where(blocks < len(self.codes), found, UNKNOWN)


class BlockAttributes(NamedTuple):
    """The attributes of blocks by name, and their times in days since 1970 (NaN: not known; None: no such column)."""

    by_name: dict[str, Attribute]
    times: Floats | None

    def times_of(self, blocks: Ints) -> Floats:
        """The times of these blocks, NaN where they are not known."""
        if self.times is None or not len(self.times):
            return np.full(len(blocks), np.nan)
        found = self.times[np.minimum(blocks, len(self.times) - 1)]
        return np.where(blocks < len(self.times), found, np.nan)


class QueryAttributes(NamedTuple):
    """Times of the judged queries in days since 1970 (NaN: not known), and their domains ("": not known)."""

    times: Floats
    domains: tuple[str, ...]


class Attributes(NamedTuple):
    """What is known beyond grades; None where no file was given."""

    blocks: BlockAttributes | None = None
    queries: QueryAttributes | None = None

    @property
    def given(self) -> frozenset[str]:
        """Which needs of measures are met: attributes of blocks, and times of both blocks and queries."""
        found = set()
        if self.blocks is not None:
            found.add(BLOCKS)
            if self.queries is not None and self.blocks.times is not None:
                found.add(TIMES)
        return frozenset(found)


class Row(NamedTuple):
    """A row of a file whose key column holds an id; `cells` are stripped."""

    line: int
    id: str
    cells: dict[str, str]


def load_block_attributes(path: str | Path, blocks: Vocabulary) -> BlockAttributes:
    """The attributes in a file of blocks; ids that `blocks` does not know yet are numbered.

    Raises InputError for a file without rows and for the first row that cannot be read: a block without id or
    named twice, a time that is none.
    """
    rows = rows_of(path, "block")
    numbers = blocks.numbers_of([row.id for row in rows])
    names = [name for name in rows[0].cells if name not in {"block", "time"}]
    return BlockAttributes(
        by_name={name: _attribute([row.cells[name] for row in rows], numbers) for name in names},
        times=_scattered(_times_of(path, rows), numbers, np.nan) if "time" in rows[0].cells else None,
    )


def load_query_attributes(path: str | Path, queries: Sequence[str]) -> QueryAttributes:
    """Times and domains of the judged queries, in their order; rows of other queries are passed over.

    Raises InputError as `load_block_attributes` does.
    """
    rows = rows_of(path, "query", known=("query", "time", "domain"))
    times = dict(zip((row.id for row in rows), _times_of(path, rows), strict=True))
    domains = {row.id: row.cells.get("domain", "") for row in rows}
    return QueryAttributes(
        times=np.array([times.get(query, np.nan) for query in queries], dtype=np.float64),
        domains=tuple(domains.get(query, "") for query in queries),
    )


def rows_of(path: str | Path, key: str, known: Sequence[str] | None = None) -> list[Row]:
    """The rows of a file, each with the id that stands in the column `key`. Raises InputError for the first fault."""
    name, errors = str(path), ErrorList()
    found: dict[str, Row] = {}
    delimiter = "\t" if name.removesuffix(".gz").endswith(".tsv") else ","
    with open_source(path, name=name) as source:
        for line, cells in read_csv(source, errors, required=(key,), known=known, delimiter=delimiter):
            row = Row(line, cells[key].strip(), {column: cell.strip() for column, cell in cells.items()})
            if not row.id:
                raise InputError(name, line, key, "", f"the {key} has no id.")
            if row.id in found:
                said = f"'{row.id}' stands twice, first in line {found[row.id].line}."
                raise InputError(name, line, key, row.id, said)
            found[row.id] = row
    for error in errors:
        raise error
    if not found:
        raise InputError(name, None, "", "", "names the columns but holds no rows.")
    return list(found.values())


def _times_of(path: str | Path, rows: Sequence[Row]) -> list[float]:
    return [_days(path, row) for row in rows]


def _days(path: str | Path, row: Row) -> float:
    """The time of a row in days since 1970; NaN for an empty cell."""
    text = row.cells.get("time", "")
    if not text:
        return np.nan
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        said = f"'{text}' is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z."
        raise InputError(str(path), row.line, "time", text, said) from None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) / DAY


def _attribute(cells: Sequence[str], numbers: Ints) -> Attribute:
    values = tuple(sorted({cell for cell in cells if cell}))
    places = {value: place for place, value in enumerate(values)} | {"": UNKNOWN}
    return Attribute(_scattered([places[cell] for cell in cells], numbers, UNKNOWN), values)


def _scattered(values: Sequence[Any], numbers: Ints, missing: Any) -> NDArray[Any]:
    """The values at the places of their block numbers, `missing` at all others."""
    found = np.full(int(numbers.max()) + 1, missing)
    found[numbers] = values
    return found
