"""Rows of text as a table: in columns for people, or divided by a delimiter."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def aligned(rows: Sequence[Sequence[str]], *, first_left: int = 1) -> str:
    """Columns of even width, the first ones set left and the others right; nothing for a heading without rows."""
    if len(rows) < 2:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column < first_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def delimited(rows: Iterable[Sequence[Any]], delimiter: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()
