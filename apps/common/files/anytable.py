"""Tables of any shape: CSV with any separator, quoting and encoding, workbooks, Parquet, and cells that were copied.

What was recognised is described in words, so that a person sees it. Rows keep their number in the file.
"""

import codecs
import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, dropwhile, islice
from types import MappingProxyType
from typing import Any, NamedTuple

from apps.common.files.csvsafe import restore_cell
from apps.common.files.faults import ErrorList, shown
from apps.common.files.filekinds import encoding_of, name_of, not_text
from apps.common.files.json_tables import bare_rows, fault_in, is_json, json_rows
from apps.common.files.linefiles import HALF_WIDE
from apps.common.files.parquet import MAGIC, is_parquet, read_parquet
from apps.common.files.tabular import TableFile, read_rows
from apps.common.files.workbooks import is_workbook, knows_scripts, read_sheet

Row = tuple[int, list[str]]
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", "^": "carets"}
ONE_COLUMN = "\x1f"
QUOTES = ('"', "'")
_REMARK, _REMARK_ALONE = re.compile(r"#\s*\w"), re.compile(r"#\s+\w")
"""How a remark begins in a row of a table, and where each row is one cell."""
AGAIN, DRAWN, BLANK = "repeats the headings", "draws a line", "is blank"
"""Why a row is not read."""
_LINE = re.compile(r"\s*:?-{3,}:?(?:\+-+)*\s*\Z")
"""A cell of the line below the headings, in tables of Markdown and of programs for databases."""
HEAD_BYTES = 1_024
SNIFF_BYTES = 64 * 1024
SNIFF_ROWS = 40
HEAD_ROWS = 10
LETTERED, UNNAMED = "Column", "unnamed"
"""Before the letter of a column: of a table without headings, and of a heading that is empty."""
ABOVE = "A row above the headings is not read: {}."
PARQUET, JSON = "Parquet", "JSON"
MOST_ROWS = 1_000_000
MOST_CELL = 100_000
NO_SCRIPTS = "Superscripts and subscripts of XLS and XLSB are read as plain digits: save the file as XLSX to keep them."
WIDE_BYTES = 50_000_000
"""The most that is recoded in memory, of files in UTF-16."""


class Table(NamedTuple):
    """A table: how it was read, its headings, and its rows below them, each with its number in the file.

    `sheets` are the names of the visible sheets of a workbook, empty for other files. Each row has as many cells as
    there are headings. `line` is the number of the row of headings. `known` says what columns are, where the form of
    the file says so; `notes` are sentences about what was left out. `is_named`: the form of the file names its columns,
    so that no row is taken for the headings.
    """

    how: str
    headings: list[str]
    rows: Iterator[Row]
    sheets: Sequence[str] = ()
    sheet: str = ""
    line: int = 1
    known: Mapping[str, str] = MappingProxyType({})
    notes: Sequence[str] = ()
    is_named: bool = False


def open_table(
    source: TableFile, errors: ErrorList, *, sheet: str = "", has_headings: bool = True, most: int = MOST_ROWS
) -> Table:
    """The table in a file. Raises InputError for what is no table; a row that does not fit is added to `errors`.

    The headings are the first row with as many filled cells as any of the first ten; rows above it are skipped. A
    heading that is there twice gets the letter of its column, an empty one is "unnamed B". Of a table without headings
    every row is read, and its columns are called by their letters. The source is at its beginning.
    """
    if is_workbook(source):
        names, name, rows = read_sheet(source, sheet)
        notes = [] if knows_scripts(source) else [NO_SCRIPTS]
        how = f"sheet {name} of a workbook" if len(names) > 1 else "a workbook"
    elif is_parquet(source.head(len(MAGIC))):
        names, name, rows, how, notes = [], "", packed_rows(source), PARQUET, []
    elif is_json(source) and (bare := bare_rows(source)):
        names, name, rows, how, notes = [], "", iter(bare[1]), JSON, []
        has_headings = has_headings or bare[0]
    elif is_json(source):
        headings, rows = json_rows(source, errors)
        return Table(JSON, headings, _of_length(source, headings, rows, errors), is_named=True)
    else:
        names, name, notes = [], "", []
        source, rows, how = _text_rows(source)
    first, rest, above = _from_headings(source, rows) if has_headings else (*_lettered(source, rows), [])
    notes += [ABOVE.format(shown(" ".join(filter(None, cells)))) for cells in above]
    below = list(islice(rest, HEAD_ROWS))
    headings, rest = _headings(source, first, below), chain(below, rest)
    if has_headings:
        rest = _once(source, first[1], rest, errors)
    fitted = _of_length(source, headings, _fitted(source, headings, rest, errors, most), errors)
    return Table(how, headings, fitted, names, name, first[0], notes=notes, is_named=how == PARQUET)


