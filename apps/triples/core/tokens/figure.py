"""A figure, and a kind of figures with its pattern."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Figure(NamedTuple):
    """A figure as written (unit included), its comparable form, and its unit, if any.

    `parts` are those of a name next to a number (TLS 1.2): each may occur alone.
    """

    shown: str
    plain: str
    unit: str = ""
    parts: tuple["Figure", ...] = ()


# Start and end of a figure in the text, and the figure.
Found = tuple[int, int, Figure]


class Kind(NamedTuple):
    """One way to write figures: its pattern, and the figures of a match, which may be none."""

    pattern: re.Pattern[str]
    read: Callable[[str, re.Match[str]], list[Found]]
