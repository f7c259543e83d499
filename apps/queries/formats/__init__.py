"""Readers of query files: each streams `QueryRow`s from a `TableFile`; `recognise` and `read_queries` pick one."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import ONE_COLUMN, is_packed_table, separator_of
from apps.common.files.faults import ErrorList
from apps.common.files.json_tables import first_object, is_code, is_json
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.corpus.core.import_plans import plain_heading
from apps.corpus.formats.smart import joined, one_line, read_records
from apps.queries.core.naming import QueryNames
from apps.queries.core.table_roles import ID_HEADINGS, TEXT_HEADINGS
from apps.queries.formats.records import (
    HUB_ID,
    KNOWN,
    METADATA,
    SPLIT,
    QueryRow,
    read_beir_queries,
    read_query_csv,
    read_query_lines,
    read_query_parquet,
    rows_from,
)
from apps.queries.formats.topics import are_topics, read_topics


def read_smart_queries(source: TableFile, errors: ErrorList, *, ids: str) -> Iterator[QueryRow]:
    """`.I id`, then `.W text`. `ids` is "file", or "position" with the file's number in `metadata.file_id`."""
    records = (
        (
            record.line,
            {
                "id": record.record_id,
                "text": one_line(record.fields.get("text", [])),
                "description": joined(record.fields.get("title", [])),
                "file_id": record.file_id,
            },
        )
        for record in read_records(source, errors, ids=ids)
    )
    return rows_from(source, errors, records, _smart_row, id_field="id")


def _smart_row(fields: Fields) -> QueryRow:
    query_id, file_id = fields.outside_id("id"), fields.text("file_id")
    return QueryRow(
        line=fields.line,
        query_id=query_id,
        text=fields.text("text", required=True),
        description=fields.text("description") or None,
        metadata=None if file_id == query_id else {"file_id": file_id},
    )


def read_pasted(
    source: TableFile, errors: ErrorList, names: QueryNames, *, has_ids: bool = False
) -> Iterator[QueryRow]:
    """The queries of a file in file order, each text once. A text that has an id already is that query, unchanged.

    They come one a line, as they are copied from a list or a log. A line may begin with an id and a tab; with `has_ids`
    each begins with an id and a blank.
    """
    first_rows: dict[str, QueryRow] = {}
    for number, line in read_lines(source):
        if not line.strip():
            continue
        try:
            row = _row(source, number, "\t".join(line.split(maxsplit=1)) if has_ids else line, names)
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
    if is_code(line):
        raise source.error(number, "", line, "is JSON or markup and no query; choose the form of the file")
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


LINES, ID_LINES, PARQUET = "lines", "id-lines", "parquet"
FORMATS = {
    "csv": "CSV",
    "jsonl": "JSONL, one query per line, or a JSON array",
    PARQUET: "Parquet, as a version has it",
    "beir": "BEIR queries.jsonl",
    "trec": "Topics of TREC, CLEF or FIRE, tagged or XML (<top> <num> <title> <desc> <narr>)",
    "smart": "SMART (.I .W)",
    LINES: "One query a line, with or without an id and a tab before it",
    ID_LINES: "One query a line, after its id and a blank",
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
    if format in {LINES, ID_LINES}:
        yield from read_pasted(source, errors, names or QueryNames(()), has_ids=format == ID_LINES)
        return
    yield from _READERS[format](source, errors)


AUTO, TABLE = "auto", "table"
_ID = re.compile(r"(?=\S*[0-9])[\w.:-]+\Z")
HEAD_BYTES = 16_384


def recognise(source: TableFile, *, is_pasted: bool = False) -> str:
    """The format: JSON lines, topics, SMART, CSV with Karat's own columns, a list of lines, else a table.

    The source is at its beginning, before and after.
    """
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        names = {"query_id" if name == HUB_ID else name for name in parquet_names(source)}
        return PARQUET if {"query_id", "text"} <= names <= {*KNOWN, SPLIT} else TABLE
    if is_packed_table(source):
        return TABLE
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return LINES if is_pasted else TABLE
    if is_json(source):
        return _json_format(first_object(source))
    if are_topics(text):
        return "trec"
    if re.match(r"\.I\s", text):
        return "smart"
    names = {name.strip() for name in next(csv.reader([lines[0]]), [])}
    if {"query_id", "text"} <= names and all(name in KNOWN or name.startswith(METADATA) for name in names):
        return "csv"
    return LINES if _is_list(lines, is_pasted=is_pasted) else TABLE


class Doubt(NamedTuple):
    """A question about the form of a file, and the forms between which it is not sure, with what is for each."""

    question: str
    forms: Mapping[str, str]


def doubt_of(source: TableFile, format: str) -> Doubt | None:
    """Why it is not sure that the file has the format that was recognised; None where it is."""
    if format not in {LINES, TABLE} or is_packed_table(source) or is_json(source):
        return None
    text = source.head(HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    firsts = [line.split(maxsplit=1) for line in lines]
    if format == LINES:
        are_ids = len(lines) > 1 and all(
            len(one) == 2 and "\t" not in line for one, line in zip(firsts, lines, strict=True)
        )
        are_ids = (
            are_ids
            and all(map(_ID.match, (one[0] for one in firsts)))
            and len({one[0] for one in firsts}) == len(lines)
        )
        forms = {ID_LINES: f"Each line begins with an id, such as “{firsts[0][0]}”.", LINES: "A query may begin so."}
        return Doubt("Does each line begin with the id of its query?", forms) if are_ids else None
    cells = [line.split(",") for line in lines]
    first = [plain_heading(cell) for cell in cells[0]]
    are_sentences = len({len(one) for one in cells}) == 1 and all(
        cell.startswith(" ") for one in cells for cell in one[1:]
    )
    if not are_sentences or len(first) < 2 or '"' in text or set(first) & {*TEXT_HEADINGS, *ID_HEADINGS}:
        return None
    forms = {LINES: "A blank follows each comma, as in sentences.", TABLE: "Each line has as many commas."}
    return Doubt("Is each line a query, or do the commas divide columns?", forms)


def _is_list(lines: list[str], *, is_pasted: bool) -> bool:
    """Whether each line is a query: pasted lines with at most an id before it, or one column without a heading."""
    first = [plain_heading(cell) for cell in lines[0].split("\t")]
    if set(first) & {*TEXT_HEADINGS, *ID_HEADINGS}:
        return False
    if is_pasted and all(map(_is_query, lines)):
        return True
    separator, _ = separator_of("\n".join(lines))
    return separator == ONE_COLUMN


def _is_query(line: str) -> bool:
    """Whether a line is a query, or an id, a tab and a query."""
    query_id, tab, rest = line.strip().partition("\t")
    return not tab or not ("\t" in rest or " " in query_id.strip())


def _json_format(first: Mapping[str, Any]) -> str:
    """Karat's own fields, BEIR's, or a table whose columns a person names."""
    if {"query_id", "text"} <= first.keys() <= KNOWN:
        return "jsonl"
    return "beir" if {HUB_ID, "text"} <= first.keys() else TABLE
