"""Cells that a spreadsheet would run as a formula, made harmless on export and restored on import.

A cell is dangerous when it begins with `= + - @`, with one of their full-width forms, or with a tab, carriage return or
line feed; leading blanks do not make it safer. A dangerous cell gets an apostrophe in front, even if it already has
some, so that removing one restores it exactly.
"""

import re

_DANGER = r"(?:[\t\r\n]|\s*[=+\-@＝＋－＠])"
_MAKE_SAFE = re.compile(rf"'*{_DANGER}")
_RESTORE = re.compile(rf"'+{_DANGER}")


def safe_cell(text: str) -> str:
    """The cell as it is written to CSV. `restore_cell` is its exact inverse."""
    return f"'{text}" if _MAKE_SAFE.match(text) else text


def restore_cell(text: str) -> str:
    """The cell as it was before `safe_cell`."""
    return text[1:] if _RESTORE.match(text) else text
