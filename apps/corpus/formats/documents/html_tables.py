"""Tables of HTML as tables of Markdown, whose rows are equally long and whose cells span nothing."""

import re
from collections.abc import Iterator

from bs4 import Tag

from apps.corpus.formats.documents import Unreadable
from apps.corpus.formats.documents.html_tree import CELLS, PARTS

WIDEST = 200
"""Columns or rows that one cell may span."""
LARGEST_TABLE = 5_000_000
"""Characters, with repetitions; an empty cell counts as one."""
LARGE_TABLE = "table that is too large"


def rows_of(table: Tag) -> Iterator[list[Tag]]:
    """The rows of a table with their cells, without those of tables inside it."""
    for part in table.find_all(["tr", *PARTS], recursive=False):
        rows = [part] if part.name == "tr" else part.find_all("tr", recursive=False)
        for row in rows:
            yield row.find_all(list(CELLS), recursive=False)


def grid_of(rows: list[list[tuple[Tag, str]]]) -> list[list[str]]:
    """Rows of equal length: a cell over several columns or rows is repeated in each, so that every row can be read."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    size = 0
    for row in rows:
        line: list[str] = []
        for cell, text in row:
            _fill(line, below)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            size += (len(text) + 1) * across * down
            if size > LARGEST_TABLE:
                raise Unreadable(LARGE_TABLE)
            for _ in range(across):
                if down > 1:
                    below[len(line)] = (down - 1, text)
                line.append(text)
        _fill(line, below)
        if any(line):
            grid.append(line)
    width = max(map(len, grid), default=0)
    if width * len(grid) > LARGEST_TABLE:
        raise Unreadable(LARGE_TABLE)
    return [line + [""] * (width - len(line)) for line in grid]


def pipe_table(grid: list[list[str]]) -> str:
    """Rows of equal length as a table in Markdown; the first one is its head."""
    head, *rows = [[cell.replace("|", "\\|") for cell in row] for row in grid]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fill(line: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Add the cells of rows above that reach down to the next place of this line."""
    while found := below.pop(len(line), None):
        left, text = found
        if left > 1:
            below[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return max(1, min(int(value), WIDEST)) if re.fullmatch(r"\d{1,6}", value) else 1
