"""JSON of imported files, stricter than the library: no doubled names, no infinity, nothing that cannot be stored."""

from __future__ import annotations

import json
import math
import re


def parse_object(line: str, nesting: int) -> dict:
    """One JSON object from one line. Raises ValueError with a sentence for anything else."""
    if line.count("{") + line.count("[") > nesting and _depth(line) > nesting:
        raise ValueError(f"the JSON is nested deeper than {nesting} levels")
    try:
        value = _decoder.decode(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(value, dict):
        raise ValueError("the line must be one JSON object, in braces")
    if "\\u" in line:
        refuse_unstorable(value)
    return value


def refuse_unstorable(value: object) -> None:
    """Raise ValueError for NUL and lone surrogates: JSON can escape them, no database can store them as text."""
    if isinstance(value, dict):
        for key, inner in value.items():
            refuse_unstorable(key)
            refuse_unstorable(inner)
    elif isinstance(value, list):
        for inner in value:
            refuse_unstorable(inner)
    elif isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text contains a NUL character")
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise ValueError("a text contains half of a surrogate pair, which is not a character")


def _depth(line: str) -> int:
    depth = deepest = 0
    for token in _JSON_TOKENS.finditer(line):
        mark = token.group()
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _no_doubles(pairs: list[tuple[str, object]]) -> dict:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {doubled!r} appears twice")
    return value


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text[:40]} is too large for a number")
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON; leave the field out or give a number")


_decoder = json.JSONDecoder(object_pairs_hook=_no_doubles, parse_constant=_no_constant, parse_float=_finite)
_JSON_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]')
