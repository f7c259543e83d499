"""Readers of query files: each streams `QueryRow`s from a `TableFile`; `recognise` and `read_queries` pick one."""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import dropwhile
from pathlib import PurePath
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import ONE_COLUMN, SEPARATORS, is_packed_table, separator_of
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import NOT_JSON
from apps.common.files.json_tables import fault_in, first_object, is_code, is_json
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
    source: TableFile, errors: ErrorList, names: QueryNames, *, has_ids: bool = False, is_guessed: bool = False
) -> Iterator[QueryRow]:
    """The queries of a file in file order, each text once. A text that has an id already is that query, unchanged.

    They come one a line, as they are copied from a list or a log. A line may begin with an id and a tab; with `has_ids`
    each begins with an id and a blank, colon or equals sign. In JSON lines a text stands in quotation marks. Numbers
    that only count the lines, and the marks of a list, are left out. `is_guessed`: nobody has said that each line is a
    query. Lines before the first may begin with # then, or be the heading of a list with marks, and SQL is a mistake.
    """
    lines = _lines_of(source.head(HEAD_BYTES))
    form, are_numbered = _id_form(lines) if has_ids else None, not has_ids and _are_numbered(lines)
    are_bullets = _are_bullets(lines)
    is_list = bool(_TEXT_LIST.match("".join(lines[:2])))
    are_quoted = _is_json_lines(source)
    first_rows: dict[str, QueryRow] = {}
    for number, line in _listed(source) if is_list else read_lines(source):
        if not line.strip():
            continue
        if is_guessed and not first_rows and _REMARK.match(line):
            errors.warn(source.error(number, "", line, "begins with # and is skipped"))
            continue
        if form:
            found = form.match(line)
            line = "\t".join(found.groups() if found else line.split(maxsplit=1))
        elif are_numbered and (numbered := _NUMBERED.match(line)):
            line = numbered[2]
            if not first_rows:
                errors.warn(source.error(number, "", numbered[0], "the numbers before the lines are left out"))
        elif are_bullets and (bullet := _BULLET.match(line)):
            line = bullet[1]
            if not first_rows:
                errors.warn(source.error(number, "", bullet[0], "the marks before the lines are left out"))
        elif is_guessed and are_bullets and not first_rows:
            errors.warn(source.error(number, "", line, "is the heading of the list and is skipped"))
            continue
        elif are_quoted and _QUOTED.match(line):
            line = _unquoted(line)
        try:
            if is_guessed and (reason := fault_in(line)[1]):
                raise source.error(number, "", line, reason)
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


def _listed(source: TableFile) -> list[tuple[int, str]]:
    """The texts of a file that is one JSON list of texts, with their numbers. Raises InputError."""
    lines, size = [], 0
    for _, line in read_lines(source):
        lines.append(line)
        size += len(line)
        if size > MOST_OF_A_LIST:
            raise source.error(None, "", "", "the list is too long to be read as one; write one query a line")
    try:
        texts = json.loads("\n".join(lines))
    except ValueError as error:
        raise source.error(None, "", "", f"{NOT_JSON}: {error}") from None
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise source.error(number, "text", json.dumps(text), "is no text, as the others of the list are")
    return [(number, " ".join(text.split())) for number, text in enumerate(texts, start=1)]


def _is_json_lines(source: TableFile) -> bool:
    return PurePath(source.name.removesuffix(".gz")).suffix in JSON_LINES


def _unquoted(line: str) -> str:
    try:
        return " ".join(str(json.loads(line)).split())
    except ValueError:
        return line


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
    ID_LINES: "One query a line, after its id and a blank, colon or equals sign",
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
    source: TableFile,
    errors: ErrorList,
    *,
    format: str,
    ids: str = "file",
    names: QueryNames | None = None,
    is_guessed: bool = False,
) -> Iterator[QueryRow]:
    """The queries of a file in file order.

    `ids` is "file" or, for SMART files only, "position". Cranfield's questions have ids up to 365 while its judgements
    number them from 1 to 225: the wrong choice gives no error and meaningless scores, so the person must choose.
    `names` are the queries that are there already, for a format without ids. `is_guessed`: the format was
    recognised, and nobody has said that each line is a query.
    """
    if format == "smart":
        yield from read_smart_queries(source, errors, ids=ids)
        return
    if ids != "file":
        raise source.error(None, "ids", ids, "ids by position are for SMART files only")
    if format in {LINES, ID_LINES}:
        known, has_ids = names or QueryNames(()), format == ID_LINES
        yield from read_pasted(source, errors, known, has_ids=has_ids, is_guessed=is_guessed or has_ids)
        return
    yield from _READERS[format](source, errors)


