"""A program: writes a sheet of the workbook on standard input as JSON lines. `workbooks.py` runs it as a process.

A workbook of a few kilobytes can name a cell so far away that its reader wants terabytes and aborts. Here the limits of
the operating system apply to the reader alone, and the server goes on.
"""

import datetime
import io
import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

MOST_BYTES = 2_000_000_000
MOST_SECONDS = 120
EMPTY, NOT_READ, NO_SHEET, LOCKED = 3, 4, 5, 6
"""Exit codes: no sheet in the workbook, damaged, no sheet of this name, encrypted."""
MARKS, LEVEL = {b"superscript": b"\x0e", b"subscript": b"\x10"}, b"\x0f"
"""As `apps.common.text.words` has them: this program imports nothing of the project."""
WITH_TEXT = re.compile(r"xl/(sharedStrings|worksheets/[^/]+)\.xml")
SCRIPT = b"vertAlign"
RUN = re.compile(rb"<r>(?:(?!</r>).)*</r>", re.DOTALL)
STYLE = re.compile(rb'<vertAlign\s+val="(superscript|subscript)"')
TEXT = re.compile(rb"(<t(?:\s[^>]*)?>)([^<]*)(</t>)")
OPEN_TEXT, OPEN_SCRIPT = "content.xml", b"style:text-position"
OPEN_STYLE = re.compile(
    rb'<style:style\s[^>]*?style:name="([^"]+)"(?:(?!</style:style>).)*?style:text-position="([^" ]+)', re.DOTALL
)
SPAN = re.compile(rb'(<text:span\s[^>]*?text:style-name="([^"]+)"[^>]*>)([^<]*)(</text:span>)')


def cell_text(value: Any) -> str:
    """The cell as text: whole numbers without decimals, dates and times in ISO form."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 10**15 else repr(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value).replace("\0", "")


def rows_of(data: bytes, wanted: str) -> Iterator[dict[str, Any] | list[Any]]:
    """First the names of the sheets that are visible and the one read, then its rows: number, then cells."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        shown = [
            one.name
            for one in book.sheets_metadata
            if one.typ == SheetTypeEnum.WorkSheet and one.visible == SheetVisibleEnum.Visible
        ]
        if not shown:
            sys.exit(EMPTY)
        if wanted and wanted not in shown:
            sys.exit(NO_SHEET)
        sheets = [book.get_sheet_by_name(one) for one in ([wanted] if wanted else shown)]
        sheet = max(sheets, key=lambda one: one.height * one.width)
        yield {"sheets": shown, "sheet": sheet.name}
        for number, row in enumerate(sheet.iter_rows(), start=1):
            yield [number, *map(cell_text, row)]
    except PasswordError:
        sys.exit(LOCKED)
    except (CalamineError, ValueError, OverflowError, OSError):
        sys.exit(NOT_READ)


def with_marks(data: bytes) -> bytes:
    """The workbook with RAISED, LOWERED and LEVEL around what its cells have as superscripts and subscripts.

    The reader knows no formats inside a cell. Other workbooks than XLSX and ODS, and those that are no zip, stay as
    they are.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            names = book.namelist()
            parts = [name for name in names if WITH_TEXT.fullmatch(name)]
            marked = {name: RUN.sub(_marked, part) for name in parts if SCRIPT in (part := book.read(name))}
            if OPEN_TEXT in names and OPEN_SCRIPT in (part := book.read(OPEN_TEXT)):
                marked[OPEN_TEXT] = _marked_open(part)
            if not marked:
                return data
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as copy:
                for name in names:
                    copy.writestr(name, marked[name] if name in marked else book.read(name))
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
        return data
    return out.getvalue()


def _marked(run: re.Match[bytes]) -> bytes:
    kind = STYLE.search(run.group())
    if kind is None:
        return run.group()
    return TEXT.sub(rb"\1" + MARKS[kind[1]] + rb"\2" + LEVEL + rb"\3", run.group())


def _marked_open(content: bytes) -> bytes:
    """The content of an ODS: its styles say how far up or down a text is, as `super 58%` or `-33% 58%`."""
    marks = {name: _mark_at(position) for name, position in OPEN_STYLE.findall(content)}

    def mark(span: re.Match[bytes]) -> bytes:
        begin, name, text, end = span.groups()
        return begin + marks[name] + text + LEVEL + end if marks.get(name) else span.group()

    return SPAN.sub(mark, content)


def _mark_at(position: bytes) -> bytes:
    if position.startswith((b"sub", b"-")):
        return MARKS[b"subscript"]
    return b"" if position.rstrip(b"%").strip(b"0.") == b"" else MARKS[b"superscript"]


def _limit(seconds: int, memory: int) -> None:
    """The system ends this process when it takes more. Where it knows no such limits, the parent's clock remains."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def main() -> None:
    _limit(MOST_SECONDS, MOST_BYTES)
    for record in rows_of(with_marks(sys.stdin.buffer.read()), sys.argv[1] if len(sys.argv) > 1 else ""):
        sys.stdout.write(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
