"""Reads a search log: masks each query, counts searches and people, and keeps nothing of who searched.

What a pass keeps of a row lies in a scratch database: codes of query, person and search by a key that ends with the
import, the time, and what came of it. The words are read in a second pass, of queries that enough people asked.
"""

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.database.scratch import Scratch
from apps.queries.core.masking import KINDS, Masked, Names, mask
from apps.querylogs.core.columns import ACTION, COUNT, SEARCH, TEXT, Search, reader
from apps.querylogs.core.sampling import OUTCOMES, Ints
from apps.querylogs.enums import USUAL_PEOPLE, Outcome
from apps.querylogs.formats.logs import LogTable

REMEMBERED = 100_000
"""Texts whose masks are remembered while a log is read: most searches are for few queries."""
ROBOT_SEARCHES, ROBOT_SHARE, ROBOT_TIMES = 500, 0.01, 10
"""Who searched at least so often, for this share of all searches, and so many times as the median, is a robot."""
AGAIN_SECONDS = 120
TYPED_SECONDS = 5
"""A search that another of the same person begins with, no longer before it, is what a search box asks on each key."""
TRIED_ROWS, TRIED_EXAMPLES = 5_000, 400
SHOWN_ROWS, SHOWN_EXAMPLES = 4, 2
MOST_SPELLINGS = 50
FEWEST_CLICKING = 2
"""People who clicked a document, for it to be kept as a hint, where the log says who did."""
ROWS_AT_ONCE = 10_000


class Codes:
    """Codes of queries, people, searches and documents by a key that nobody can read and that ends with this object."""

    def __init__(self, names: Names) -> None:
        self._key = secrets.token_bytes(32)

        @lru_cache(maxsize=REMEMBERED)
        def masked(text: str) -> tuple[Masked, int]:
            found = mask(" ".join(text.split()), names)
            return found, self.of(found.text.casefold().rstrip("?!. "))

        self.masked = masked
        """The text with its masks, and the code of its query, which spellings of other case and blanks have too."""

    def of(self, value: str) -> int:
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)


class LeftOut(NamedTuple):
    """Searches that are not counted: without words, of pasted texts, by robots, and beginnings of what the same person
    typed next; and rows that could not be read.
    """

    empty: int
    pasted: int
    by_robots: int
    robots: int
    beginnings: int
    unread: int

    @property
    def total(self) -> int:
        return self.empty + self.pasted + self.by_robots + self.beginnings


class Groups(NamedTuple):
    """The different queries of a log, in the order of their first search; each array has a value for each.

    `people` are different ones, at least 1. `nothing` are searches that found nothing, `again` the people who searched
    for something else within two minutes. Times are seconds since 1970, 0 where the log has none. `outcomes` are
    indexes of OUTCOMES.
    """

    codes: Ints
    searches: Ints
    people: Ints
    nothing: Ints
    again: Ints
    clicks: Ints
    first: Ints
    last: Ints
    outcomes: Ints


class Rankings(NamedTuple):
    """What systems returned, a row each: the index of the query (-1: nobody asked it) and of the system, the number of
    the list, and the time.

    `milliseconds` are NaN where the log does not say how long it took; `names` are those of the systems.
    """

    queries: Ints
    systems: Ints
    lists: Ints
    times: Ints
    milliseconds: NDArray[np.float64]
    names: Sequence[str]


class Reading(NamedTuple):
    """What a log holds. `masked` counts places by kind, `kept` has what is not counted beforehand.

    `samples` and `examples` (by kind) are masked texts of queries that USUAL_PEOPLE people asked.
    """

    rows: int
    searches: int
    left_out: LeftOut
    groups: Groups
    masked: Mapping[str, int]
    masked_searches: int
    samples: Sequence[tuple[str, Search]]
    examples: Mapping[str, Sequence[str]]
    rankings: Rankings
    kept: "KeptRows"


