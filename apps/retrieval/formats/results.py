"""Runs of systems that return passages of their own: JSON lines, or a table with the same columns.

A table has a heading with a column of questions, one of ranks, and one of texts or pages, but none of passages of the
corpus: with one it is a run of those, see `run_tables`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from apps.common.errors import InputError
from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList, fault
from apps.common.files.jsonvalues import refuse_unstorable
from apps.common.files.tables import BLOCK, DELIMITERS, QUERY
from apps.common.files.tabular import TableFile
from apps.common.files.workbooks import is_workbook
from apps.metrics.expected.rules import Returned
from apps.metrics.files.results import ResultRow, read_results, rows_from
from apps.metrics.files.run_tables import tag_of_name
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core.ranking import as_stored
from apps.retrieval.enums import Returns
from apps.retrieval.formats.runs import NO_TEXTS, Collector, QueryRanking, RunDraft, Texts

MOST_LETTERS = 300_000_000
NAMES = {
    "qid": QUERY,
    "rank": ("rank", "position", "place"),
    "id": ("id", "chunk", "chunk_id"),
    "document_id": ("document_id", "document", "doc"),
    "pages": ("pages", "page"),
    "text": ("text", "content", "passage_text"),
}
OF_THE_CORPUS = {*BLOCK, "passage", "passage_id", "passage id"}
Known = Callable[[ErrorList, Usage], Iterable[tuple[int, ResultRow]]]


def are_results(source: TableFile, start: bytes) -> bool:
    """Whether a file, which begins so, has passages of a system's own. The source stays at its beginning."""
    return start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{" or is_workbook(source) or _is_table(start)


def _is_table(start: bytes) -> bool:
    line = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace").strip()
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return False
    heading = [cell.strip().strip('"').strip().lower() for cell in line.split(delimiter)]
    found = _places(heading)
    is_told = "text" in found or "pages" in found
    return "qid" in found and "rank" in found and is_told and not OF_THE_CORPUS.intersection(heading)


def _places(heading: list[str]) -> dict[str, int]:
    """The place of each field of a result that the heading has."""
    there = {field: [heading.index(name) for name in names if name in heading] for field, names in NAMES.items()}
    return {field: places[0] for field, places in there.items() if places}


def draft_from_results(
    source: TableFile,
    progress: Callable[[int], object],
    *,
    queries: Mapping[str, int],
    texts: Texts = NO_TEXTS,
) -> RunDraft:
    """A draft from a file that `are_results`; `queries` gives keys by id. Mistakes are in its errors, as in a run's."""
    is_jsonl = source.head(4_096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    read = read_results if is_jsonl else _read_table
    return _collected(source.name, lambda errors, usage: read(source, errors, usage), progress, queries, texts)


def draft_from_objects(
    objects: Iterable[Any], tag: str, name: str, *, queries: Mapping[str, int], texts: Texts = NO_TEXTS
) -> RunDraft:
    """The same from objects that a client pushes. Errors name them `name` and count them from 1."""

    def read(errors: ErrorList, usage: Usage) -> Iterator[tuple[int, ResultRow]]:
        return rows_from(_objects(objects, name, errors), name, errors, usage)

    return _collected(name, read, lambda rows: None, queries, texts, tag=tag)


def _objects(objects: Iterable[Any], name: str, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, one in enumerate(objects, 1):
        try:
            refuse_unstorable(one)
        except ValueError as error:
            errors.add(fault(name, line, "", "", f"{error}."))
            continue
        if isinstance(one, dict):
            yield line, one
        else:
            errors.add(fault(name, line, "", json.dumps(one), "a result is an object with qid and rank."))


def _collected(
    name: str,
    read: Known,
    progress: Callable[[int], object],
    queries: Mapping[str, int],
    texts: Texts,
    *,
    tag: str = "",
) -> RunDraft:
    collector, found = Collector(name, queries, texts), dict[str, dict[int, Returned]]()
    letters, usage = 0, Usage()
    try:
        for line, row in read(collector.errors, usage):
            collector.line = line
            collector.rows += 1
            letters += len(row.returned.text)
            if letters > MOST_LETTERS:
                message = f"the texts have more than {MOST_LETTERS:,} letters in all; return fewer for each question."
                raise fault(name, collector.line, "text", "", message)
            if outside_id := collector.find(row.qid, "qid"):
                found.setdefault(outside_id, {})[row.rank] = row.returned
            progress(collector.rows)
    except InputError as error:
        collector.errors.add(error)
    if not collector.rows and not collector.errors:
        collector.errors.add(fault(name, None, "", "", "the file contains no results."))
    collector.errors.sort()
    return RunDraft(
        rankings=[
            QueryRanking(queries[one], one, passages=as_stored(found[one][rank] for rank in sorted(found[one])))
            for one in found
        ],
        tags=[tag or tag_of_name(name)],
        rows=collector.rows,
        unknown_queries=collector.unknown_queries,
        unknown_blocks={},
        errors=collector.errors,
        ties=0,
        reordered=0,
        is_spoilt=collector.is_spoilt,
        by_text=collector.by_text,
        returns=Returns.PASSAGES,
        usage=usage,
    )


def _read_table(source: TableFile, errors: ErrorList, usage: Usage) -> Iterator[tuple[int, ResultRow]]:
    table = open_table(source, errors)
    places = _places([heading.strip().lower() for heading in table.headings])
    for field in ("qid", "rank"):
        if field not in places:
            raise source.error(table.line, field, "", f"the table has no column {' or '.join(NAMES[field][:3])}.")
    records = ((line, _record(cells, places)) for line, cells in table.rows)
    return rows_from(records, source.name, errors, usage)


def _record(cells: list[str], places: dict[str, int]) -> dict[str, Any]:
    """The cells as a line of JSON would have them; what is no number stays as it is written, and is refused."""
    record: dict[str, Any] = {field: cells[place] for field, place in places.items()}
    record["rank"] = _number(record["rank"])
    if pages := record.pop("pages", "").strip():
        ends = [_number(part) for part in pages.replace("–", "-").split("-")]
        record["pages"] = ends * 2 if len(ends) == 1 else ends
    return record


def _number(cell: str) -> int | str:
    digits = cell.strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else cell
