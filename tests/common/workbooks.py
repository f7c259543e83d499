"""Workbooks for tests."""

import io
import struct
import zipfile
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


MANIFEST = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'


def open_workbook(rows: Iterable[Sequence[str]], styles: str = "") -> bytes:
    """An ODS file with these texts, which may have XML in them, on one sheet."""
    kinds = ("office", "table", "text", "style")
    spaces = " ".join(f'xmlns:{kind}="urn:oasis:names:tc:opendocument:xmlns:{kind}:1.0"' for kind in kinds)
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    lines = "".join(f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>" for row in rows)
    stream = io.BytesIO()
    body = f'<office:spreadsheet><table:table table:name="A">{lines}</table:table></office:spreadsheet>'
    automatic = f"<office:automatic-styles>{styles}</office:automatic-styles>"
    content = (
        f"<office:document-content {spaces}>{automatic}<office:body>{body}</office:body></office:document-content>"
    )
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", content)
    return stream.getvalue()


def binary_workbook(rows: Iterable[Sequence[str]]) -> bytes:
    """An XLSB file with these texts on one sheet. No library writes that form, so its records are made by hand."""
    named = _record(156, struct.pack("<II", 0, 1) + _text("rId1") + _text("A"))
    book = _record(131) + _record(143) + named + _record(144) + _record(132)
    rows = list(rows)
    extent = struct.pack("<IIII", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)
    sheet = _record(129) + _record(148, extent) + _record(145)
    for number, cells in enumerate(rows):
        sheet += _record(0, struct.pack("<I", number) + bytes(13))
        for place, cell in enumerate(cells):
            sheet += _record(6, struct.pack("<II", place, 0) + _text(cell))
    sheet += _record(146) + _record(130)
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.bin"/></Relationships>'
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.bin", book)
        archive.writestr("xl/_rels/workbook.bin.rels", relation)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return stream.getvalue()


def _record(kind: int, data: bytes = b"") -> bytes:
    """A record: kind and length in seven bits a byte, the eighth saying that more follow."""
    out = b""
    for number in (kind, len(data)):
        while number > 127:
            out += bytes([number & 127 | 128])
            number >>= 7
        out += bytes([number])
    return out + data


def _text(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")
