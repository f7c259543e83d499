"""Reads a search log: masks each query, counts searches and people, and keeps nothing of who searched.

A pass keeps some 150 bytes a row, whatever the row holds: codes of query, person and search by a key that ends with
the import, the time, and what came of it. The words are read in a second pass, of queries that enough people asked.
"""

import hashlib
import secrets
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
Codes64 = NDArray[np.uint64]


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
        return int.from_bytes(digest, "little") or 1


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

    codes: Codes64
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


class Conversations(NamedTuple):
    """The searches that are in a conversation, by conversation and time: query's index, conversation, person."""

    queries: Ints
    codes: Codes64
    people: Codes64


class Reading(NamedTuple):
    """What a log holds. `masked` counts places by kind; `clicked` has (query, document, people) by index and code.

    `samples` and `examples` (by kind) are masked texts of queries that USUAL_PEOPLE people asked.
    """

    rows: int
    searches: int
    left_out: LeftOut
    groups: Groups
    masked: Mapping[str, int]
    masked_searches: int
    clicked: tuple[Ints, Codes64, Ints]
    samples: Sequence[tuple[str, Search]]
    examples: Mapping[str, Sequence[str]]
    rankings: Rankings
    conversations: Conversations


class _Columns:
    """The rows of a log as arrays, a value a search; and the clicks, with the search that each belongs to."""

    def __init__(self) -> None:
        self.codes, self.people, self.searches = array("Q"), array("Q"), array("Q")
        self.times, self.results, self.counts, self.clicks = array("q"), array("i"), array("i"), array("i")
        self.clicked_in, self.clicked_by, self.documents = array("Q"), array("Q"), array("Q")
        self.conversations, self.beginnings = array("Q"), array("Q")
        self._typed = dict[int, tuple[int, str, int]]()
        self.ranked, self.systems, self.lists = array("Q"), array("q"), array("q")
        self.ranked_at, self.milliseconds = array("q"), array("d")
        self.names = dict[str, int]()

    def add(self, search: Search, code: int, codes: Codes) -> None:
        self.codes.append(code)
        self.people.append(codes.of(search.person) if search.person else 0)
        self.searches.append(codes.of(search.search) if search.search else len(self.codes))
        self.times.append(search.time or 0)
        self.results.append(search.results)
        self.counts.append(search.times)
        self.clicks.append(search.clicks or len(search.objects))
        self.conversations.append(codes.of(search.conversation) if search.conversation else 0)
        self.add_clicks(search, self.searches[-1], self.people[-1], codes)
        if self.people[-1] and search.time:
            self._see_typing(self.people[-1], search.time, search.text.casefold())

    def _see_typing(self, person: int, time: int, text: str) -> None:
        before, begun, place = self._typed.get(person, (0, "", 0))
        if 0 <= time - before <= TYPED_SECONDS and len(begun) < len(text) and text.startswith(begun):
            self.beginnings.append(place)
        if len(self._typed) > REMEMBERED:
            self._typed.clear()
        self._typed[person] = (time, text, len(self.codes) - 1)

    def add_clicks(self, search: Search, within: int, person: int, codes: Codes) -> None:
        for document in search.objects:
            self.clicked_in.append(within)
            self.clicked_by.append(person)
            self.documents.append(codes.of(document))

    def add_list(self, search: Search, code: int, number: int) -> None:
        self.ranked.append(code)
        self.systems.append(self.names.setdefault(search.system or "search", len(self.names)))
        self.lists.append(number)
        self.ranked_at.append(search.time or 0)
        self.milliseconds.append(float("nan") if search.milliseconds is None else search.milliseconds)

    codes_of = staticmethod(partial(np.asarray, dtype=np.uint64))
    ints_of = staticmethod(partial(np.asarray, dtype=np.int64))


