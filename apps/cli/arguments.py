"""Types of command-line options, with a sentence for wrong values, and columns of a table as text."""

from __future__ import annotations

import csv
import io
import math
import shlex
import sys
from argparse import ArgumentTypeError
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


def called(command: str) -> str:
    """How a command is typed by whoever typed this one: the client in a public release is a file that Python runs."""
    program = ["python3", sys.argv[0]] if sys.argv[0].endswith(".pyz") else ["karat"]
    return shlex.join([*program, command])


def whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"'{text}' is not a whole number from 0")
    return int(text)


def whole_from_one(text: str) -> int:
    if whole(text) < 1:
        raise ArgumentTypeError(f"'{text}' is not a whole number from 1")
    return int(text)


def finite(text: str) -> float:
    """Any number, without infinity and NaN."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"'{text}' is not a number")
    return value


def amount(text: str) -> float:
    """A number from 0, without infinity and NaN."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ArgumentTypeError(f"'{text}' is not a number from 0")
    return value


def share(text: str) -> float:
    """A share between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"'{text}' is not a share between 0 and 1, such as 0.95")
    return value
