"""JSON of any shape as a table: a list of objects, an object a line, lists within objects, and objects by their ids.

The rows are the innermost objects of lists that are known to hold rows, such as the `ratings` of a request; what stands
around a list is repeated in each of its rows. Inner objects give columns of their own.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import NOT_JSON, read_objects
from apps.common.files.jsonvalues import parse_object
from apps.common.files.tabular import TableFile

Row = tuple[int, list[str]]
Path = tuple[str, ...]
_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[(?!\[?(?!true|false|null|NaN)[A-Za-z])|\{(?![{%]))")
"""How JSON begins; "[Errno 13]", "[section]" and "{{ page }}" do not."""
MOST_BYTES = 50_000_000
"""The most of one object that is read into memory."""
ROWS_IN = frozenset(
    {
        "data", "docs", "documents", "examples", "goldens", "hits", "items", "judgements", "judgments",
        "judgmentratings", "paragraphs", "qas", "queries", "questions", "ratings", "records", "requests", "results",
        "rows", "searches", "testcases", "topics",
    }
)  # fmt: skip
"""Fields whose objects are rows. Objects of another list, such as answers, are no rows: a cell has all their values."""
TURNS = frozenset({"turn", "turns"})
PARTS = frozenset(
    {"answer", "context", "doc", "document", "input", "metadata", "output", "passage", "query", "question", "request"}
)
"""Fields that are parts of one record, and no ids of several."""
HEAD_BYTES = 256
_BARE = re.compile(rb'\s*(?:\[\s*[^\s{\]]|\{\s*"(?:(?:columns|index)"\s*:\s*\[|data"\s*:\s*\[\s*\[))')
"""How lists of rows begin, and `orient="split"` of pandas."""
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>(?:.*</[A-Za-z][^<>]*>)?\Z|<[?!][^<>]*>\Z|<[A-Za-z][^<>]*>\s*<", re.DOTALL)
_PIECE = re.compile(
    r'[\[\]{},:\s]*[\[\]{}][\[\]{},:\s]*\Z|\{\s*"|"[^"]*"\s*:\s*(?:["\[{0-9-]|true|false|null)'
    r"|-\s+\w+:(?:\s|\Z)"
)
"""A line of JSON on several: brackets, a field with its value, how an object begins; or how a record of YAML does."""
_SECTION = re.compile(r"\[\[?[\w.-]+\]\]?\s*\Z")
_SQL = re.compile(r"\s*INSERT\s+INTO\s+\S+.*\bVALUES\s*\(", re.IGNORECASE)
_OBJECT = re.compile(r'[^\w"\']*\{\s*"[^"]*"\s*:')
HIT_ID = "_id"
"""The id of what holds it, which is said too: `ratings _id` is no id of the request."""
NAMELESS = "unnamed field"
QUERY: Path = ("query",)
PASSAGE: Path = ("passage",)
SCORE: Path = ("score",)
RELEVANT: Path = ("relevant",)


def is_json(source: TableFile) -> bool:
    """Whether a file is JSON, or JSON lines. The source stays at its beginning."""
    return _BEGINS.match(source.head(64)) is not None


def fault_in(text: str) -> tuple[int, str]:
    """The number of the first line that is JSON, SQL or a section of TOML where a list or table is meant, and what it
    is; 0 for none.
    """
    lines = text.split("\n")
    if _SECTION.match(lines[0]):
        return 1, "is the beginning of a file of settings: copy what you need of it into a list or table"
    for number, line in enumerate(lines, 1):
        if _OBJECT.match(line):
            return number, "is JSON, and the file does not begin so: leave out what stands before it"
        if _SQL.match(line):
            return number, "is SQL: export the rows as CSV"
    return 0, ""


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
    objects = list(_objects(source, errors))
    rows, deep = list[tuple[int, dict[Path, str]]](), set[Path]()
    for number, record in objects:
        try:
            rows += [(number, cells) for cells in _rows_of(record, deep, is_sole=len(objects) == 1)]
        except ValueError as error:
            raise source.error(number, "", "", str(error)) from error
    paths: dict[Path, None] = {path: None for _, cells in rows for path in cells}
    names = _names(list(paths), deep)
    return list(names.values()), ((number, [cells.get(path, "") for path in names]) for number, cells in rows)


def bare_rows(source: TableFile) -> tuple[bool, list[Row]] | None:
    """The rows of lists, in one list or one a line, or of a table as pandas splits it; None for any other JSON.

    True with the rows: the first of them are the names of the columns.
    """
    if not _BARE.match(source.head(HEAD_BYTES).removeprefix(b"\xef\xbb\xbf")):
        return None
    text = b"".join(source.blocks(MOST_BYTES)).decode("utf-8-sig", errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        try:
            value = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    is_split = isinstance(value, dict)
    if isinstance(value, dict):
        data = value.get("data")
        value = [value.get("columns"), *data] if isinstance(data, list) else None
    if not isinstance(value, list) or not value or not all(isinstance(row, list) for row in value):
        return None
    return is_split, [(number, [_text(cell) for cell in row]) for number, row in enumerate(value, 1)]


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


def _rows_of(record: Mapping[str, Any], deep: set[Path], *, is_sole: bool) -> Iterator[dict[Path, str]]:
    """The rows of one object, as cells by path. Raises ValueError where it is not sure what they are.

    `deep` takes the paths that go through a list whose objects are no rows; `is_sole`: the file has no other object.
    """
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
    elif values and all(_has_digit(key) and _is_text(value) for key, value in record.items()):
        for key, text in record.items():
            cells = {("id",): key, ("text",): _text(text)}
            yield cells
    elif values and all(_has_digit(key) and _are_objects(value) for key, value in record.items()):
        for key, inner in record.items():
            for one in inner:
                yield from _nested(one, (), {("query id",): key}, deep)
    elif values and all(isinstance(value, dict) and value for value in values):
        yield from _of_objects(record, deep, is_sole=is_sole)
    elif len(values) > 1 and is_sole and all(map(_has_digit, record)) and any(isinstance(one, str) for one in values):
        raise ValueError("some ids have a text here and others have something else; give each its text")
    else:
        yield from _nested(record, (), {}, deep)


def _of_objects(record: Mapping[str, Any], deep: set[Path], *, is_sole: bool) -> Iterator[dict[Path, str]]:
    """The rows of an object of objects: by their ids, columns with the numbers of their rows, or parts of one row."""
    are_ids, inner = all(map(_has_digit, record)), list(record.values())
    are_alike = len(inner) > 1 and all(one.keys() == inner[0].keys() for one in inner)
    if all(key.isdecimal() for one in inner for key in one) and (are_ids or are_alike):
        if are_ids:
            raise ValueError("ids have numbered values here; make each value an object with named fields")
        for number in inner[0]:  # as pandas writes a table
            cells: dict[Path, str] = {(name,): _text(column[number]) for name, column in record.items()}
            yield cells
    elif are_ids or (is_sole and are_alike and PARTS.isdisjoint(map(str.casefold, record))):
        for key, one in record.items():
            for cells in _nested(one, (), {}, deep):
                yield {**cells, ("id",): cells.get(("id",), key)}
    else:
        yield from _nested(record, (), {}, deep)


def _has_digit(key: str) -> bool:
    return any(letter.isdigit() for letter in key)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)
    )


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _are_numbers(value: Mapping[str, Any]) -> bool:
    return all(isinstance(one, int | float) and not isinstance(one, bool) for one in value.values())


def _nested(
    record: Mapping[str, Any], path: Path, around: dict[Path, str], deep: set[Path]
) -> Iterator[dict[Path, str]]:
    cells, lists = dict(around), list[tuple[Path, list[Any]]]()
    _collect(record, path, cells, lists, deep)
    if not lists:
        yield cells
    for where, inner in lists:
        for one in inner:
            yield from _nested(one, where, cells | _turn_id(record, where, one), deep)


def _turn_id(record: Mapping[str, Any], where: Path, one: Mapping[str, Any]) -> dict[Path, str]:
    """The id of a turn of a conversation as TREC numbers them: 31_4 is the fourth of conversation 31."""
    turn = one.get("number", one.get("turn_id"))
    is_turn = where[-1].casefold() in TURNS and "number" in record and turn is not None
    return {("turn id",): f"{record['number']}_{turn}"} if is_turn else {}


def _collect(
    record: Mapping[str, Any],
    path: Path,
    cells: dict[Path, str],
    lists: list[tuple[Path, list[Any]]],
    deep: set[Path],
) -> None:
    """The cells of an object with those of its inner ones, and the lists of rows in it."""
    for name, value in record.items():
        where, plain = (*path, name), name.casefold().replace("_", "")
        if isinstance(value, dict):
            if by_id := _by_ids(value) if plain in ROWS_IN else []:
                lists.append((where, by_id))
            else:
                _collect(value, where, cells, lists, deep)
        elif not _are_objects(value):
            cells[where] = _text(value)
        elif plain in ROWS_IN or plain in TURNS:
            lists.append((where, value))
        else:
            _collect_list(value, where, cells, lists, deep)


def _by_ids(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a field that has them by their ids, as objects or texts; none where it is anything else."""
    if not all(map(_has_digit, value)):
        return []
    if all(isinstance(one, str) for one in value.values()):
        return [{"id": key, "text": one} for key, one in value.items()]
    if all(isinstance(one, dict) and one and not _are_numbers(one) for one in value.values()):
        return [{**one, "id": one.get("id", key)} for key, one in value.items()]
    return []


