"""Tables as workbooks: cells of text stay as they are, and the same rows are the same bytes.

Written here, since no library of ours writes workbooks, and those that do add the time and pack with the zlib at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from itertools import chain, count, islice
from tempfile import TemporaryFile

from apps.common.files.csvsafe import workbook_cell
from apps.goldsets.formats.content import Unwritable
from apps.goldsets.formats.zipping import CHUNK_BYTES, write_zip

MOST_ROWS = 1_048_575
"""Of a sheet, below its headings."""
LONGEST_TEXT = 32_767
Cell = str | int | None


def workbooks(
    path: str, columns: Mapping[str, int], rows: Iterable[Iterable[Cell]]
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The rows in `path.xlsx`, under headings with their widths in letters. Texts are cells of text, so 007 stays 007.

    More rows than a sheet can have go on in `path-2.xlsx`, since of a workbook one sheet is read. Each file is taken
    before the next is asked for. Raises Unwritable for a text that no cell can have.
    """
    left = iter(rows)
    for number in count(1):
        row = next(left, None)
        if row is None and number > 1:
            return
        here = chain(() if row is None else (row,), islice(left, MOST_ROWS - 1))
        yield f"{path}{'' if number == 1 else f'-{number}'}.xlsx", _workbook(columns, here)


def _workbook(columns: Mapping[str, int], rows: Iterable[Iterable[Cell]]) -> Iterator[bytes]:
    with TemporaryFile() as sheet, TemporaryFile() as book:
        sheet.writelines(text.encode() for text in _sheet(columns, rows))
        sizes = [*((name, len(part)) for name, part in PARTS.items()), (SHEET, sheet.tell())]
        sheet.seek(0)
        write_zip(sizes, lambda name: sheet if name == SHEET else BytesIO(PARTS[name]), book)
        book.seek(0)
        while piece := book.read(CHUNK_BYTES):
            yield piece


def _sheet(columns: Mapping[str, int], rows: Iterable[Iterable[Cell]]) -> Iterator[str]:
    """The sheet in pieces: the headings, which stay in sight, then the rows."""
    yield f'{XML}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    yield '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>'
    for place, width in enumerate(columns.values(), 1):
        yield f'<col min="{place}" max="{place}" width="{width}" customWidth="1"/>'
    yield "</cols><sheetData>"
    for number, row in enumerate(chain([columns], rows), 1):
        style = TEXT if number > 1 else HEADING
        cells = [_cell(f"{chr(ord('A') + place)}{number}", value, style) for place, value in enumerate(row)]
        yield f'<row r="{number}">{"".join(cells)}</row>'
    yield "</sheetData></worksheet>"


def _cell(place: str, value: Cell, style: str) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str):
        return f'<c r="{place}"><v>{value}</v></c>'
    if len(value) > LONGEST_TEXT:
        raise Unwritable(
            f"A text is longer than the {LONGEST_TEXT:,} characters that a cell of a workbook can have: "
            f"{value[:60]!r} … Export CSV, JSONL or Parquet."
        )
    text = MARKUP.sub(lambda found: ESCAPES.get(found[0], ""), workbook_cell(value))
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


MARKUP = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "_": "_x005F_"}
"""Other signs that XML cannot have are left out: nobody sees them."""
TEXT, HEADING = "1", "2"
"""Formats of cells: text with its line ends shown, and the same in bold."""
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
SCHEMAS = "http://schemas.openxmlformats.org"
MAIN, OFFICE = f"{SCHEMAS}/spreadsheetml/2006/main", f"{SCHEMAS}/officeDocument/2006/relationships"
PACKAGE, KIND = f"{SCHEMAS}/package/2006", "application/vnd.openxmlformats-officedocument.spreadsheetml"
SHEET = "xl/worksheets/sheet1.xml"
FORMAT = (
    '<xf xfId="0" numFmtId="49" fontId="{}" applyNumberFormat="1" applyFont="1" applyAlignment="1">'
    '<alignment vertical="top" wrapText="1"/></xf>'
)
PARTS = {
    name: f"{XML}{text}".encode()
    for name, text in {
        "[Content_Types].xml": f"""<Types xmlns="{PACKAGE}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>\
<Override PartName="/{SHEET}" ContentType="{KIND}.worksheet+xml"/>\
<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/></Types>""",
        "_rels/.rels": f"""<Relationships xmlns="{PACKAGE}/relationships">\
<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>""",
        "xl/_rels/workbook.xml.rels": f"""<Relationships xmlns="{PACKAGE}/relationships">\
<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>\
<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>""",
        "xl/workbook.xml": f"""<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">\
<sheets><sheet name="judgements" sheetId="1" r:id="rId1"/></sheets></workbook>""",
        "xl/styles.xml": f"""<styleSheet xmlns="{MAIN}">\
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>\
<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill>\
<fill><patternFill patternType="gray125"/></fill></fills>\
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>\
<cellXfs count="3"><xf xfId="0"/>{FORMAT.format(0)}{FORMAT.format(1)}</cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>""",
    }.items()
}
