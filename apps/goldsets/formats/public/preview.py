"""One record of a public release beside what the version has: what is left out, and what takes its place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class PreviewLine(NamedTuple):
    """A field. `kept` goes out as it is; `struck` is left out, and `inserted` takes its place. Values are JSON."""

    name: str
    kept: str = ""
    struck: str = ""
    inserted: str = ""


def preview_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[PreviewLine]:
    """The fields in the order of the version's record."""
    public = dict(_flat(after))
    return [_line(name, value, public.get(name)) for name, value in _flat(before)]


def _line(name: str, value: Any, public: Any) -> PreviewLine:
    if value == public:
        return PreviewLine(name, kept=_written(value))
    inserted = "" if _is_empty(public) else _written(public)
    return PreviewLine(name, struck=_written(value), inserted=inserted)


def _flat(values: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The fields with those of inner objects under their path, such as `metadata.added_by`."""
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
