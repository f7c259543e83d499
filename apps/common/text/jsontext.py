"""JSON for people and machines: a list or object of plain values is on one line, a nested one on several.

A value for each of ten thousand queries is then ten thousand lines, not a hundred thousand, and written as fast as JSON
without line breaks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

STEP = "  "
ONE_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class WrittenJson(str):
    """A value that is already JSON, on one line, and is written unchanged."""

    __slots__ = ()


NESTED = {dict, list, tuple, WrittenJson}


def figures(names: Sequence[str], values: NDArray[np.float64]) -> Iterator[WrittenJson | dict[str, float | None]]:
    """For each row of an array, the object of its numbers by name; NaN is null."""
    if not np.isfinite(values).all():
        for row in values.tolist():
            yield {name: None if number != number else number for name, number in zip(names, row, strict=True)}
        return
    heads = [f"{ONE_LINE(name)}: " for name in names]
    for row in values.tolist():
        yield WrittenJson("{" + ", ".join(map(str.__add__, heads, map(float.__repr__, row))) + "}")


def written(value: object, indent: str = "") -> str:
    """The value as JSON, of plain dicts, lists and tuples; keys keep their order.

    Raises ValueError for a number that is not finite.
    """
    if isinstance(value, WrittenJson):
        return value
    if not isinstance(value, (dict, list, tuple)) or not _is_nested(value):
        return ONE_LINE(value)
    inner = indent + STEP
    if isinstance(value, dict):
        members: Iterable[str] = (f"{ONE_LINE(str(key))}: {written(one, inner)}" for key, one in value.items())
    else:
        members = (written(one, inner) for one in value)
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(members) + f"\n{indent}{end}"


def _is_nested(value: dict[object, object] | list[object] | tuple[object, ...]) -> bool:
    return not NESTED.isdisjoint(map(type, value.values() if isinstance(value, dict) else value))