_TABLES = """
    CREATE TABLE search (row INTEGER PRIMARY KEY, query, person, search, time, results, times, clicks, conversation);
    CREATE TABLE click (search, person, document);
    CREATE TABLE list (query, system, number, time, milliseconds);
    CREATE TABLE beginning (row INTEGER PRIMARY KEY);
    CREATE TABLE robot (person INTEGER PRIMARY KEY);
    CREATE TABLE again (query INTEGER PRIMARY KEY, people);
    CREATE TABLE found (search INTEGER PRIMARY KEY, query, row);
    CREATE TABLE clicked (place, document, people, PRIMARY KEY (place, document)) WITHOUT ROWID;
    CREATE TABLE query (
        query INTEGER PRIMARY KEY, place, searches, people, empty, known, earliest, latest, clicks
    );
"""
_ROBOTS = """
    WITH person AS (
        SELECT person, SUM(times) AS searches FROM search WHERE person IS NOT NULL GROUP BY person
    ), number AS (
        SELECT COUNT(*) AS people FROM person
    ), usual AS (
        SELECT AVG(searches) AS searches FROM (
            SELECT searches FROM person ORDER BY searches
            LIMIT 2 - (SELECT people FROM number) % 2 OFFSET (SELECT (people - 1) / 2 FROM number)
        )
    )
    INSERT INTO robot SELECT person FROM person
    WHERE searches >= MAX(?, ? * (SELECT SUM(times) FROM search), ? * (SELECT searches FROM usual))
"""
_QUERIES = """
    INSERT INTO query
    SELECT query, ROW_NUMBER() OVER (ORDER BY MIN(row)) - 1, SUM(times), MAX(1, COUNT(DISTINCT person)),
        TOTAL(times * (results = 0)), TOTAL(times * (results >= 0)), IFNULL(MIN(time), 0), IFNULL(MAX(time), 0),
        SUM(clicks)
    FROM search GROUP BY query
"""
_AGAIN = """
    INSERT INTO again
    SELECT query, COUNT(DISTINCT person) FROM (
        SELECT query, person, time, LEAD(time) OVER following AS next_time, LEAD(query) OVER following AS next_query
        FROM search WHERE person IS NOT NULL AND time IS NOT NULL
        WINDOW following AS (PARTITION BY person ORDER BY time, row)
    ) WHERE next_time - time <= ? AND next_query <> query GROUP BY query
"""
_FOUND = """
    INSERT INTO found
    SELECT search, query, MIN(row) FROM search WHERE search IN (SELECT search FROM click) GROUP BY search
"""
_CLICKED = """
    INSERT INTO clicked
    SELECT place, document, COUNT(DISTINCT IFNULL(person, 0)) FROM click
    JOIN found USING (search) JOIN query USING (query) GROUP BY place, document
"""
_CLICKS = """
    UPDATE query SET clicks = IFNULL((SELECT SUM(people) FROM clicked WHERE clicked.place = query.place), 0)
    WHERE (SELECT TOTAL(clicks) FROM query) = 0
"""
_GROUPS = """
    SELECT query, searches, query.people, empty, IFNULL(again.people, 0), clicks, earliest, latest, known
    FROM query LEFT JOIN again USING (query) ORDER BY place
"""
_LISTS = """
    SELECT IFNULL(place, -1), system, number, list.time, milliseconds
    FROM list LEFT JOIN query USING (query) ORDER BY list.rowid
"""
_CONVERSATIONS = """
    SELECT conversation, place, person FROM search JOIN query USING (query)
    WHERE conversation IS NOT NULL ORDER BY conversation, search.time, row
"""


