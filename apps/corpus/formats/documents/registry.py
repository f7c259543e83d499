"""The kinds of files that are read, with their names on pages, and the readers of tables, Markdown, AsciiDoc and text.

AsciiDoc becomes Markdown: its headings, blocks of code, lists, tables, links and emphasis; attributes and comments go.
"""

import csv
import re
from collections.abc import Iterator
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList, all_of
from apps.common.files.tabular import TableFile
from apps.common.files.workbook_rows import EMPTY, LOCKED, NOT_READ
from apps.common.files.workbooks import REASONS, TOO_LARGE
from apps.corpus.core.documents import AS_DATA, AS_TEXT, READ_AS, Document, ReadingNote
from apps.corpus.core.import_plans import has_known_heading
from apps.corpus.core.outlines import code_in, first_title
from apps.corpus.formats import read_blocks
from apps.corpus.formats.documents import DAMAGED, Found, Reader, SourceFile, Unreadable
from apps.corpus.formats.documents.html import read_html
from apps.corpus.formats.documents.json_records import read_json, read_parquet
from apps.corpus.formats.documents.office_files import is_encrypted, read_docx
from apps.corpus.formats.documents.oscal import read_opencontrol, read_oscal
from apps.corpus.formats.documents.pdf import read_pdf
from apps.corpus.formats.documents.records import HEADINGS, NO_TEXT, read_records, text_of
from apps.corpus.formats.documents.rst import read_rst
from apps.corpus.formats.documents.site_tags import TAGS_CUT, front_matter, without_tags
from apps.corpus.formats.documents.trec import read_trec
from apps.corpus.formats.rows import OWN_FORM, BlockRow, row_of_cells, rows_from

MOST_SHEETS = 100
NO_TABLE = "the table is empty"
SCRIPTS_LOST = "read with superscripts as plain digits, as XLS and XLSB are: save as XLSX to keep them"
ROW_AS_DATA = "read with the first row as a row like the others"
PHRASES = {
    REASONS[EMPTY]: "spreadsheet without a visible sheet",
    REASONS[NOT_READ]: "damaged spreadsheet",
    REASONS[LOCKED]: "spreadsheet with a password",
    TOO_LARGE: "spreadsheet that needs too much memory or time",
    NO_TABLE: "empty table",
}
"""What keeps a whole file unread, by the message of its reader."""


def read_table(source: SourceFile) -> Iterator[Found]:
    """The rows of all tables in a file: CSV, or the visible sheets of a workbook.

    Sheets without a column of text are left out, unless all are. With the columns `block_id`, `document_id` and `text`
    the rows are passages as in Karat's own CSV; else they are records (see `read_records`). A first row without a known
    heading is read as a row like the others, unless a person said what it is.
    """
    if is_encrypted(source.stream):
        raise Unreadable(PHRASES[REASONS[LOCKED]])
    file, errors = TableFile(source.path, source.stream), ErrorList()
    has_headings: set[bool] = set()
    first = _opened(source, file, errors, "")
    for sheet in first.sheets[:MOST_SHEETS] or [""]:
        try:
            table = first if sheet == first.sheet else _opened(source, file, errors, sheet)
            yield from _rows(source, file, table, errors)
            has_headings.add(table.line > 0)
        except Unreadable as unreadable:
            if unreadable.reason not in {NO_TEXT, PHRASES[NO_TABLE]}:
                raise
    if not has_headings:
        raise Unreadable(NO_TEXT)
    if first.notes:
        yield ReadingNote(SCRIPTS_LOST)
    if False in has_headings:
        yield ReadingNote(ROW_AS_DATA)
    if errors:
        raise all_of(errors)


def _opened(source: SourceFile, file: TableFile, errors: ErrorList, sheet: str) -> Table:
    try:
        table = open_table(file, errors, sheet=sheet)
        is_known = has_known_heading([HEADINGS], table.headings) or not source.columns.keys().isdisjoint(table.headings)
        has_headings = source.first_row != AS_DATA if source.first_row else is_known
        return table if has_headings else open_table(file, errors, sheet=sheet, has_headings=False)
    except InputError as error:
        raise _unreadable(error) from error


def _rows(source: SourceFile, file: TableFile, table: Table, errors: ErrorList) -> Iterator[Found]:
    records = ((line, dict(zip(table.headings, cells, strict=True))) for line, cells in table.rows)
    try:
        if set(table.headings) >= OWN_FORM:
            yield from rows_from(file, errors, records, row_of_cells)
        else:
            place = f"{source.path}/{table.sheet}" if len(table.sheets) > 1 else source.path
            yield from read_records(source._replace(path=place), "table", table.headings, records, errors)
    except InputError as error:
        raise _unreadable(error) from error


