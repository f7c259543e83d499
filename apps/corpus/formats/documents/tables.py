"""Tables as a corpus: CSV with any separator and encoding, and every visible sheet of a workbook with a column of text.

With the columns `block_id`, `document_id` and `text` the rows are passages as in Karat's own CSV; else see `records`.
"""

from collections.abc import Iterator

from apps.common.errors import InputError
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList, all_of
from apps.common.files.tabular import TableFile
from apps.common.files.workbook_rows import EMPTY, LOCKED, NOT_READ
from apps.common.files.workbooks import REASONS, TOO_LARGE
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.documents import DAMAGED, SourceFile, Unreadable
from apps.corpus.formats.documents.office_files import is_encrypted
from apps.corpus.formats.documents.records import NO_TEXT, read_records
from apps.corpus.formats.flat import row_of
from apps.corpus.formats.rows import BlockRow, rows_from

OWN_FORM = {"block_id", "document_id", "text"}
MOST_SHEETS = 100
NO_TABLE = "the table is empty"
PHRASES = {
    REASONS[EMPTY]: "spreadsheet without a visible sheet",
    REASONS[NOT_READ]: "damaged spreadsheet",
    REASONS[LOCKED]: "spreadsheet with a password",
    TOO_LARGE: "spreadsheet that needs too much memory or time",
    NO_TABLE: "empty table",
}
"""What keeps a whole file unread, by the message of its reader."""


def read_table(source: SourceFile) -> Iterator[Document | BlockRow | ReadingNote]:
    """The rows of all tables in a file; sheets without a column of text are left out, unless all are."""
    if is_encrypted(source.stream):
        raise Unreadable(PHRASES[REASONS[LOCKED]])
    file, errors = TableFile(source.path, source.stream), ErrorList()
    with_text = 0
    first = _opened(file, errors, "")
    for sheet in first.sheets[:MOST_SHEETS] or [""]:
        try:
            table = first if sheet == first.sheet else _opened(file, errors, sheet)
            yield from _rows(source, file, table, errors)
            with_text += 1
        except Unreadable as unreadable:
            if unreadable.reason not in {NO_TEXT, PHRASES[NO_TABLE]}:
                raise
    if not with_text:
        raise Unreadable(NO_TEXT)
    if errors:
        raise all_of(errors)


def _opened(file: TableFile, errors: ErrorList, sheet: str) -> Table:
    try:
        return open_table(file, errors, sheet=sheet)
    except InputError as error:
        raise _unreadable(error) from error


def _rows(
    source: SourceFile, file: TableFile, table: Table, errors: ErrorList
) -> Iterator[Document | BlockRow | ReadingNote]:
    records = ((line, dict(zip(table.headings, cells, strict=True))) for line, cells in table.rows)
    try:
        if set(table.headings) >= OWN_FORM:
            yield from rows_from(file, errors, records, row_of)
        else:
            place = f"{source.path}/{table.sheet}" if len(table.sheets) > 1 else source.path
            yield from read_records(source._replace(path=place), "table", table.headings, records, errors)
    except InputError as error:
        raise _unreadable(error) from error


def _unreadable(error: InputError) -> Exception:
    """The exception for a file that cannot be read at all; the error itself when it is about a line."""
    phrase = PHRASES.get(error.message) or (DAMAGED if error.line is None else "")
    return Unreadable(phrase) if phrase else error
