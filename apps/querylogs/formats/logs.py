"""Search logs as rows of cells: tables, lines with or without a count, and JSON such as that of OpenSearch's UBI.

Rows are streamed. What cannot be read is counted by line and never shown: it may hold what must not be kept.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.json_tables import is_json
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import SAMPLED_ROWS, first_row_of
from apps.queries.core.masking import mask
from apps.querylogs.core.columns import ROLES

COUNTED = re.compile(r"\s*(\d+)\s+(\S.*)\Z")
"""A line as `sort | uniq -c` writes it."""
QUERY, COUNT = "query", "count"


class LogTable(NamedTuple):
    """A log: how it was read, its headings, its rows of as many cells, and the mistakes, found while it is read.

    `sample` are the first of the rows.
    """

    how: str
    headings: list[str]
    sample: Sequence[Sequence[str]]
    rows: Iterator[Sequence[str]]
    errors: ErrorList


def open_log(source: TableFile, *, has_headings: bool | None = None) -> LogTable:
    """The log in a file. Raises InputError for what is no table.

    `has_headings` is what somebody said of the first row; None: it is recognised. A first row with something that is
    masked is never one of headings. The source is at its beginning.
    """
    if is_json(source):
        return _json_lines(source)
    errors = ErrorList(limit=0)
    table = open_table(source, errors, has_headings=has_headings is not False)
    seen = list(islice(table.rows, SAMPLED_ROWS))
    if has_headings is None and not _are_headings(table.headings, [cells for _, cells in seen]):
        source.rewind()
        return open_log(source, has_headings=False)
    sample = [cells for _, cells in seen]
    rows = chain(sample, (cells for _, cells in table.rows))
    if len(table.headings) > 1:
        return LogTable(table.how, table.headings, sample, rows, errors)
    if sample and all(COUNTED.match(cells[0]) for cells in sample):
        return LogTable("lines with counts", [COUNT, QUERY], [*map(_counted, sample)], map(_counted, rows), errors)
    return LogTable("one search a line", [QUERY], sample, rows, errors)


def _are_headings(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    if any(mask(heading).found or COUNTED.match(heading) for heading in headings):
        return False
    return first_row_of(ROLES, headings, rows).are_headings


def _counted(cells: Sequence[str]) -> list[str]:
    found = COUNTED.match(cells[0])
    return [found[1], found[2]] if found else ["", cells[0]]


def _json_lines(source: TableFile) -> LogTable:
    """The fields of the first objects are the headings; inner ones by path, "event_attributes.object.object_id"."""
    errors = ErrorList(limit=0)
    objects = (dict(_flat(record, "")) for _, record in read_objects(source, errors))
    seen = list(islice(objects, SAMPLED_ROWS))
    headings = list(dict.fromkeys(name for record in seen for name in record if not mask(name).found))

    def cells(record: Mapping[str, str]) -> list[str]:
        return [record.get(name, "") for name in headings]

    return LogTable("JSON", headings, [*map(cells, seen)], map(cells, chain(seen, objects)), errors)


def _flat(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{path}{name}.")
        elif isinstance(inner, list):
            yield f"{path}{name}", "; ".join(map(str, inner)) if inner else "[]"
        elif inner is not None:
            yield f"{path}{name}", str(inner)