def _collect_list(
    values: list[Mapping[str, Any]],
    where: Path,
    cells: dict[Path, str],
    lists: list[tuple[Path, list[Any]]],
    deep: set[Path],
) -> None:
    """The cells of the objects of a list: of several, each cell is the list of their values. None is left out."""
    found, inner = list[dict[Path, str]](), list[tuple[Path, list[Any]]]()
    for one in values:
        found.append({})
        _collect(one, where, found[-1], inner, deep)
    if inner and len(values) > 1:
        lists.append((where, values))
        return
    lists += inner
    for path in {path: None for one in found for path in one}:
        given = [one[path] for one in found if path in one]
        cells[path] = given[0] if len(found) == 1 else json.dumps(given, ensure_ascii=False)
        deep.add(path)


def _text(value: Any) -> str:
    """A value as the text of a cell; a list of one value is that value, another list stays JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and len(value) < 2:
        return _text(value[0]) if value else ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def _names(paths: list[Path], deep: set[Path]) -> dict[Path, str]:
    """A heading for each path: its last name, with those before it as far as others have the same, or it is deep.

    No two are the same: where even whole paths read alike, as a field "a b" and a field b in an a, they are numbered.
    """
    names = dict[Path, str]()
    depth = 1
    while left := [path for path in paths if path not in names]:
        least = {path: 2 if path[-1] == HIT_ID or path in deep else 1 for path in left}
        short = [" ".join(path[-max(depth, least[path]) :]).strip() or NAMELESS for path in left]
        for path, name in zip(left, short, strict=True):
            if short.count(name) == 1 and name not in names.values():
                names[path] = name
            elif depth >= len(path):
                taken = {*names.values(), *short}
                others = (other for number in count(2) if (other := f"{name} {number}") not in taken)
                names[path] = next(others) if name in names.values() else name
        depth += 1
    return {path: names[path] for path in paths}


def is_code(text: str) -> bool:
    """Whether a text is an object or list of JSON or a line of markup, and so no words of a person."""
    text = text.strip().rstrip(",")
    if _MARKUP.match(text) or _PIECE.match(text):
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