def is_packed_table(source: TableFile) -> bool:
    """Whether a file is a table that is not text: a workbook, or Parquet. The source stays at its beginning."""
    return is_workbook(source) or is_parquet(source.head(len(MAGIC)))


def packed_rows(source: TableFile) -> Iterator[Row]:
    """Rows as text, the names of the columns first; lists of texts are divided by semicolons, as tags are."""
    return ((number, list(map(_cell, row))) for number, row in enumerate(read_parquet(source), start=1))


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return "; ".join(value)
    return json.dumps(value, ensure_ascii=False)


def separator_of(text: str) -> tuple[str, str]:
    """The separator and the quote of the first lines of a table: those that divide the most rows alike.

    The separator is ONE_COLUMN, which no text contains, where none divides most rows.
    """
    scored = [
        (_fit(text, separator, quote), -place, separator, quote)
        for place, (separator, quote) in enumerate((s, q) for q in QUOTES for s in SEPARATORS)
    ]
    score, _, separator, quote = max(scored)
    return (separator, quote) if score > 0 else (ONE_COLUMN, '"')


def _fit(text: str, separator: str, quote: str) -> float:
    """The share of rows that have the commonest number of cells, plus a little for more cells; 0 for one column.

    Single quotes are meant where the text begins with one, and nothing breaks.
    """
    begins_so = text.lstrip("\ufeff").startswith(quote)
    if quote == "'" and not (begins_so or f"{separator}'" in text):
        return 0
    if quote == "'" and _is_broken(text, separator, quote):
        return 0
    rows = list(islice(_rows_before_fault(text, separator, quote), SNIFF_ROWS))
    counts = Counter(map(len, rows))
    width, alike = max(counts.items(), key=lambda pair: (pair[1], pair[0])) if counts else (1, 0)
    return alike / len(rows) + min(width, 50) / 1_000 + begins_so / 10_000 if width > 1 else 0


def _is_broken(text: str, separator: str, quote: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, strict=True))
    except csv.Error:
        return True
    return False


def _rows_before_fault(text: str, separator: str, quote: str) -> Iterator[list[str]]:
    """The rows up to where the quoting is broken, without empty cells at their ends."""
    found = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote, strict=True)
    with suppress(csv.Error):
        for row in found:
            while len(row) > 1 and not row[-1].strip() and any(map(str.strip, row)):
                row.pop()
            if row:
                yield row


def _text_rows(source: TableFile) -> tuple[TableFile, Iterator[Row], str]:
    """The rows of a text file as (the source to name in errors, rows, how it was read)."""
    encoding = encoding_of(source.blocks())
    if encoding.startswith("utf-16"):
        source = _narrowed(source, encoding)
    else:
        source.encoding = encoding
    head = source.head(SNIFF_BYTES)
    if reason := not_text(head):
        raise source.error(None, "", "", reason)
    source.find_line_ends()
    head = source.head(SNIFF_BYTES)
    whole = head[: head.rfind(b"\n") + 1] if len(head) == SNIFF_BYTES else head
    text = whole.decode(source.encoding, errors="replace").removeprefix("\ufeff")
    number, message = fault_in(text)
    if message:
        raise source.error(number, "", text.split("\n")[number - 1], message)
    separator, quote = separator_of(text)
    how = f"a table separated by {SEPARATORS[separator]}" if separator in SEPARATORS else "a table of one column"
    if encoding != "utf-8":
        how += f", read as {name_of(encoding)}"
    remark = _REMARK if separator in SEPARATORS else _REMARK_ALONE
    rows = dropwhile(lambda row: _is_remark(row[1], remark), read_rows(source, delimiter=separator, quote=quote))
    return source, rows, how


def _is_remark(cells: Sequence[str], form: re.Pattern[str]) -> bool:
    """Whether a row before the first one is a remark on the file, such as "# exported in May"."""
    return bool(cells and form.match(cells[0].strip())) and not any(map(str.strip, cells[1:]))


def in_utf8(source: TableFile) -> TableFile:
    """The file, in UTF-8 where it is text in UTF-16. The source is at its beginning."""
    encoding = "" if is_packed_table(source) else encoding_of([source.head(HEAD_BYTES)])
    return _narrowed(source, encoding) if encoding.startswith("utf-16") else source


