"""Data types of a parsed text: runs of characters, some of them Markdown's own signs, inside of elements."""

from dataclasses import dataclass, field
from typing import NamedTuple

Span = tuple[int, int]


class Run(NamedTuple):
    """A stretch of the text. A sign (backticks, pipes, the address of a link) is not shown by itself."""

    start: int
    end: int
    is_sign: bool = False


@dataclass(slots=True)
class Node:
    """An element: a leaf contains runs and literal tags, any other one contains elements.

    Between the end of one leaf and the `start` of the next there is only white space.
    """

    tag: str
    attributes: str = ""
    children: "list[Node]" = field(default_factory=list)
    pieces: list[Run | str] | None = None
    start: int = 0
    end: int = 0
