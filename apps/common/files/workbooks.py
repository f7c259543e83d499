"""Sheets of XLSX, XLS and ODS workbooks as rows of text. The workbook is read by a process of its own, with limits."""

import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from apps.common.files.filekinds import WORD, WORKBOOK, ZIP_STARTS, archive_kind
from apps.common.files.tabular import TableFile
from apps.common.files.workbook_rows import EMPTY, LOCKED, NO_SHEET, NOT_READ
from apps.common.text.words import with_scripts

PROGRAM = resources.files(__package__).joinpath("workbook_rows.py")
MOST_FILE_BYTES = 100_000_000
MOST_ROW_BYTES = 30_000_000
"""Of a row as its process prints it. A file has a text once, however many cells of a row repeat it."""
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".ods")
REASONS = {
    EMPTY: "the workbook has no visible sheet",
    NOT_READ: "the workbook is damaged, or of a form that is not read; save it as XLSX",
    NO_SHEET: "the workbook has no visible sheet of this name",
    LOCKED: "the workbook is encrypted; save it without a password",
}
TOO_LARGE = "the workbook needs too much memory or time: a sheet reaches too far; save the sheet as CSV"


class Sheets(NamedTuple):
    """The visible sheets of a workbook, the one that is read, and its rows by number."""

    names: list[str]
    name: str
    rows: Iterator[tuple[int, list[str]]]


def is_workbook(source: TableFile) -> bool:
    """Whether a file is a workbook: by its directory, or an archive by its name where the directory does not say."""
    head = source.head(len(OLE))
    if not head.startswith(ZIP_STARTS):
        return head == OLE
    with source.seekable(MOST_FILE_BYTES) as stream:
        kind = archive_kind(stream)
    return kind == WORKBOOK or (kind != WORD and source.name.lower().removesuffix(".gz").endswith(ENDINGS))


def knows_scripts(source: TableFile) -> bool:
    """Whether superscripts and subscripts of this workbook are told from digits: not those of its binary forms."""
    if not source.head(len(OLE)).startswith(ZIP_STARTS):
        return False
    with source.seekable(MOST_FILE_BYTES) as stream:
        try:
            names = zipfile.ZipFile(stream).namelist()
        except (zipfile.BadZipFile, OSError, ValueError):
            return True  # reading it says what is wrong
    return not any(name.endswith("workbook.bin") for name in names)


def read_sheet(source: TableFile, name: str = "") -> Sheets:
    """The sheet of this name, by default the largest one. Raises InputError.

    The rows are read while they are consumed; leave them, and the process ends.
    """
    rows = _records(source, name)
    first = next(rows)
    return Sheets(first["sheets"], first["sheet"], _numbered(rows))


def _numbered(records: Iterator) -> Iterator[tuple[int, list[str]]]:
    for number, *cells in records:
        yield number, [with_scripts(cell) for cell in cells]


def _records(source: TableFile, name: str) -> Iterator:
    command = [sys.executable, "-I", "-c", PROGRAM.read_text("utf-8"), name]
    with tempfile.TemporaryFile() as copy:
        for block in source.blocks(MOST_FILE_BYTES):
            copy.write(block)
        copy.seek(0)
        with subprocess.Popen(command, stdin=copy, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                assert process.stdout is not None
                while line := process.stdout.readline(MOST_ROW_BYTES):
                    if len(line) == MOST_ROW_BYTES:
                        raise source.error(None, "", "", TOO_LARGE)
                    if line.endswith(b"\n"):  # else it died while writing
                        yield json.loads(line)
                if code := process.wait():
                    raise source.error(None, "", name if code == NO_SHEET else "", REASONS.get(code, TOO_LARGE))
            finally:
                process.kill()
