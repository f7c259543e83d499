"""Every single judgement, as CSV and as Parquet: people by pseudonym, with grade, times, note, guideline and round.

`karat agree` reads both by their headings: an item is a query with a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from apps.common.files.csvsafe import line_writer, safe_cell
from apps.goldsets.formats.content import Content, JudgementRow, in_order
from apps.goldsets.formats.parquet_files import TEXT, WHOLE, SecondFile

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
_CELLS = attrgetter(*("pass_number" if name == "pass" else name for name in COLUMNS))


def files(content: Content) -> Iterator[tuple[str, Iterator[bytes]]]:
    """No file at all for a reader who may not see single answers."""
    answers = content.judgements()
    if answers is None:
        return
    packed = SecondFile(COLUMNS)
    rows = packed.passing(map(_values, in_order(answers, _key)))
    yield "judgements/judgements.csv", _lines(rows)
    yield "judgements/judgements.parquet", packed.pieces()


def _key(row: JudgementRow) -> tuple[str | int, ...]:
    return row.query_id, row.block_id, row.round, row.annotator, row.pass_number


def _lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    line = line_writer()
    yield line(COLUMNS).encode()
    for values in rows:
        yield line([safe_cell(cell) if type(cell) is str else cell for cell in values.values()]).encode()


def _values(row: JudgementRow) -> dict[str, Any]:
    return dict(zip(COLUMNS, _CELLS(row), strict=True))