def _unreadable(error: InputError) -> Exception:
    """The exception for a file that cannot be read at all; the error itself when it is about a line."""
    phrase = PHRASES.get(error.message) or (DAMAGED if error.line is None else "")
    return Unreadable(phrase) if phrase else error


def read_markdown(file: SourceFile) -> Iterator[Document]:
    """The file as one document. Front matter that is no YAML or TOML, or too large, stays part of the text."""
    decoded = text_of(file)
    fields, text = front_matter(decoded.text)
    read = without_tags(text, fields, code_in)
    note, text = decoded.note or (TAGS_CUT if read != text else ""), read
    title = fields.pop("title", "")
    if not isinstance(title, str) or not title.strip():
        title = first_title(text)
    yield Document(file.path, "markdown", " ".join(title.split()), text, fields, note=note)


def passages_as(format: str) -> Reader:
    """The reader of one of the formats of `read_blocks`. Raises InputErrors when a record is wrong."""

    def read(file: SourceFile) -> Iterator[BlockRow]:
        errors = ErrorList()
        try:
            yield from read_blocks(TableFile(file.path, file.stream), errors, format=format)
        except InputError as error:
            if error.line is None:  # about the file, and not about one of its lines
                raise Unreadable(DAMAGED) from error
            raise
        if errors:
            raise all_of(errors)

    return read


def read_text(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    name = file.path.rpartition("/")[2]
    title = name.rpartition(".")[0] or name
    yield Document(file.path, "text", title, decoded.text, {READ_AS: AS_TEXT}, note=decoded.note)


_ADOC_HEADING = re.compile(r"(={1,6})\s+(\S.*?)(?:\s+=+)?\Z")
_ADOC_DROPPED = re.compile(r"//(?!/)|:!?[\w-]+!?:|\[[^\]]*\]\s*\Z|(?:include|image|toc|video|audio)::|<<<\Z|'''\Z|\+\Z")
_ADOC_TITLE = re.compile(r"\.(?=[^\s.])(.*)\Z")
_ADOC_BULLET = re.compile(r"(\*{1,5}|-)\s+(?=\S)")
_ADOC_NUMBERED = re.compile(r"(\.{1,5})\s+(?=\S)")
_ADOC_TERM = re.compile(r"(\S.*?)::(?:\s+(.*))?\Z")
_ADOC_LINK = re.compile(r"(?:link:|xref:)?((?:https?://|mailto:)?[^\s\[\]<>`]+)\[([^\]]+)\]")
_ADOC_CROSS = re.compile(r"<<[^,>]+(?:,\s*([^>]*))?>>")
_ADOC_BOLD = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_ADOC_CODE = ("----", "....", "```")
_ADOC_COMMENT, _FENCE = "////", "```"
_ADOC_TABLES = {"|===": "psv", ",===": "csv", ":===": "dsv"}
"""The frame of a table, and the form of its cells where the line above it gives no other."""
_ADOC_SEPARATORS = {"csv": ",", "tsv": "\t", "dsv": ":"}
_ADOC_OPTION = re.compile(r"\b(format|separator)\s*=\s*(\"[^\"]*\"|[^,\]\s]+)")
_ADOC_FRAMES = ("====", "****", "____", "--")
"""What frames notes, sidebars, quotes and open blocks: their content is text."""


def read_asciidoc(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    text = asciidoc_as_markdown(decoded.text)
    yield Document(file.path, "asciidoc", first_title(text), text, {}, note=decoded.note)


def asciidoc_as_markdown(text: str) -> str:
    """The text as Markdown. Whatever is not known stays as it is."""
    out: list[str] = []
    lines, above = iter(text.splitlines()), ""
    for line in lines:
        mark, options = line.rstrip(), dict(_ADOC_OPTION.findall(above))
        above = mark if mark.startswith("[") else ""
        if mark == _ADOC_COMMENT:
            list(_until(lines, _ADOC_COMMENT))
        elif mark in _ADOC_CODE:
            out += [_FENCE, *_until(lines, mark), _FENCE]
        elif mark in _ADOC_TABLES:
            form = options.get("format", _ADOC_TABLES[mark]).strip('"')
            separator = options.get("separator", _ADOC_SEPARATORS.get(form, "")).strip('"').replace("\\t", "\t")
            out += _adoc_table(list(_until(lines, mark)), form, separator)
        elif mark not in _ADOC_FRAMES and not _ADOC_DROPPED.match(mark):
            out.append(_adoc_line(mark))
    return "\n".join(out) + "\n"


def _until(lines: Iterator[str], mark: str) -> Iterator[str]:
    for line in lines:
        if line.rstrip() == mark:
            return
        yield line


def _adoc_line(line: str) -> str:
    if heading := _ADOC_HEADING.match(line):
        return f"{'#' * len(heading[1])} {_adoc_words(heading[2])}"
    if title := _ADOC_TITLE.match(line):
        return f"**{_adoc_words(title[1])}**\n"
    if bullet := _ADOC_BULLET.match(line):
        indent = 0 if bullet[1] == "-" else len(bullet[1]) - 1
        return f"{'  ' * indent}- {_adoc_words(line[bullet.end() :])}"
    if numbered := _ADOC_NUMBERED.match(line):
        return f"{'   ' * (len(numbered[1]) - 1)}1. {_adoc_words(line[numbered.end() :])}"
    if (term := _ADOC_TERM.match(line)) and "://" not in term[1]:
        return f"**{_adoc_words(term[1])}** {_adoc_words(term[2] or '')}".rstrip()
    return _adoc_words(line)


def _adoc_words(text: str) -> str:
    text = _ADOC_CROSS.sub(lambda cross: cross[1] or "", text)
    return _ADOC_BOLD.sub(r"**\1**", _ADOC_LINK.sub(r"[\2](\1)", text))


def _adoc_table(lines: list[str], form: str, separator: str) -> list[str]:
    """The rows of a table; its lines where they do not come out even."""
    rows = _separated(lines, form, separator) if form in _ADOC_SEPARATORS else _begun(lines, separator or "|")
    width = len(rows[0]) if rows else 0
    if width < 2 or any(len(row) != width for row in rows):
        return ["", *lines, ""]
    flat = [[_adoc_words(cell.strip()).replace("|", chr(92) + "|") for cell in row] for row in rows]
    shown = [f"| {' | '.join(row)} |" for row in flat]
    return ["", shown[0], f"|{' --- |' * width}", *shown[1:], ""]


def _separated(lines: list[str], form: str, separator: str) -> list[list[str]]:
    """Rows with a separator between their cells, which a backslash makes a letter in `dsv`; none where they are none.

    Cells in quotation marks may go over several lines.
    """
    try:
        if form == "dsv":
            found = csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE, escapechar="\\")
        else:
            found = csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True)
        return [[" ".join(cell.split()) for cell in row] for row in found if row]
    except (csv.Error, TypeError):
        return []


