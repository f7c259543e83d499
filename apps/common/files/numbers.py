"""Numbers as programs and people write them in files: 3 is also 3.0 and 3,0."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?\Z", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}\Z", re.ASCII)
MOST_WHOLE = 10**9
NOTHING = frozenset({"", "nan", "null", "<na>", "na", "n/a", "#n/a"})


@lru_cache(maxsize=1_000)
def is_nothing(written: str) -> bool:
    """Whether a cell is empty, also as programs write an empty one."""
    return written.strip().casefold() in NOTHING


def number_in(written: str, *, has_commas: bool = False) -> float | None:
    """The finite number that is written, in the digits of any script, with a decimal point or comma; else None.

    1,234 may be a thousand and more: it is read only where numbers are known to have decimal commas (`has_commas`).
    """
    written = written.strip()
    if not written.isascii():
        written = "".join(str(unicodedata.decimal(letter, letter)) for letter in written).replace("\u066b", ",")
    if not _NUMBER.match(written) or (not has_commas and _THOUSANDS.match(written)):
        return None
    number = float(written.replace(",", "."))
    return number if math.isfinite(number) else None


def whole_in(written: str) -> int | None:
    """The whole number that is written, also as 3.0, 3,0 or 3e0; None for anything else."""
    number = number_in(written)
    return int(number) if number is not None and number.is_integer() and abs(number) < MOST_WHOLE else None


class Decimals:
    """Reads the numbers of one column, whose decimals are all divided by a point, or all by a comma.

    With both in one column the points may divide thousands, so that the value is refused. In a table that commas
    divide, 1,234 is refused too.
    """

    def __init__(self, *, has_commas: bool) -> None:
        self.has_commas = has_commas
        self._mark = ""

    def read(self, written: str) -> float:
        """The number. Raises ValueError with what is wrong, to stand after the value."""
        number = number_in(written, has_commas=self.has_commas)
        if number is None:
            raise ValueError("is not a finite number")
        if mark := next((mark for mark in ".," if mark in written), ""):
            self._mark = self._mark or mark
            if mark != self._mark:
                raise ValueError("has another decimal mark than the numbers above it; write all of them alike")
        return number
