"""The flat CSV format: one row for each judged pair, cells that a spreadsheet would execute made safe."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from apps.common.files.csvsafe import safe_cell
from apps.goldsets.formats.content import Content, GradeRow, in_order

COLUMNS = ("query_id", "query_text", "doc_id", "doc_title", "grade", "split", "notes")


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    yield "csv/judgements.csv", _lines(content)


def _lines(content: Content) -> Iterator[bytes]:
    yield _line(COLUMNS)
    for row in in_order(content.grades(), lambda r: (r.query_id, r.block_id)):
        texts = (row.query_id, row.query_text, row.block_id, row.block_title)
        rest = (str(row.grade), row.split, _notes(row))
        yield _line((*(safe_cell(text) for text in texts), *rest))


def _line(cells: tuple[str, ...]) -> bytes:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(cells)
    return out.getvalue().encode()


def _notes(row: GradeRow) -> str:
    judges = "1 judge" if row.judges == 1 else f"{row.judges} judges"
    return f"{row.resolution}, {judges}" if row.resolution else judges
