"""JSON of any shape as a table: a list of objects, an object a line, lists within objects, and objects by their ids.

The rows are the innermost objects of lists that are known to hold rows, such as the `ratings` of a request; what stands
around a list is repeated in each of its rows. Inner objects give columns of their own.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import NOT_JSON, read_objects
from apps.common.files.jsonvalues import parse_object
from apps.common.files.tabular import TableFile

Row = tuple[int, list[str]]
Path = tuple[str, ...]
STARTS = (b"[", b"{")
MOST_BYTES = 50_000_000
"""The most of one object that is read into memory."""
ROWS_IN = frozenset(
    {
        "data", "docs", "documents", "examples", "goldens", "hits", "items", "judgements", "judgments",
        "judgmentratings", "paragraphs", "qas", "queries", "questions", "ratings", "records", "requests", "results",
        "rows", "testcases", "topics",
    }
)  # fmt: skip
"""Fields whose objects are rows. Of other lists of objects, such as answers, the first one counts."""
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>(?:.*</[A-Za-z][^<>]*>)?\Z|<[?!][^<>]*>\Z", re.DOTALL)
HIT_ID = "_id"
"""The id of what holds it, which is said too: `ratings _id` is no id of the request."""
QUERY: Path = ("query",)
PASSAGE: Path = ("passage",)
SCORE: Path = ("score",)
RELEVANT: Path = ("relevant",)


def is_json(source: TableFile) -> bool:
    """Whether a file is JSON, or JSON lines. The source stays at its beginning."""
    return source.head(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(STARTS)


def first_object(source: TableFile) -> Mapping[str, Any]:
    """The first object of a list, or of a file with one a line; nothing for any other file.

    The source stays at its beginning.
    """
    errors = ErrorList()
    try:
        first = next((record for _, record in read_objects(source, errors)), {})
        return {} if errors else first
    except InputError:
        return {}
    finally:
        source.rewind()


def json_rows(source: TableFile, errors: ErrorList) -> tuple[list[str], Iterator[Row]]:
    """The headings, and the rows with the number of their object. Raises InputError for what is no JSON."""
    rows = [(number, dict(cells)) for number, record in _objects(source, errors) for cells in _rows_of(record)]
    paths: dict[Path, None] = {path: None for _, cells in rows for path in cells}
    names = _names(list(paths))
    return list(names.values()), ((number, [cells.get(path, "") for path in names]) for number, cells in rows)


def _objects(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of the file: those of a list or of its lines, else the one that it is."""
    head = source.head(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"[") or first_object(source):
        yield from read_objects(source, errors)
        return
    text = b"".join(source.blocks(MOST_BYTES)).decode("utf-8-sig", errors="replace")
    try:
        yield 1, parse_object(text, source.caps.nesting)
    except ValueError as error:
        raise source.error(1, "", text, str(error) if text.count("\n") < 2 else f"{NOT_JSON}: {error}") from error


def _rows_of(record: Mapping[str, Any]) -> Iterator[dict[Path, str]]:
    """The rows of one object, as cells by path."""
    values = list(record.values())
    queries, relevant = record.get("queries"), record.get("relevant_docs")
    cells: dict[Path, str]
    if isinstance(queries, dict) and isinstance(relevant, dict):  # as LlamaIndex has it
        for query, text in queries.items():
            passages = relevant.get(query) or [""]
            for passage in passages if isinstance(passages, list) else [passages]:
                cells = {("query id",): query, QUERY: _text(text), PASSAGE: _text(passage)}
                yield cells | ({RELEVANT: "1"} if passage else {})
    elif values and all(isinstance(value, dict) and value and _are_numbers(value) for value in values):
        for query, scores in record.items():
            for passage, score in scores.items():
                cells = {QUERY: query, PASSAGE: passage, SCORE: _text(score)}
                yield cells
    elif len(values) > 1 and all(isinstance(value, str) and _has_digit(key) for key, value in record.items()):
        for key, text in record.items():
            cells = {("id",): key, ("text",): text}
            yield cells
    else:
        yield from _nested(record, (), {})


def _has_digit(key: str) -> bool:
    return any(letter.isdigit() for letter in key)


def _are_numbers(value: Mapping[str, Any]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in value.values())


def _nested(record: Mapping[str, Any], path: Path, around: dict[Path, str]) -> Iterator[dict[Path, str]]:
    cells, lists = dict(around), list[tuple[Path, list[Any]]]()
    _collect(record, path, cells, lists)
    if not lists:
        yield cells
    for where, inner in lists:
        for one in inner:
            yield from _nested(one, where, cells)


def _collect(
    record: Mapping[str, Any], path: Path, cells: dict[Path, str], lists: list[tuple[Path, list[Any]]]
) -> None:
    """The cells of an object with those of its inner ones, and the lists of rows in it."""
    for name, value in record.items():
        where = (*path, name)
        are_objects = isinstance(value, list) and value and all(isinstance(one, dict) for one in value)
        if are_objects and name.casefold().replace("_", "") in ROWS_IN:
            lists.append((where, value))
        elif are_objects or isinstance(value, dict):
            _collect(value[0] if are_objects else value, where, cells, lists)
        else:
            cells[where] = _text(value)


def _text(value: Any) -> str:
    """A value as the text of a cell; a list of one value is that value, another list stays JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and len(value) < 2:
        return _text(value[0]) if value else ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _names(paths: list[Path]) -> dict[Path, str]:
    """A heading for each path: its last name, with those before it as far as others have the same."""
    names = dict.fromkeys(paths, "")
    depth = 1
    while left := [path for path in paths if not names[path]]:
        short = [" ".join(path[-max(depth, 2 if path[-1] == HIT_ID else 1) :]) for path in left]
        for path, name in zip(left, short, strict=True):
            if (short.count(name) == 1 and name not in names.values()) or depth >= len(path):
                names[path] = name
        depth += 1
    return names


def is_code(text: str) -> bool:
    """Whether a text is an object or list of JSON or a line of markup, and so no words of a person."""
    text = text.strip().rstrip(",")
    if _MARKUP.match(text):
        return True
    if not text.startswith(("{", "[")):
        return False
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return '":' in text


def listed(cell: str) -> list[str]:
    """The texts of a cell that is a list, in JSON or as Python writes one; else the cell alone, nothing for none."""
    if cell.lstrip().startswith("["):
        for parse in (json.loads, ast.literal_eval):
            try:
                values = parse(cell)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(values, list) and all(isinstance(one, str) for one in values):
                return values
    return [cell] if cell.strip() else []