def _begun(lines: list[str], mark: str) -> list[list[str]]:
    """Rows with a mark at the beginning of each cell, with as many cells as the first line has."""
    cells: list[str] = []
    width, begin = 0, re.compile(rf"(?:^|(?<=\s))[\w.+^<>]*{re.escape(mark)}")
    for line in lines:
        before, *begun = begin.split(line)
        if before.strip() and cells:
            cells[-1] = f"{cells[-1]} {before.strip()}"
        cells += map(str.strip, begun)
        width = width or len(begun)
    return [cells[start : start + width] for start in range(0, len(cells), width)] if width else []


class Kind(NamedTuple):
    title: str
    read: Reader


KINDS: dict[str, Kind] = {
    "markdown": Kind("Markdown", read_markdown),
    "html": Kind("HTML", read_html),
    "rst": Kind("reStructuredText", read_rst),
    "asciidoc": Kind("AsciiDoc", read_asciidoc),
    "text": Kind("Text", read_text),
    "pdf": Kind("PDF", read_pdf),
    "docx": Kind("Word", read_docx),
    "xlsx": Kind("Workbook", read_table),
    "csv": Kind("CSV or another table", read_table),
    "json": Kind("JSON", read_json),
    "parquet": Kind("Parquet", read_parquet),
    "trec": Kind("TREC documents", read_trec),
    "oscal": Kind("OSCAL catalog", read_oscal),
    "opencontrol": Kind("OpenControl component", read_opencontrol),
    "jsonl": Kind("JSONL, one passage per line", passages_as("jsonl")),
    "beir": Kind("BEIR corpus.jsonl", passages_as("beir")),
    "smart": Kind("SMART (.I .T .A .B .W)", passages_as("smart")),
}
"""By the word that `recognise` returns, in the order of lists."""
TABLES = frozenset(name for name, kind in KINDS.items() if kind.read is read_table)
"""Those whose first row may be headings or not."""
