"""Readers of query files: each streams `QueryRow`s from a `TableFile`; `read_queries` picks one by format."""

from collections.abc import Callable, Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.queries.core.naming import QueryNames
from apps.queries.formats.beir import read_beir_queries
from apps.queries.formats.pasted import read_pasted
from apps.queries.formats.rows import QueryRow
from apps.queries.formats.smart import read_smart_queries
from apps.queries.formats.structured import read_query_csv, read_query_lines, read_query_parquet
from apps.queries.formats.topics import read_topics

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

__all__ = ["FORMATS", "IDS", "LINES", "QueryRow", "read_queries"]

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