AUTO, TABLE = "auto", "table"
HEAD_BYTES = 16_384
JSON_LINES = frozenset({".jsonl", ".ndjson", ".jsonlines"})
_REMARK = re.compile(r"\s*#(?:\s|\Z)")
MOST_OF_A_LIST = 20_000_000
"""Letters of a JSON list of texts, which is in memory as a whole."""
_TEXT_LIST = re.compile(r'\s*\[\s*"')
_QUOTED = re.compile(r'\s*"(?:[^"\\]|\\.|"")*"\s*\Z')
_BLANK_AFTER_ID = re.compile(r"\s*(?=\S*[0-9])([\w.:-]*[\w.-]):?[^\S\t]+(\S.*)")
_MARK_AFTER_ID = re.compile(r"\s*(?=[\w.-]*[0-9])([\w.-]+)[^\S\t]*[:=][^\S\t]*(\S.*)")
_NUMBERED = re.compile(r"\s*([0-9]{1,6})[.)][^\S\t]+(\S.*)")
_BULLET = re.compile(r"\s*[-*•–][^\S\t]+(\S.*)")
_TIME = re.compile(r"\s*[\w.-]+:[0-9]")


def _lines_of(head: bytes) -> list[str]:
    """The lines at the beginning of a file that are not empty, without remarks before the first."""
    whole = head[: head.rfind(b"\n") + 1] if len(head) == HEAD_BYTES else head
    text = (whole or head).decode("utf-8", errors="replace").removeprefix("\ufeff")
    return list(dropwhile(_REMARK.match, (line for line in text.splitlines() if line.strip())))


def _id_form(lines: Sequence[str]) -> re.Pattern[str] | None:
    """How the id and the query of each line are divided, by a colon, equals sign or blank; None where they are not."""
    if _are_numbered(lines):
        return _NUMBERED
    if all(map(_MARK_AFTER_ID.match, lines)) and not all(map(_TIME.match, lines)):
        return _MARK_AFTER_ID
    return _BLANK_AFTER_ID if all(map(_BLANK_AFTER_ID.match, lines)) else None


def _are_numbered(lines: Sequence[str]) -> bool:
    """Whether lines begin with numbers that count them, as `1.` and `2.` or `1)` and `2)`."""
    found = [match for line in lines if (match := _NUMBERED.match(line))]
    numbers = [int(match[1]) for match in found]
    return len(lines) > 1 and len(found) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(lines)))


def _are_bullets(lines: Sequence[str]) -> bool:
    """Whether each line has the mark of a list, but for a heading before them."""
    is_headed = lines and (lines[0].rstrip().endswith(":") or plain_heading(lines[0]) in TEXT_HEADINGS)
    marked = lines[1:] if is_headed else lines
    return len(marked) > 1 and all(map(_BULLET.match, marked))


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
    lines = _lines_of(head)
    if not lines:
        return LINES if is_pasted else TABLE
    if _TEXT_LIST.match(text):
        return LINES
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
    lines = [line.strip() for line in _lines_of(source.head(HEAD_BYTES))]
    if not lines or _TEXT_LIST.match("".join(lines[:2])):
        return None
    if format == LINES:
        if (form := _id_form(lines) if len(lines) > 1 else None) and (found := form.match(lines[0])):
            counted = "The numbers only count the lines, and are left out."
            forms = {
                ID_LINES: f"Each line begins with an id, such as “{found[1]}”.",
                LINES: counted if form is _NUMBERED else "A query may begin so.",
            }
            return Doubt("Does each line begin with the id of its query?", forms)
        if _have_columns(lines[1:]):
            forms = {
                TABLE: "Most lines have as many commas, tabs or the like.",
                LINES: "The first line is not like them.",
            }
            return Doubt("Is each line a query, or are they the rows of a table?", forms)
        if not all(map(_QUOTED.match, lines)) or _is_json_lines(source):
            return None
        forms = {TABLE: "Each line is in quotation marks, as cells are.", LINES: "A search for exact words is so too."}
        return Doubt("Are the quotation marks a part of the queries?", forms)
    cells = [line.split(",") for line in lines]
    first = [plain_heading(cell) for cell in cells[0]]
    are_sentences = len({len(one) for one in cells}) == 1 and all(
        cell.startswith(" ") for one in cells for cell in one[1:]
    )
    has_quotes, has_usual = any('"' in line for line in lines), set(first) & {*TEXT_HEADINGS, *ID_HEADINGS}
    if not are_sentences or len(first) < 2 or has_quotes or has_usual:
        return None
    forms = {LINES: "A blank follows each comma, as in sentences.", TABLE: "Each line has as many commas."}
    return Doubt("Is each line a query, or do the commas divide columns?", forms)


def _have_columns(lines: Sequence[str]) -> bool:
    """Whether most of several lines have one of the usual separators equally often, or one stands before a quote."""
    if any(f'{mark}"' in line for mark in SEPARATORS for line in lines):
        return True
    counts = (Counter(line.count(mark) for line in lines) for mark in SEPARATORS)
    return len(lines) > 1 and any(count[one] * 2 > len(lines) for count in counts for one in count if one)


def _is_list(lines: list[str], *, is_pasted: bool) -> bool:
    """Whether each line is a query: pasted lines with at most an id before it, or one column without a heading."""
    if _are_bullets(lines):
        return True
    first = [plain_heading(cell) for cell in lines[0].split("\t")]
    if set(first) & {*TEXT_HEADINGS, *ID_HEADINGS}:
        return False
    if (is_pasted and all(map(_is_query, lines))) or all(map(_QUOTED.match, lines)):
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