def _narrowed(source: TableFile, encoding: str) -> TableFile:
    """The file in UTF-8: the bytes of a line feed divide UTF-16 anywhere."""
    data = b"".join(source.blocks(WIDE_BYTES))
    try:
        text = data.decode("utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else encoding)
    except UnicodeDecodeError as error:
        raise source.error(None, "", "", HALF_WIDE) from error
    return TableFile(source.name, io.BytesIO(text.encode()), source.caps)


def _from_headings(source: TableFile, rows: Iterator[Row]) -> tuple[Row, Iterator[Row], list[list[str]]]:
    """The row of headings, the rows below it, and the cells of those above it.

    Rows wider than most, with commas in a note say, do not count. The heading of an index is empty, and counts.
    """
    top = _top(source, rows)
    head = [(number, cells) for number, cells in top if not _is_blank(cells)]
    filled = [sum(bool(cell.strip()) for cell in cells) for _, cells in head]
    if len(head) > 1 and _is_index([cells[0] for _, cells in head]) and all(map(str.strip, head[0][1][1:])):
        filled[0] += 1
    widths = Counter(len(cells) for _, cells in head)
    width = max(widths, key=lambda width: (widths[width], width))
    most = max(count for count, (_, cells) in zip(filled, head, strict=True) if len(cells) <= width)
    place = next(place for place, count in enumerate(filled) if count >= min(most, max(2, most - 1)))
    below = top[top.index(head[place]) + 1 :]
    return head[place], chain(below, rows), [cells for _, cells in head[:place]]


def _is_index(column: Sequence[str]) -> bool:
    """Whether cells number the rows below a heading that is empty, as R and pandas write them."""
    return not column[0].strip() and column[1].strip() in {"0", "1"}


def _top(source: TableFile, rows: Iterator[Row]) -> list[Row]:
    """The first rows, down to the tenth that is not blank."""
    top: list[Row] = []
    filled = 0
    while filled < HEAD_ROWS and (row := next(rows, None)) is not None:
        top.append(row)
        filled += not _is_blank(row[1])
    if not filled:
        raise source.error(None, "", "", "the table is empty")
    return top


def _is_blank(cells: Iterable[str]) -> bool:
    return not any(map(str.strip, cells))


def _lettered(source: TableFile, rows: Iterator[Row]) -> tuple[Row, Iterator[Row]]:
    """Headings made for a table that has none, and all its rows."""
    head = _top(source, rows)
    width = max(place for _, cells in head for place, cell in enumerate(cells, 1) if cell.strip())
    return (0, [f"{LETTERED} {letters_of(place)}" for place in range(width)]), chain(head, rows)


def _headings(source: TableFile, first: Row, below: Sequence[Row]) -> list[str]:
    """The headings; empty ones at the end count where most of the rows below have a cell there."""
    line, cells = first
    below = [row for row in below if not _is_blank(row[1])]
    cells = [restore_cell(" ".join(cell.split())) for cell in cells]
    while cells and not cells[-1]:
        filled = sum(len(row) >= len(cells) and bool(row[len(cells) - 1].strip()) for _, row in below)
        if filled * 2 > len(below):
            break
        cells.pop()
    if len(cells) > source.caps.columns:
        raise source.error(line, "", "", f"the table has more than {source.caps.columns:,} columns")
    headings: list[str] = []
    for place, cell in enumerate(cells):
        headings.append(cell[:200] if cell and cell[:200] not in headings else f"{cell or UNNAMED} {letters_of(place)}")
    return headings


def letters_of(place: int) -> str:
    """The name of a column in a spreadsheet: A, B, …, Z, AA."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _fitted(source: TableFile, headings: list[str], rows: Iterator[Row], errors: ErrorList, most: int) -> Iterator[Row]:
    """The rows that are not empty, with a cell for each heading."""
    width, done = len(headings), 0
    for number, cells in rows:
        if _is_blank(cells):
            errors.warn(source.error(number, "", "", BLANK))
            continue
        done += 1
        if done > most:
            raise source.error(number, "", "", f"the table has more than {most:,} rows; split it")
        if beyond := next((cell for cell in cells[width:] if cell.strip()), ""):
            message = f"the row has {len(cells)} cells, there are {width} headings"
            errors.add(source.error(number, "", beyond, message))
            continue
        yield number, [*map(restore_cell, cells[:width]), *[""] * (width - len(cells))]


def _once(source: TableFile, first: list[str], rows: Iterator[Row], errors: ErrorList) -> Iterator[Row]:
    """The rows without those that are the headings again, as where two files were joined, or draw a line."""
    for number, cells in rows:
        again = [cell for cell, heading in zip(cells, first, strict=False) if cell == heading and cell.strip()]
        if len(again) > 1 or cells == first:
            errors.warn(source.error(number, "", cells[0], AGAIN))
        elif not _is_blank(cells) and all(map(_LINE.match, filter(str.strip, cells))):
            errors.warn(source.error(number, "", cells[0], DRAWN))
        else:
            yield number, cells


def _of_length(source: TableFile, headings: list[str], rows: Iterable[Row], errors: ErrorList) -> Iterator[Row]:
    """The rows without those that have a cell that is too long."""
    for number, cells in rows:
        if max(map(len, cells), default=0) > MOST_CELL:
            place, cell = next((place, cell) for place, cell in enumerate(cells) if len(cell) > MOST_CELL)
            message = f"the cell is longer than {MOST_CELL:,} characters"
            errors.add(source.error(number, headings[place], cell, message))
            continue
        yield number, cells
