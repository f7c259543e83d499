"""Every single judgement, as CSV and as Parquet: people by pseudonym, with grade, times, note, guideline and round.

`karat agree` reads both by their headings: an item is a query with a block.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from apps.common.files.csvsafe import safe_cell
from apps.goldsets.formats.content import Content, JudgementRow, in_order
from apps.goldsets.formats.parquet_files import TEXT, WHOLE, parquet_file

COLUMNS = {
    "query_id": TEXT,
    "block_id": TEXT,
    "annotator": TEXT,
    "grade": WHOLE,
    "pass": WHOLE,
    "cant_judge": TEXT,
    "note": TEXT,
    "given_at": TEXT,
    "active_ms": WHOLE,
    "away_ms": WHOLE,
    "round": WHOLE,
    "guideline": WHOLE,
    "split": TEXT,
}


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """No file at all for a reader who may not see single answers."""
    if content.judgements() is None:
        return
    yield "judgements/judgements.csv", _lines(content)
    yield "judgements/judgements.parquet", parquet_file(COLUMNS, map(_values, _rows(content)))


def _rows(content: Content) -> Iterator[JudgementRow]:
    return in_order(content.judgements() or (), _key)


def _key(row: JudgementRow) -> tuple[str, ...]:
    return row.query_id, row.block_id, f"{row.round:09}", row.annotator, f"{row.pass_number:05}"


def _lines(content: Content) -> Iterator[bytes]:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in _rows(content):
        writer.writerow(map(_cell, _values(row).values()))
        yield out.getvalue().encode()
        out.seek(0)
        out.truncate()
    yield out.getvalue().encode()


def _values(row: JudgementRow) -> dict[str, Any]:
    values = row._asdict()
    values["pass"] = values.pop("pass_number")
    return {name: values[name] for name in COLUMNS}


def _cell(value: object) -> str:
    if isinstance(value, str):
        return safe_cell(value)
    return "" if value is None else str(value)
