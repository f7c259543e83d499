"""Search logs as rows of cells: tables, lines with or without a count, JSON, logs of servers, traces.

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
from apps.querylogs.formats.access_logs import NO_PARAMETERS, QUERY_NAMES, LineLog, line_log, lines_of
from apps.querylogs.formats.spans import are_spans, read_spans
from apps.querylogs.formats.traces import OF_TRACES, Results, Searches, passages_in, storable

COUNTED = re.compile(r"\s*(\d+)\s+(\S.*)\Z")
"""A line as `sort | uniq -c` writes it."""
QUERY, COUNT = "query", "count"
MOST_ROWS = 5_000_000
"""Each takes some 150 bytes of memory while the log is read."""
TOO_LONG = (
    f"the log has more than {MOST_ROWS:,} rows. Split it by time, such as by month, and import each part as a log of"
    " its own: the people of a query are counted in each part"
)
MOST_SHAPES, MOST_FIELDS = 8, 2_000
FEWEST_WITH_FIELD = 5
"""Objects that must have a field, in a file of so many that this is little."""


class LogTable(NamedTuple):
    """A log: how it was read, its headings, its rows of as many cells, and the mistakes, found while it is read.

    `sample` are the first of the rows; `again` gives all of them once more, where that needs no second reading of the
    file. `results` has what systems returned, once the rows are read: `number_of` gives the list of a cell. `known`
    says what columns are. `left_out` counts spans and lines by the reason why they are no searches.
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
    """The log in a file. Raises InputError for what is no table; reading its rows does for more than MOST_ROWS.

    `names` are masked in headings too.

    `has_headings` is what somebody said of the first row; None: it is recognised. A first row with something that is
    masked is never one of headings. The source is at its beginning.
    """
    log = _opened(source, names, has_headings)
    return log._replace(rows=_no_more(source, log.rows))


def name_of_form(source: TableFile) -> str:
    """What a file is that is no list of queries; "" for any other. The source is at its beginning, before and after."""
    if are_spans(source):
        return "these are traces"
    return "this is the log of a server" if line_log(source) else ""


def _no_more(source: TableFile, rows: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
    yield from islice(rows, MOST_ROWS)
    if next(rows, None) is not None:
        raise source.error(None, "", "", TOO_LONG)


def _opened(source: TableFile, names: Names, has_headings: bool | None) -> LogTable:
    if are_spans(source):
        return _traces(source, names)
    if log := line_log(source):
        return _server_lines(source, names, log)
    if is_json(source):
        return _json_lines(source, names)
    errors = ErrorList(limit=0)
    table = open_table(source, errors, has_headings=has_headings is not False, most=MOST_ROWS + 1)
    seen = list(islice(table.rows, SAMPLED_ROWS))
    if has_headings is None and not _are_headings(table.headings, [cells for _, cells in seen], names):
        source.rewind()
        return _opened(source, names, has_headings=False)
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
    """The fields are the headings; inner ones by path, "event_attributes.object.object_id"."""

    def read(errors: ErrorList, left_out: Counter[str]) -> Iterator[Mapping[str, str]]:
        return (dict(_flat(record, "")) for _, record in read_objects(source, errors))

    return _of_records(source, names, "JSON", read, "No line of the file is a JSON object that can be read.")


def _server_lines(source: TableFile, names: Names, log: LineLog) -> LogTable:
    """What a server has logged of its requests. Where one parameter alone can have the words, all searches have it."""

    def read(errors: ErrorList, left_out: Counter[str]) -> Iterator[Mapping[str, str]]:
        return log.read(lines_of(source), left_out)

    return _of_records(source, names, log.how, read, "No line of the file is a search that can be read.", log)


def _of_records(
    source: TableFile,
    names: Names,
    how: str,
    read: Callable[[ErrorList, Counter[str]], Iterator[Mapping[str, str]]],
    nothing: str,
    log: LineLog | None = None,
) -> LogTable:
    """A table of records whose fields are the headings; `nothing` is said of a file without any.

    All records are looked at for them: events may come after all queries. A field that few have is none, for its name
    may be a value, such as that of a person.
    """
    counts, samples, total = Counter[str](), dict[tuple[str, ...], list[Mapping[str, str]]](), 0
    for record in read(ErrorList(limit=0), Counter()):
        total += 1
        counts.update(record.keys())
        if len(counts) > MOST_FIELDS:
            counts = Counter(dict(counts.most_common(MOST_FIELDS // 2)))
        shape = tuple(dict.fromkeys(name.partition(".")[0] for name in record))
        if shape in samples or len(samples) < MOST_SHAPES:
            alike = samples.setdefault(shape, [])
            if len(alike) < SAMPLED_ROWS // MOST_SHAPES:
                alike.append(record)
    if not total:
        raise source.error(None, "", "", nothing)
    least = min(FEWEST_WITH_FIELD, max(1, total // 20))
    headings = [name for name, count in counts.items() if count >= least and not mask(name, names).found]
    known, words = dict(log.known) if log else {}, list[str]()
    if log and log.is_by_parameter:
        words = [name for name in headings if name.casefold() in QUERY_NAMES]
        known |= {words[0]: TEXT} if len(words) == 1 else {}
        headings.sort(key=lambda name: (name not in words, name not in known))  # a request has many other parameters
    errors, left_out = ErrorList(limit=0), Counter[str]()
    source.rewind()

    def cells(record: Mapping[str, str]) -> list[str]:
        return [storable(record.get(name, "")).decode() for name in headings]

    def rows() -> Iterator[list[str]]:
        for record in read(errors, left_out):
            if words and not any(name in record for name in words):
                left_out[NO_PARAMETERS] += 1
            else:
                yield cells(record)

    sample = [cells(one) for alike in samples.values() for one in alike]
    table = _table(how, headings, sample, rows(), errors)
    return table._replace(known={**table.known, **known}, left_out=left_out)


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
