"""The exports of annotation tools: the files of a zip, the usual headings, and the rows as a table."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from apps.common.files.anytable import MOST_CELL, MOST_ROWS, Table
from apps.common.files.faults import ErrorList
from apps.common.files.filekinds import ZIP_STARTS
from apps.common.files.tabular import TableFile
from apps.corpus.core.documents import UnreadFile
from apps.corpus.core.import_plans import plain_heading
from apps.corpus.formats.packages.unpacking import open_package
from apps.judging.core import table_roles as roles


def is_zip(source: TableFile) -> bool:
    return not source.is_gzip and source.head(4) in ZIP_STARTS


def paths_in(source: TableFile) -> list[str]:
    """The paths of a zip on disk, without hidden ones. Raises InputError for a zip that is not read."""
    if source.path is None:
        raise source.error(None, "", "", "a zip is read from a file only, not from standard input")
    with open_package(source.path, source.name) as package:
        return package.paths


def files_in(source: TableFile, endings: tuple[str, ...]) -> Iterator[TableFile]:
    """The files with these endings, by path, one at a time; a file that is no zip is the only one.

    Raises InputError for one that cannot be unpacked.
    """
    if not is_zip(source):
        yield source
        return
    paths_in(source)
    assert source.path is not None
    with open_package(source.path, source.name) as package:
        for file in package.files():
            if not file.path.lower().endswith(endings):
                continue
            if isinstance(file, UnreadFile):
                raise source.error(None, "", file.path, f"this file is not read: {file.reason}")
            yield TableFile(file.path, file.stream, source.caps)


QUERY_IDS = ("query id", "qid", "topic id", "question id")
QUERIES = ("query", "question", "search", "search query", "query text", "user query", "topic", "keyword", "prompt")
PASSAGE_IDS = (
    "passage id", "block id", "block", "doc id", "docid", "docno", "document id", "corpus id", "chunk id", "url",
)  # fmt: skip
PASSAGES = (
    "passage", "text", "document", "doc", "context", "chunk", "content", "body", "passage text", "document text",
    "answer", "result", "snippet",
)  # fmt: skip


def roles_of(
    headings: Sequence[str], *, passages: Sequence[str] = (), graded: Sequence[str] = (), notes: Sequence[str] = ()
) -> dict[str, str]:
    """The role of each heading that has an obvious one: an id goes before a text, the first usual name before others.

    `passages`, `graded` and `notes` are headings of which the form of the file says so. Of several that could be the
    grade none is chosen: a person is asked.
    """
    found: dict[str, str] = {}
    given = [heading for heading in passages if heading in headings]
    for role, names in ((roles.QUERY_ID, QUERY_IDS), (roles.QUERY, QUERIES)):
        if heading := _first(headings, names):
            found[heading] = role
    if heading := next(iter(given), "") or _first(headings, PASSAGE_IDS) or _first(headings, PASSAGES):
        found[heading] = roles.PASSAGE
    if len(notes) == 1:
        found[notes[0]] = roles.NOTE
    if len(graded) == 1:
        found[graded[0]] = roles.GRADE
    return found


def _first(headings: Sequence[str], names: Sequence[str]) -> str:
    plain = {plain_heading(heading): heading for heading in reversed(headings)}
    return next((plain[name] for name in names if name in plain), "")


Record = Mapping[str, Any]


class ToolRow(NamedTuple):
    """One grade: the number of the record that has it, and its cells by heading."""

    line: int
    cells: Mapping[str, str]


def table_of(
    source: TableFile,
    errors: ErrorList,
    rows: Iterable[ToolRow],
    *,
    how: str,
) -> Table:
    """The rows as a table; its headings are those of all rows, in the order in which they come.

    Raises InputError where there is no row, or there are too many. A row with a cell that is too long is a mistake.
    """
    taken: list[ToolRow] = []
    headings: dict[str, None] = {}
    for row in rows:
        if long := next((heading for heading, cell in row.cells.items() if len(cell) > MOST_CELL), ""):
            message = f"the text is longer than {MOST_CELL:,} characters"
            errors.add(source.error(row.line, long, row.cells[long], message))
            continue
        if len(taken) == MOST_ROWS:
            raise source.error(row.line, "", "", f"the file has more than {MOST_ROWS:,} grades; split it")
        taken.append(row)
        headings |= dict.fromkeys(row.cells)
    if not taken and not errors:
        raise source.error(None, "", "", "the file has no grade")
    if len(headings) > source.caps.columns:
        raise source.error(None, "", "", f"the records have more than {source.caps.columns:,} fields")
    names = list(headings)
    filled = ((line, [cells.get(name, "") for name in names]) for line, cells in taken)
    return Table(how, names, filled, is_named=True)


def knowing(table: Table, known: Mapping[str, str], notes: Sequence[str]) -> Table:
    """The table with what its form says of its columns, as far as it has them, and of what was left out."""
    return table._replace(known={name: known[name] for name in table.headings if name in known}, notes=notes)


def text_of(value: Any) -> str:
    """A value as the text of a cell: whole numbers without a point, lists of texts divided by semicolons."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "; ".join(one.strip() for one in value)
    return json.dumps(value, ensure_ascii=False)
