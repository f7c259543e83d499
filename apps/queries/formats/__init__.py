"""Readers of query files: each streams `QueryRow`s from a `TableFile`; `read_queries` picks one by format."""

from collections.abc import Callable, Iterator

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.queries.core.naming import QueryNames
from apps.queries.formats.records import (
    QueryRow,
    read_beir_queries,
    read_query_csv,
    read_query_lines,
    read_query_parquet,
)
from apps.queries.formats.topics import read_smart_queries, read_topics


def read_pasted(source: TableFile, errors: ErrorList, names: QueryNames) -> Iterator[QueryRow]:
    """The queries of a file in file order, each text once. A text that has an id already is that query, unchanged.

    They come one a line, as they are copied from a list or a log. A line may begin with an id and a tab.
    """
    first_rows: dict[str, QueryRow] = {}
    for number, line in read_lines(source):
        if not line.strip():
            continue
        try:
            row = _row(source, number, line, names)
        except InputError as error:
            errors.add(error)
            continue
        first = first_rows.setdefault(row.query_id, row)
        message = f"the query is in the file twice, first in line {first.line}"
        if first is row:
            yield row
        elif first.text == row.text:
            errors.warn(source.error(number, "text", row.text, f"{message}; it is counted once"))
        else:
            errors.add(source.error(number, "query_id", row.query_id, message))


def _row(source: TableFile, number: int, line: str, names: QueryNames) -> QueryRow:
    cells = [cell.strip() for cell in line.strip().split("\t")]
    if len(cells) > 2:
        raise source.error(number, "", line, "a line is a query, or an id, a tab and the query")
    if len(cells) == 1:
        query_id = names.id_for(cells[0])
        return QueryRow(line=number, query_id=query_id, text=names.text_of(query_id) or cells[0])
    fields = Fields(source, number, {"query_id": cells[0], "text": cells[1]})
    row = QueryRow(line=number, query_id=fields.outside_id("query_id"), text=fields.text("text", required=True))
    names.learn(row.query_id, row.text)
    return row


LINES, PARQUET = "lines", "parquet"
FORMATS = {
    "csv": "CSV",
    "jsonl": "JSONL, one query per line",
    PARQUET: "Parquet, as a version has it",
    "beir": "BEIR queries.jsonl",
    "trec": "TREC topics (<top> <num> <title> <desc> <narr>)",
    "smart": "SMART (.I .W)",
    LINES: "One query a line, with or without an id and a tab before it",
}
IDS = {"file": "as the file gives them", "position": "by position, from 1"}

Reader = Callable[[TableFile, ErrorList], Iterator[QueryRow]]
_READERS: dict[str, Reader] = {
    "csv": read_query_csv,
    "jsonl": read_query_lines,
    PARQUET: read_query_parquet,
    "beir": read_beir_queries,
    "trec": read_topics,
}


def read_queries(
    source: TableFile, errors: ErrorList, *, format: str, ids: str = "file", names: QueryNames | None = None
) -> Iterator[QueryRow]:
    """The queries of a file in file order.

    `ids` is "file" or, for SMART files only, "position". Cranfield's questions have ids up to 365 while its judgements
    number them from 1 to 225: the wrong choice gives no error and meaningless scores, so the person must choose.
    `names` are the queries that are there already, for a format without ids.
    """
    if format == "smart":
        yield from read_smart_queries(source, errors, ids=ids)
        return
    if ids != "file":
        raise source.error(None, "ids", ids, "ids by position are for SMART files only")
    if format == LINES:
        yield from read_pasted(source, errors, names or QueryNames(()))
        return
    yield from _READERS[format](source, errors)
