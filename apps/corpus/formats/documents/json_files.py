"""A whole JSON file in memory, within limits, as its readers need it."""

import json
from typing import Any

from apps.common.files.jsonvalues import refuse_unstorable
from apps.corpus.formats.documents import SourceFile, Unreadable

MOST_BYTES = 50_000_000
MOST_VALUES = 5_000_000
"""A value of two bytes, such as `{}`, takes a hundred in memory. Counted by the signs that begin or divide values, with
those inside texts."""
SIGNS = b"[{,"
DAMAGED = "damaged JSON"


def load_json(source: SourceFile) -> Any:
    """The value of the file, which may be UTF-8, UTF-16 or UTF-32. Raises Unreadable."""
    raw = source.stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"JSON of more than {MOST_BYTES // 1_000_000} MB; JSONL may be larger")
    if sum(map(raw.count, SIGNS)) > MOST_VALUES:
        raise Unreadable(f"JSON of more than {MOST_VALUES // 1_000_000} million values; JSONL may have more")
    try:
        value = json.loads(raw, parse_constant=_no_constant)
        refuse_unstorable(value)
    except RecursionError as error:
        raise Unreadable("JSON nested too deeply") from error
    except ValueError as error:
        raise Unreadable(DAMAGED) from error
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