def read_log(
    table: LogTable, columns: Sequence[str], codes: Codes, progress: Callable[[int], None] = lambda done: None
) -> Reading:
    """Read all rows. `columns` are the roles of the columns in their order, "" for one that is not read."""
    read, kept, kinds = reader(columns), _Columns(), Counter[str]()
    tried, examples = list[tuple[int, str, Search]](), {kind: list[tuple[int, str]]() for kind in KINDS}
    rows = empty = pasted = masked_searches = 0
    for rows, cells in enumerate(table.rows, start=1):
        search = read(cells)
        if search.is_event:
            if search.is_click:
                kept.add_clicks(search, codes.of(search.search), codes.of(search.person) if search.person else 0, codes)
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
    counts, people = kept.ints_of(kept.counts), kept.codes_of(kept.people)
    robots = _robots(people, counts)
    is_robot, is_beginning = np.isin(people, robots), np.zeros(len(people), bool)
    is_beginning[kept.ints_of(kept.beginnings)] = True
    is_beginning &= ~is_robot
    by_robots, beginnings = int(counts[is_robot].sum()), int(counts[is_beginning].sum())
    out = LeftOut(empty, pasted, by_robots, len(robots), beginnings, table.errors.total)
    is_in = ~(is_robot | is_beginning)
    groups, clicked = _grouped(kept, is_in)
    index = _Index(groups.codes)
    shown = set(groups.codes[groups.people >= USUAL_PEOPLE].tolist())
    return Reading(
        rows=rows,
        searches=int(counts.sum()) + empty + pasted,
        left_out=out,
        groups=groups,
        masked={kind: kinds[kind] for kind in KINDS},
        masked_searches=masked_searches,
        clicked=clicked,
        samples=[(text, search) for code, text, search in tried if code in shown][:SHOWN_ROWS],
        examples={
            kind: list(dict.fromkeys(text for code, text in found if code in shown))[:SHOWN_EXAMPLES]
            for kind, found in examples.items()
        },
        rankings=_rankings(kept, index, codes),
        conversations=_conversations(kept, is_in, index),
    )


class _Index:
    """The places of codes in the order of the groups."""

    def __init__(self, codes: Codes64) -> None:
        self._order = np.argsort(codes)
        self._sorted = codes[self._order]

    def places(self, codes: Codes64) -> Ints:
        """The place of each code; -1 for one that is not there."""
        if not len(self._sorted):
            return np.full(len(codes), -1)
        at = np.minimum(np.searchsorted(self._sorted, codes), len(self._sorted) - 1)
        return np.where(self._sorted[at] == codes, self._order[at], -1)


def _rankings(kept: _Columns, index: _Index, codes: Codes) -> Rankings:
    """The names of systems are masked: a table may have anything in that column."""
    return Rankings(
        index.places(kept.codes_of(kept.ranked)),
        kept.ints_of(kept.systems),
        kept.ints_of(kept.lists),
        kept.ints_of(kept.ranked_at),
        np.array(kept.milliseconds, np.float64),
        [codes.masked(name)[0].text[:100] for name in kept.names],
    )


def _conversations(kept: _Columns, is_in: NDArray[np.bool_], index: _Index) -> Conversations:
    conversations, times = kept.codes_of(kept.conversations), kept.ints_of(kept.times)
    chosen = np.flatnonzero(is_in & (conversations > 0))
    chosen = chosen[np.lexsort((times[chosen], conversations[chosen]))]
    queries = index.places(kept.codes_of(kept.codes)[chosen])
    return Conversations(queries, conversations[chosen], kept.codes_of(kept.people)[chosen])


MOST_BEFORE = 3
"""Queries of a conversation that are kept before one."""


def histories(reading: Reading, wanted: Collection[int], *, least: int) -> dict[int, tuple[int, ...]]:
    """What most people had asked before these queries, by index, the oldest first; only what `least` people asked so.

    A conversation is kept only as far as so many people have had it: the queries before, in this order, and this one.
    """
    queries, codes, people = (column.tolist() for column in reading.conversations)
    had: dict[int, dict[tuple[int, ...], set[int]]] = {query: {} for query in wanted}
    before: list[int] = []
    last = None
    for query, code, person in zip(queries, codes, people, strict=True):
        before, last = before if code == last else [], code
        if query in had:
            for size in range(1, len(before) + 1):
                had[query].setdefault(tuple(before[-size:]), set()).add(person)
        if before[-1:] != [query]:
            before = [*before, query][-MOST_BEFORE:]
    found = {}
    for query, ways in had.items():
        asked = [(max(1, len(who - {0})), len(way), way) for way, who in ways.items()]
        if enough := [one for one in asked if one[0] >= least]:
            found[query] = max(enough, key=lambda one: (one[1], one[0], one[2]))[2]
    return found


def _robots(people: Codes64, counts: Ints) -> Codes64:
    """The codes of those who searched too often to be a person; nobody where the log does not say who searched."""
    who, places = np.unique(people, return_inverse=True)
    searches = np.bincount(places, counts, len(who))
    named = searches[who > 0]
    usual = float(np.median(named)) if len(named) else 0.0
    least = max(ROBOT_SEARCHES, ROBOT_SHARE * counts.sum(), ROBOT_TIMES * usual)
    found: Codes64 = who[(who > 0) & (searches >= least)]
    return found