class KeptRows:
    """The rows of a log as codes, the clicks and the lists, on disk."""

    def __init__(self) -> None:
        self._scratch = Scratch(_TABLES)
        self._waiting: dict[str, list[tuple[Any, ...]]] = {"search": [], "click": [], "list": [], "beginning": []}
        self._rows = 0
        self._typed = dict[int, tuple[int, str, int]]()
        self.names = dict[str, int]()

    def add(self, search: Search, code: int, codes: Codes) -> None:
        self._rows += 1
        person = codes.of(search.person) if search.person else None
        within = codes.of(search.search) if search.search else self._rows
        conversation = codes.of(search.conversation) if search.conversation else None
        results = search.results if search.results >= 0 else None
        clicks = search.clicks or len(search.objects)
        self._put("search", self._rows, code, person, within, search.time, results, search.times, clicks, conversation)
        self._add_clicks(search, within, person, codes)
        if person is not None and search.time:
            self._see_typing(person, search.time, search.text.casefold())

    def _see_typing(self, person: int, time: int, text: str) -> None:
        before, begun, row = self._typed.get(person, (0, "", 0))
        if 0 <= time - before <= TYPED_SECONDS and len(begun) < len(text) and text.startswith(begun):
            self._put("beginning", row)
        if len(self._typed) > REMEMBERED:
            self._typed.clear()
        self._typed[person] = (time, text, self._rows)

    def add_click(self, search: Search, codes: Codes) -> None:
        person = codes.of(search.person) if search.person else None
        self._add_clicks(search, codes.of(search.search), person, codes)

    def _add_clicks(self, search: Search, within: int, person: int | None, codes: Codes) -> None:
        for document in search.objects:
            self._put("click", within, person, codes.of(document))

    def add_list(self, search: Search, code: int, number: int) -> None:
        system = self.names.setdefault(search.system or "search", len(self.names))
        self._put("list", code, system, number, search.time or 0, search.milliseconds)

    def _put(self, table: str, *values: Any) -> None:
        waiting = self._waiting[table]
        waiting.append(values)
        if len(waiting) == ROWS_AT_ONCE:
            self._write(table)

    def _write(self, table: str) -> None:
        if rows := self._waiting[table]:
            self._scratch.write(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
            rows.clear()

    def take_out(self) -> tuple[int, int, int, int]:
        """Take out what robots searched for, and beginnings of what was typed on: all searches, those of robots, the
        robots, and the beginnings.

        Somebody is a robot who searched too often to be a person; nobody is where the log does not say who searched.
        """
        for table in self._waiting:
            self._write(table)
        self._scratch.write(_ROBOTS, [(ROBOT_SEARCHES, ROBOT_SHARE, ROBOT_TIMES)])
        searches, robots = self._number("SELECT TOTAL(times) FROM search"), self._number("SELECT COUNT(*) FROM robot")
        by_robots = self._delete("person IN (SELECT person FROM robot)")
        return searches, by_robots, robots, self._delete("row IN (SELECT row FROM beginning)")

    def _number(self, statement: str) -> int:
        return int(self._scratch.value(statement))

    def _delete(self, condition: str) -> int:
        searches = self._number(f"SELECT TOTAL(times) FROM search WHERE {condition}")
        self._scratch.write(f"DELETE FROM search WHERE {condition}")
        return searches

    def groups(self) -> Groups:
        self._scratch.write(_QUERIES)
        self._scratch.write(_AGAIN, [(AGAIN_SECONDS,)])
        for statement in (_FOUND, _CLICKED, _CLICKS):
            self._scratch.write(statement)
        names = [*Groups._fields[:-1], "known"]
        found = np.fromiter(self._scratch.read(_GROUPS), [(name, np.int64) for name in names])
        outcomes = np.full(len(found), OUTCOMES.index(Outcome.FOUND))
        outcomes[(found["again"] > 0) & (found["again"] * 2 >= found["people"])] = OUTCOMES.index(Outcome.AGAIN)
        outcomes[(found["known"] > 0) & (found["nothing"] * 2 >= found["known"])] = OUTCOMES.index(Outcome.NOTHING)
        return Groups(**{name: found[name] for name in names[:-1]}, outcomes=outcomes)

    def rankings(self, codes: Codes) -> Rankings:
        """The names of systems are masked: a table may have anything in that column."""
        kinds = [(name, np.float64 if name == "milliseconds" else np.int64) for name in Rankings._fields[:-1]]
        found = np.fromiter(map(_timed, self._scratch.read(_LISTS)), kinds)
        shown = [codes.masked(name)[0].text[:100] for name in self.names]
        return Rankings(**{name: found[name] for name, _ in kinds}, names=shown)

    def conversations(self) -> Iterator[Sequence[tuple[int, int | None]]]:
        """The searches of each conversation by time: the query's index, and the code of the person."""
        rows = self._scratch.read(_CONVERSATIONS)
        for _, searches in groupby(rows, key=itemgetter(0)):
            yield [(place, person) for _, place, person in searches]

    def clicks_on(self, place: int) -> Iterable[tuple[int, int]]:
        """The documents that were clicked for the query with this index, each by its code with its people."""
        return self._scratch.read("SELECT document, people FROM clicked WHERE place = ?", [place])


def _timed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*row[:-1], float("nan") if row[-1] is None else row[-1])


