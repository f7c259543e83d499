"""What the columns of a search log can be, and how their values are read."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from apps.corpus.core.import_plans import ColumnRole, share

TEXT, PERSON, TIME, RESULTS, CLICKS, OBJECT, COUNT, SEARCH, ACTION, CONVERSATION, PASSAGES, SYSTEM, MILLISECONDS = (
    "text",
    "person",
    "time",
    "results",
    "clicks",
    "object",
    "count",
    "search",
    "action",
    "conversation",
    "passages",
    "system",
    "milliseconds",
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
    CONVERSATION: "joins a query to what was asked before it, never kept",
    PASSAGES: "kept masked for queries that you keep, as a run",
    SYSTEM: "the name of the run",
    MILLISECONDS: "the time of each search in its run",
}
MOST_CHARACTERS, MOST_WORDS = 200, 30
"""A longer query is a pasted text."""


_GROUPED = re.compile(r"(?:[1-9]\d{0,2})(?:([.,' ])\d{3})(?:\1\d{3})*\Z")
"""A number with its thousands divided: 1,234 or 1.234."""
_HITS = re.compile(r"(\S+) (?:hits?|results?|docs|documents|treffer)\Z", re.IGNORECASE)
MOST = 1_000_000_000
"""No count of a row is larger: what is said to be is as large."""


def _plain_number(value: str) -> str:
    """The number in a cell without what divides its thousands, and with a point; "" where it is none."""
    value = found[1].rstrip("+") if (found := _HITS.match(value)) else value
    if _GROUPED.match(value):
        value = re.sub(r"[.,' ]", "", value)
    value = value.replace(",", ".", 1)
    return value if value.isascii() and value.replace(".", "", 1).isdecimal() else ""


def _is_number(value: str) -> bool:
    return value.replace(".", "", 1).isdecimal()


def _as_texts(values: Sequence[str]) -> float:
    """Words, better several of them; ids, addresses and times are none."""
    if share(values, lambda value: _is_number(value) or time_of(value) is not None) > 0.5:
        return 0.0
    return 0.5 + 0.5 * share(values, lambda value: " " in value)


def _as_numbers(values: Sequence[str]) -> float:
    return share(values, lambda value: bool(_plain_number(value)) or value == "[]" or ";" in value)


def _as_counts(values: Sequence[str]) -> float:
    return 1.0 if all(_plain_number(value) for value in values) else 0.0


def _as_lists(values: Sequence[str]) -> float:
    """Lists in JSON with objects or texts in them."""
    return share(values, lambda value: value.startswith(("[{", '["', "[]", '{"')))


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
         "keywords", "question", "input", "params query", "suchbegriff", "suchanfrage", "suche"),
        _as_texts,
        by_values=True,
        foreign=frozenset({"id", "ids", "time", "count", "length", "response", "attributes", "type", "body",
                           "nb", "hits"}),
    ),
    ColumnRole(
        PERSON,
        "Person",
        ("client id", "user id", "userid", "uid", "user", "session id", "session", "visitor", "visitor id", "person",
         "anonymous id", "device id", "cookie", "user token", "params user token", "ip", "ip address", "nutzer",
         "benutzer", "sitzung", "kunde"),
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
        foreign=frozenset({"clicked", "click", "page", "views"}),
    ),
    ColumnRole(CLICKS, "Number of clicks", ("clicks", "click count", "num clicks", "klicks"), _as_numbers),
    ColumnRole(
        OBJECT,
        "Clicked document",
        ("event attributes object object id", "object id", "clicked", "clicked doc", "clicked document", "clicked id",
         "clicked url", "click url", "doc id", "document id", "docno"),
        _as_objects,
        foreign=frozenset({"query", "field"}),
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
    ColumnRole(
        CONVERSATION, "Conversation", ("conversation", "conversation id", "thread id", "chat id"), _as_people,
    ),
    ColumnRole(
        PASSAGES,
        "Passages returned",
        ("passages", "documents", "retrieved documents", "retrieved contexts", "contexts", "results", "hits", "chunks",
         "output"),
        _as_lists,
    ),
    ColumnRole(SYSTEM, "What searched", ("system", "retriever", "engine", "search engine"), _as_people),
    ColumnRole(
        MILLISECONDS, "Milliseconds", ("milliseconds", "latency ms", "latency", "duration ms", "took", "took ms"),
        _as_numbers,
    ),
)  # fmt: skip


RERANK, REPEAT = "rerank", "repeat"
"""What a system does after a search: put its results in another order, or search for the same once more."""
_AFTERWARDS = ("click", "impression", "view", "hover", "scroll", "cart", "purchase", "dwell", RERANK, REPEAT)
"""What people or systems do after a search, in the names of events."""


class Search(NamedTuple):
    """One row of a log. `results` is −1 and `time` None where it does not say; of events only those of systems have a
    text. `passages` is the cell in which they are listed.
    """

    text: str
    person: str = ""
    time: int | None = None
    results: int = -1
    clicks: int = 0
    objects: tuple[str, ...] = ()
    times: int = 1
    search: str = ""
    action: str = ""
    conversation: str = ""
    passages: str = ""
    system: str = ""
    milliseconds: float | None = None

    @property
    def is_pasted(self) -> bool:
        return len(self.text) > MOST_CHARACTERS or self.text.count(" ") >= MOST_WORDS

    @property
    def is_click(self) -> bool:
        return "click" in self.action

    @property
    def is_event(self) -> bool:
        """Whether the row tells what came of a search that another row is: an impression may repeat its words."""
        return bool(self.search) and "search" not in self.action and any(word in self.action for word in _AFTERWARDS)


def reader(columns: Sequence[str]) -> Callable[[Sequence[str]], Search]:
    """Reads the cells of a row, whose columns have these roles in their order ("" for left out)."""
    fields = [(place, *_FIELDS[role]) for place, role in enumerate(columns) if role]
    parsers = [(Search._fields.index(name), place, parsed) for place, name, parsed in fields]
    untold = [*Search("")]

    def read(cells: Sequence[str]) -> Search:
        values = untold.copy()
        for field, place, parsed in parsers:
            values[field] = parsed(cells[place].strip())
        return Search._make(values)

    return read


_PARTS = re.compile(r"[;,|\s]+")
_NONE = frozenset({"", "0", "[]", "none", "null", "false", "-"})


def _parts(written: str) -> tuple[str, ...]:
    return tuple(one for one in _PARTS.split(written) if one.casefold() not in _NONE)


def _results(written: str) -> int:
    return _number(written) if written else -1


def _number(written: str) -> int:
    number = _plain_number(written)
    return int(min(float(number), MOST)) if number else len(_parts(written))


def _times(written: str) -> int:
    """How often it was searched: once where the cell says no number."""
    return max(1, _number(written)) if _plain_number(written) else 1


_NOBODY = frozenset({"", "-", "none", "null", "nil", "n/a", "unknown", "anonymous", "(not set)", "(none)", "undefined"})


def _milliseconds(written: str) -> float | None:
    number = written if written.isascii() and _is_number(written) else _plain_number(written)
    return min(float(number), MOST) if number else None


def _person(written: str) -> str:
    """Who searched; "" where the log writes that it does not know, as servers write "-"."""
    return "" if written.casefold() in _NOBODY else written


_OF_SERVERS = (
    "%d/%b/%Y:%H:%M:%S %z",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y %I:%M:%S %p",
    "%a, %d %b %Y %H:%M:%S %Z",
)


def time_of(written: str) -> int | None:
    """Seconds since 1970, of an ISO time, a usual form of servers, or a number since then; None before 1973."""
    seconds = _any_time_of(written)
    return seconds if seconds is not None and 1e8 < seconds < 1e10 else None


def _any_time_of(written: str) -> int | None:
    if not 8 <= len(written) <= 40:
        return None
    if _is_number(written):
        number = float(written)
        for divisor in (1_000_000_000, 1_000_000, 1_000):
            if number > 1e8 * divisor:
                return int(number / divisor)
        return int(number)
    if "-" in written[:8]:
        try:
            return _seconds(datetime.fromisoformat(written.removesuffix(" UTC")))
        except (ValueError, OverflowError):
            return None
    for form in _OF_SERVERS:
        try:
            return _seconds(datetime.strptime(written.strip("[]"), form))
        except (ValueError, OverflowError):
            continue
    return None


def _seconds(time: datetime) -> int:
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())


_FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    TEXT: ("text", str),
    PERSON: ("person", _person),
    TIME: ("time", time_of),
    RESULTS: ("results", _results),
    CLICKS: ("clicks", _number),
    OBJECT: ("objects", _parts),
    COUNT: ("times", _times),
    SEARCH: ("search", str),
    ACTION: ("action", str.casefold),
    CONVERSATION: ("conversation", _person),
    PASSAGES: ("passages", str),
    SYSTEM: ("system", str),
    MILLISECONDS: ("milliseconds", _milliseconds),
}
"""The field of a search that a role fills, and how a cell is read for it."""
