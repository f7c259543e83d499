"""Search logs as rows of cells: tables, lines with or without a count, JSON such as that of OpenSearch's UBI, traces.

Rows are streamed; of traces, those of searches are put on disk first, in files without a name. What cannot be read is
counted by line and never shown: it may hold what must not be kept.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.json_tables import is_json
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import SAMPLED_ROWS, first_row_of
from apps.queries.core.masking import NO_NAMES, Names, mask
from apps.querylogs.core.columns import COUNT as TIMES
from apps.querylogs.core.columns import ROLES, TEXT
from apps.querylogs.formats.spans import are_spans, read_spans
from apps.querylogs.formats.traces import OF_TRACES, Results, Searches, passages_in

COUNTED = re.compile(r"\s*(\d+)\s+(\S.*)\Z")
"""A line as `sort | uniq -c` writes it."""
QUERY, COUNT = "query", "count"
MOST_SHAPES, MOST_FIELDS = 8, 2_000
FEWEST_WITH_FIELD = 5
"""Objects that must have a field, in a file of so many that this is little."""


class LogTable(NamedTuple):
    """A log: how it was read, its headings, its rows of as many cells, and the mistakes, found while it is read.

    `sample` are the first of the rows; `again` gives all of them once more, where that needs no second reading of the
    file. `results` has what systems returned, once the rows are read: `number_of` gives the list of a cell. `known`
    says what columns are. `left_out` counts spans by the reason why they are no searches.
    """

    how: str
    headings: list[str]
    sample: Sequence[Sequence[str]]
    rows: Iterator[Sequence[str]]
    errors: ErrorList
    results: Results
    number_of: Callable[[str], int]
    known: Mapping[str, str] = {}
    left_out: Mapping[str, int] = {}
    again: Callable[[], Iterator[Sequence[str]]] | None = None


def _table(
    how: str, headings: list[str], sample: Sequence[Sequence[str]], rows: Iterator[Sequence[str]], errors: ErrorList
) -> LogTable:
    results = Results()
    known = {name: role for name, role in ((QUERY, TEXT), (COUNT, TIMES)) if name in headings}
    return LogTable(how, headings, sample, rows, errors, results, lambda cell: results.add(passages_in(cell)), known)


def open_log(source: TableFile, names: Names = NO_NAMES, *, has_headings: bool | None = None) -> LogTable:
    """The log in a file. Raises InputError for what is no table.

    `names` are masked in headings too.

    `has_headings` is what somebody said of the first row; None: it is recognised. A first row with something that is
    masked is never one of headings. The source is at its beginning.
    """
    if are_spans(source):
        return _traces(source, names)
    if is_json(source):
        return _json_lines(source, names)
    errors = ErrorList(limit=0)
    table = open_table(source, errors, has_headings=has_headings is not False)
    seen = list(islice(table.rows, SAMPLED_ROWS))
    if has_headings is None and not _are_headings(table.headings, [cells for _, cells in seen], names):
        source.rewind()
        return open_log(source, names, has_headings=False)
    sample = [cells for _, cells in seen]
    rows = chain(sample, (cells for _, cells in table.rows))
    if len(table.headings) > 1:
        return _table(table.how, table.headings, sample, rows, errors)
    if sample and all(COUNTED.match(cells[0]) for cells in sample):
        return _table("lines with counts", [COUNT, QUERY], [*map(_counted, sample)], map(_counted, rows), errors)
    return _table("one search a line", [QUERY], sample, rows, errors)


def _are_headings(headings: Sequence[str], rows: Sequence[Sequence[str]], names: Names) -> bool:
    if any(mask(heading, names).found or COUNTED.match(heading) for heading in headings):
        return False
    return first_row_of(ROLES, headings, rows).are_headings


def _counted(cells: Sequence[str]) -> list[str]:
    found = COUNTED.match(cells[0])
    return [found[1], found[2]] if found else ["", cells[0]]


def _json_lines(source: TableFile, names: Names) -> LogTable:
    """The fields are the headings; inner ones by path, "event_attributes.object.object_id".

    All objects are looked at for them: events may come after all queries. A field that few objects have is none, for
    its name may be a value, such as that of a person.
    """
    counts, samples, total = Counter[str](), dict[tuple[str, ...], list[dict[str, str]]](), 0
    for _, record in read_objects(source, ErrorList(limit=0)):
        total += 1
        flat = dict(_flat(record, ""))
        counts.update(flat.keys())
        if len(counts) > MOST_FIELDS:
            counts = Counter(dict(counts.most_common(MOST_FIELDS // 2)))
        if (shape := tuple(record)) in samples or len(samples) < MOST_SHAPES:
            alike = samples.setdefault(shape, [])
            if len(alike) < SAMPLED_ROWS // MOST_SHAPES:
                alike.append(flat)
    if not total:
        raise source.error(None, "", "", "No line of the file is a JSON object that can be read.")
    least = min(FEWEST_WITH_FIELD, max(1, total // 20))
    headings = [name for name, count in counts.items() if count >= least and not mask(name, names).found]
    errors = ErrorList(limit=0)
    source.rewind()

    def cells(record: Mapping[str, str]) -> list[str]:
        return [record.get(name, "") for name in headings]

    rows = (cells(dict(_flat(record, ""))) for _, record in read_objects(source, errors))
    return _table("JSON", headings, [cells(one) for alike in samples.values() for one in alike], rows, errors)


def _flat(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{path}{name}.")
        elif isinstance(inner, list) and any(isinstance(one, Mapping) for one in inner):
            yield f"{path}{name}", json.dumps(inner)
        elif isinstance(inner, list):
            yield f"{path}{name}", "; ".join(map(str, inner)) if inner else "[]"
        elif inner is not None:
            yield f"{path}{name}", str(inner)


def _traces(source: TableFile, names: Names) -> LogTable:
    """The searches of traces as rows. The first search for a query in a trace counts; others are events after it."""
    errors, results = ErrorList(limit=0), Results()
    searches = Searches(results)
    for span in read_spans(source, errors):
        searches.add(span)
    rows = searches.joined(names)
    if not searches.spans:
        raise source.error(None, "", "", "The file has no spans that can be read.")
    sample = list(islice(rows(), SAMPLED_ROWS))
    left_out = {reason: count for reason, count in searches.left_out.items() if count}
    how = f"{searches.spans:,} spans"
    return LogTable(how, [*OF_TRACES], sample, rows(), errors, results, int, OF_TRACES, left_out, rows)
