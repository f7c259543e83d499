"""What a figure is, and what finds those of one kind."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Figure(NamedTuple):
    """A figure as written (unit included), its comparable form, and its unit, if any.

    `parts` are there for a name and a number that only stand side by side (TLS 1.2): each may be said alone.
    """

    shown: str
    plain: str
    unit: str = ""
    parts: tuple["Figure", ...] = ()


# Where a figure begins and ends in the text, and the figure.
Found = tuple[int, int, Figure]


class Kind(NamedTuple):
    """One way to write figures: the pattern that finds it, and what a match of it says; it may say nothing."""

    pattern: re.Pattern[str]
    read: Callable[[str, re.Match[str]], list[Found]]
