"""Texts of others inside Markdown that we write: escaped, or as code, always on one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
LINE_BREAKS = re.compile(r"\s*[\r\n\v\f\x85\u2028\u2029]+\s*")


def escaped(text: str) -> str:
    """The text on one line, with its Markdown escaped."""
    return SPECIAL.sub(r"\\\1", LINE_BREAKS.sub(" ", text))


def as_code(text: str) -> str:
    """The text as code; the fence is longer than any run of backticks in it."""
    if not text:
        return ""
    text = LINE_BREAKS.sub(" ", text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, room = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{room}{text}{room}{fence}"


def code_cell(text: str) -> str:
    """The text as code in a cell of a table."""
    return as_code(text).replace("|", "\\|")


def rows_of(rows: Iterable[Sequence[str]]) -> str:
    """The lines of a table, of cells that are Markdown already."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