def _grouped(kept: _Columns, is_in: NDArray[np.bool_]) -> tuple[Groups, tuple[Ints, Codes64, Ints]]:
    codes, first_rows, members = np.unique(kept.codes_of(kept.codes)[is_in], return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    members, size = place[members], len(codes)
    people, times = kept.codes_of(kept.people)[is_in], kept.ints_of(kept.times)[is_in]
    results, counts = kept.ints_of(kept.results)[is_in], kept.ints_of(kept.counts)[is_in]

    def summed(values: Ints, where: NDArray[np.bool_] | slice = slice(None)) -> Ints:
        return np.bincount(members[where], values[where], size).astype(np.int64)

    asked_by = _different(members, people, size)
    nothing, known = summed(counts, results == 0), summed(counts, results >= 0)
    again = _different(members[searched := _searched_again(members, people, times)], people[searched], size)
    in_query, documents, by = _clicked(kept, is_in, members)
    clicks = summed(kept.ints_of(kept.clicks)[is_in]) if any(kept.clicks) else np.bincount(in_query, by, size)
    first = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(first, members[times > 0], times[times > 0])
    last = np.zeros(size, np.int64)
    np.maximum.at(last, members, times)
    outcomes = np.full(size, OUTCOMES.index(Outcome.FOUND))
    outcomes[(again > 0) & (again * 2 >= asked_by)] = OUTCOMES.index(Outcome.AGAIN)
    outcomes[(known > 0) & (nothing * 2 >= known)] = OUTCOMES.index(Outcome.NOTHING)
    groups = Groups(
        codes=codes[order],
        searches=summed(counts),
        people=np.maximum(1, asked_by),
        nothing=nothing,
        again=again,
        clicks=clicks.astype(np.int64),
        first=np.where(last > 0, first, 0),
        last=last,
        outcomes=outcomes,
    )
    return groups, (in_query, documents, by)


def _different(members: Ints, people: Codes64, size: int) -> Ints:
    """How many different people there are by query; those of whom the log does not say who they are, not counted."""
    named = people > 0
    pairs = _unique_rows(members[named].astype(np.uint64), people[named])
    return np.bincount(pairs[0].astype(np.int64), minlength=size).astype(np.int64)


def _unique_rows(*columns: Codes64) -> list[Codes64]:
    """The different rows of these columns, as columns."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    is_new = np.ones(len(order), bool)
    if len(order):
        is_new[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    return [column[is_new] for column in ordered]


def _searched_again(members: Ints, people: Codes64, times: Ints) -> NDArray[np.bool_]:
    """Whether the same person searched for another query within AGAIN_SECONDS, for each search."""
    order = np.lexsort([times, people])
    who, when, what = people[order], times[order], members[order]
    found = np.zeros(len(order), bool)
    is_same = (who[1:] == who[:-1]) & (who[1:] > 0) & (when[:-1] > 0)
    found[order[:-1]] = is_same & (when[1:] - when[:-1] <= AGAIN_SECONDS) & (what[1:] != what[:-1])
    return found


def _clicked(kept: _Columns, is_in: NDArray[np.bool_], members: Ints) -> tuple[Ints, Codes64, Ints]:
    """(query, document, people who clicked it there), a row each."""
    searches = kept.codes_of(kept.searches)[is_in]
    order = np.argsort(searches, kind="stable")
    within = kept.codes_of(kept.clicked_in)
    at = np.minimum(np.searchsorted(searches[order], within), max(0, len(order) - 1))
    if not len(order) or not len(within):
        return np.zeros(0, np.int64), np.zeros(0, np.uint64), np.zeros(0, np.int64)
    is_known = searches[order][at] == within
    queries = members[order][at][is_known].astype(np.uint64)
    documents, by = kept.codes_of(kept.documents)[is_known], kept.codes_of(kept.clicked_by)[is_known]
    queries, documents, _ = _unique_rows(queries, documents, by)
    order = np.lexsort([documents, queries])
    queries, documents = queries[order], documents[order]
    is_new = np.ones(len(queries), bool)
    is_new[1:] = (queries[1:] != queries[:-1]) | (documents[1:] != documents[:-1])
    starts = np.flatnonzero(is_new)
    return queries[starts].astype(np.int64), documents[starts], np.diff(np.append(starts, len(queries)))


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
    queries, clicked, by = reading.clicked
    for place in places:
        inside = slice(*np.searchsorted(queries, [place, place + 1]))
        found = [
            (names[code], int(n))
            for code, n in zip(clicked[inside].tolist(), by[inside], strict=True)
            if code in names and n >= least
        ]
        yield sorted(found, key=lambda one: (-one[1], one[0]))[:MOST_CLICKED]


MOST_CLICKED = 10
