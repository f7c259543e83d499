"""Cells that a spreadsheet would run as a formula, made harmless on export and restored on import.

A cell is dangerous when it begins with `= + - @`, with one of their full-width forms, or with a tab, carriage return or
line feed; leading blanks do not make it safer. A dangerous cell gets an apostrophe in front, even if it already has
some, so that removing one restores it exactly.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator

_DANGER = r"(?:[\t\r\n]|\s*[=+\-@＝＋－＠])"
_MAKE_SAFE = re.compile(rf"'*{_DANGER}")
_RESTORE = re.compile(rf"'+{_DANGER}")


def safe_cell(text: str) -> str:
    """The cell as it is written to CSV. `restore_cell` is its exact inverse."""
    if text[:1].isalnum():  # most cells: nothing dangerous begins with a letter or a digit
        return text
    return f"'{text}" if _MAKE_SAFE.match(text) else text


class _Echo:
    """A file that returns its lines."""

    def write(self, line: str) -> str:
        return line


def line_writer() -> Callable[[Iterable[object]], str]:
    """A function that writes a row as a line of CSV. Its cells are as they come: see `safe_cell`."""
    return csv.writer(_Echo(), lineterminator="\n").writerow


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The rows as lines of CSV, one by one, every cell made safe."""
    line = line_writer()
    for row in rows:
        yield line([safe_cell(str(cell)) for cell in row])


def restore_cell(text: str) -> str:
    """The cell as it was before `safe_cell`."""
    return text[1:] if _RESTORE.match(text) else text
