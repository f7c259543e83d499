"""What the columns of a search log can be, and how their values are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.corpus.core.import_plans import ColumnRole, share

TEXT, PERSON, TIME, RESULTS, CLICKS, OBJECT, COUNT, SEARCH, ACTION = (
    "text",
    "person",
    "time",
    "results",
    "clicks",
    "object",
    "count",
    "search",
    "action",
)
HOW = {
    TEXT: "what was typed, masked first",
    PERSON: "only counted, never kept",
    TIME: "kept as the week",
    RESULTS: "0 or an empty list is “nothing found”",
    CLICKS: "how many; a hint, never a grade",
    OBJECT: "a hint for pools, never a grade",
    COUNT: "how often this was searched",
    SEARCH: "joins clicks to searches, never kept",
    ACTION: "rows with “click” are clicks",
}
MOST_CHARACTERS, MOST_WORDS = 200, 30
"""A longer query is a pasted text."""


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).isdecimal()


def _as_texts(values: Sequence[str]) -> float:
    """Words, better several of them; ids, addresses and times are none."""
    if share(values, lambda value: _is_number(value) or time_of(value) is not None) > 0.5:
        return 0.0
    return 0.5 + 0.5 * share(values, lambda value: " " in value)


def _as_numbers(values: Sequence[str]) -> float:
    return share(values, lambda value: _is_number(value) or value == "[]" or ";" in value)


def _as_counts(values: Sequence[str]) -> float:
    return 1.0 if all(value.isdecimal() for value in values) else 0.0


def _as_times(values: Sequence[str]) -> float:
    return share(values, lambda value: time_of(value) is not None)


def _as_people(values: Sequence[str]) -> float:
    return 0.0 if share(values, lambda value: " " in value) > 0.5 else 1.0


def _as_objects(values: Sequence[str]) -> float:
    return 1 - share(values, lambda value: value.isdecimal() and len(value) < 3) * 0.5


ROLES = (
    ColumnRole(
        TEXT,
        "Query",
        ("user query", "query", "q", "search query", "query text", "search", "search term", "term", "text", "keyword",
         "keywords", "question", "input", "suchbegriff", "suche"),
        _as_texts,
        by_values=True,
        foreign=frozenset({"id", "ids", "time", "count", "length", "response", "attributes"}),
    ),
    ColumnRole(
        PERSON,
        "Person",
        ("client id", "user id", "userid", "uid", "user", "session id", "session", "visitor", "visitor id", "person",
         "anonymous id", "device id", "cookie", "ip", "ip address", "nutzer"),
        _as_people,
        foreign=frozenset({"query", "agent"}),
    ),
    ColumnRole(
        TIME,
        "Time",
        ("timestamp", "time", "ts", "date", "datetime", "created at", "created", "start time", "at", "zeit", "datum"),
        _as_times,
        by_values=True,
    ),
    ColumnRole(
        RESULTS,
        "Results found",
        ("hits", "results", "num results", "number of results", "result count", "total hits", "total results",
         "n results", "query response object ids", "query response hit ids", "numfound", "found", "treffer"),
        _as_numbers,
        foreign=frozenset({"clicked", "click"}),
    ),
    ColumnRole(CLICKS, "Number of clicks", ("clicks", "click count", "num clicks", "klicks"), _as_numbers),
    ColumnRole(
        OBJECT,
        "Clicked document",
        ("event attributes object object id", "object id", "clicked", "clicked doc", "clicked document", "clicked id",
         "clicked url", "click url", "doc id", "document id", "docno"),
        _as_objects,
        foreign=frozenset({"query"}),
    ),
    ColumnRole(
        COUNT,
        "Searches",
        ("count", "searches", "frequency", "freq", "volume", "impressions", "number", "total", "anzahl"),
        _as_counts,
        foreign=frozenset({"result", "results", "hits", "click", "clicks", "user", "users"}),
    ),
    ColumnRole(SEARCH, "Id of the search", ("query id", "search id", "request id", "event id"), _as_people),
    ColumnRole(ACTION, "Action", ("action name", "action", "event", "event type", "event name")),
)  # fmt: skip


class Search(NamedTuple):
    """One row of a log. `results` is −1 and `time` None where it does not say; a row of events has no text."""

    text: str
    person: str = ""
    time: int | None = None
    results: int = -1
    clicks: int = 0
    objects: tuple[str, ...] = ()
    times: int = 1
    search: str = ""
    is_click: bool = False


def reader(columns: Sequence[str]) -> Callable[[Sequence[str]], Search]:
    """Reads the cells of a row, whose columns have these roles in their order ("" for left out)."""
    parsers = [(place, _FIELDS[role]) for place, role in enumerate(columns) if role]

    def read(cells: Sequence[str]) -> Search:
        return Search(**{name: parsed(cells[place].strip()) for place, (name, parsed) in parsers})

    return read


_PARTS = re.compile(r"[;,|\s]+")
_NONE = frozenset({"", "0", "[]", "none", "null", "false", "-"})


def _parts(written: str) -> tuple[str, ...]:
    return tuple(one for one in _PARTS.split(written) if one.casefold() not in _NONE)


def _results(written: str) -> int:
    return _number(written) if written else -1


def _number(written: str) -> int:
    return int(float(written)) if _is_number(written) else len(_parts(written))


_OF_SERVERS = ("%d/%b/%Y:%H:%M:%S %z", "%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S")


def time_of(written: str) -> int | None:
    """Seconds since 1970, of an ISO time, a usual form of servers, or seconds or milliseconds since then."""
    if len(written) < 8:
        return None
    if _is_number(written):
        number = float(written)
        seconds = number / 1_000 if number > 1e11 else number
        return int(seconds) if 1e8 < seconds < 1e10 else None
    if "-" in written[:8]:
        try:
            return _seconds(datetime.fromisoformat(written))
        except ValueError:
            return None
    for form in _OF_SERVERS:
        try:
            return _seconds(datetime.strptime(written.strip("[]"), form))
        except ValueError:
            continue
    return None


def _seconds(time: datetime) -> int:
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


_FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    TEXT: ("text", str),
    PERSON: ("person", str),
    TIME: ("time", time_of),
    RESULTS: ("results", _results),
    CLICKS: ("clicks", _number),
    OBJECT: ("objects", _parts),
    COUNT: ("times", lambda written: max(1, _number(written))),
    SEARCH: ("search", str),
    ACTION: ("is_click", lambda written: "click" in written.casefold()),
}
"""The field of a search that a role fills, and how a cell is read for it."""