def read_log(
    table: LogTable, columns: Sequence[str], codes: Codes, progress: Callable[[int], None] = lambda done: None
) -> Reading:
    """Read all rows. `columns` are the roles of the columns in their order, "" for one that is not read."""
    read, kept, kinds = reader(columns), KeptRows(), Counter[str]()
    tried, examples = list[tuple[int, str, Search]](), {kind: list[tuple[int, str]]() for kind in KINDS}
    rows = empty = pasted = masked_searches = 0
    for rows, cells in enumerate(table.rows, start=1):
        search = read(cells)
        if search.is_event:
            if search.is_click:
                kept.add_click(search, codes)
            elif search.passages and search.text:
                kept.add_list(search, codes.masked(search.text)[1], table.number_of(search.passages))
        elif not search.text:
            empty += search.times
        elif search.is_pasted:
            pasted += search.times
        else:
            masked, code = codes.masked(search.text)
            kept.add(search, code, codes)
            if search.passages:
                kept.add_list(search, code, table.number_of(search.passages))
            if masked.found:
                masked_searches += search.times
                kinds.update(masked.found)
                for kind in set(masked.found):
                    if len(examples[kind]) < TRIED_EXAMPLES:
                        examples[kind].append((code, masked.text))
            if rows <= TRIED_ROWS:
                tried.append((code, masked.text, search))
        if rows % 50_000 == 0:
            progress(rows)
    searches, by_robots, robots, beginnings = kept.take_out()
    groups = kept.groups()
    shown = set(groups.codes[groups.people >= USUAL_PEOPLE].tolist())
    return Reading(
        rows=rows,
        searches=searches + empty + pasted,
        left_out=LeftOut(empty, pasted, by_robots, robots, beginnings, table.errors.total),
        groups=groups,
        masked={kind: kinds[kind] for kind in KINDS},
        masked_searches=masked_searches,
        samples=[(text, search) for code, text, search in tried if code in shown][:SHOWN_ROWS],
        examples={
            kind: list(dict.fromkeys(text for code, text in found if code in shown))[:SHOWN_EXAMPLES]
            for kind, found in examples.items()
        },
        rankings=kept.rankings(codes),
        kept=kept,
    )


MOST_BEFORE = 3
"""Queries of a conversation that are kept before one."""


def histories(reading: Reading, wanted: Collection[int], *, least: int) -> dict[int, tuple[int, ...]]:
    """What most people had asked before these queries, by index, the oldest first; only what `least` people asked so.

    A conversation is kept only as far as so many people have had it: the queries before, in this order, and this one.
    """
    had: dict[int, dict[tuple[int, ...], set[int | None]]] = {query: {} for query in wanted}
    for searches in reading.kept.conversations():
        before: list[int] = []
        for query, person in searches:
            if query in had:
                for size in range(1, len(before) + 1):
                    had[query].setdefault(tuple(before[-size:]), set()).add(person)
            if before[-1:] != [query]:
                before = [*before, query][-MOST_BEFORE:]
    found = {}
    for query, ways in had.items():
        asked = [(max(1, len(who - {None})), len(way), way) for way, who in ways.items()]
        if enough := [one for one in asked if one[0] >= least]:
            found[query] = max(enough, key=lambda one: (one[1], one[0], one[2]))[2]
    return found


class Wording(NamedTuple):
    """The masked words of a query as most wrote them, how many spellings were taken as one, and its masks."""

    text: str
    spellings: int
    masks: tuple[str, ...]


def wordings(table: LogTable, columns: Sequence[str], codes: Codes, wanted: Collection[int]) -> dict[int, Wording]:
    """The words of the queries with these codes."""
    read = reader([role if role in {TEXT, COUNT, SEARCH, ACTION} else "" for role in columns])
    found: dict[int, Counter[Masked]] = {code: Counter() for code in wanted}
    for cells in table.rows:
        search = read(cells)
        if not search.text or search.is_pasted or search.is_event:
            continue
        masked, code = codes.masked(search.text)
        spellings = found.get(code)
        if spellings is not None and (masked in spellings or len(spellings) < MOST_SPELLINGS):
            spellings[masked] += search.times
    return {code: _wording(spellings) for code, spellings in found.items()}


def _wording(spellings: Counter[Masked]) -> Wording:
    most = max(spellings, key=lambda one: (spellings[one], one.text))
    return Wording(most.text, len(spellings), most.found)


def clicked_documents(
    reading: Reading, places: Ints, codes: Codes, documents: Collection[str], *, least: int
) -> Iterator[list[tuple[str, int]]]:
    """For each of these queries the documents that people clicked, most clicked first, of those that are known."""
    names = {codes.of(one): one for one in documents}
    for place in places.tolist():
        clicked = reading.kept.clicks_on(place)
        found = [(names[code], people) for code, people in clicked if code in names and people >= least]
        yield sorted(found, key=lambda one: (-one[1], one[0]))[:MOST_CLICKED]


MOST_CLICKED = 10
