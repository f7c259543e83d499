"""Workbooks for tests."""

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from openpyxl import Workbook


def workbook(sheets: Mapping[str, Iterable[Sequence[Any]]], hidden: Iterable[str] = ()) -> bytes:
    """An XLSX file with these rows on these sheets."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name in hidden:
            sheet.sheet_state = "hidden"
    return saved(book)


def saved(book: Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()
