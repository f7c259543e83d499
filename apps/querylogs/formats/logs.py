"""Search logs as rows of cells: tables, lines with or without a count, JSON such as that of OpenSearch's UBI, traces.

Rows are streamed; of traces, those of searches are put on disk first, in files without a name. What cannot be read is
counted by line and never shown: it may hold what must not be kept.
"""

import hashlib
import json
import re
import secrets
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.files.anytable import open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.json_tables import is_json
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import SAMPLED_ROWS, first_row_of
from apps.queries.core.masking import NO_NAMES, Names, mask
from apps.querylogs.core.columns import (
    ACTION,
    CONVERSATION,
    MILLISECONDS,
    PASSAGES,
    PERSON,
    REPEAT,
    RERANK,
    RESULTS,
    ROLES,
    SEARCH,
    SYSTEM,
    TEXT,
    TIME,
)
from apps.querylogs.core.columns import COUNT as TIMES
from apps.querylogs.formats.spans import (
    RERANKER,
    RETRIEVER,
    Passage,
    Span,
    are_spans,
    passages_in,
    read_spans,
    retrieval_of,
)

COUNTED = re.compile(r"\s*(\d+)\s+(\S.*)\Z")
"""A line as `sort | uniq -c` writes it."""
QUERY, COUNT = "query", "count"
MOST_SHAPES, MOST_FIELDS = 8, 2_000
FEWEST_WITH_FIELD = 5
"""Objects that must have a field, in a file of so many that this is little."""


class Link(NamedTuple):
    """The ids of a span and of its trace."""

    trace: str
    span: str


_RANDOM = re.compile(r"[0-9a-fA-F-]{8,64}")
"""An id that a tracer draws at random. Any other may be made of a name, and is not kept."""


def link_of(span: Span) -> Link | None:
    return Link(span.trace, span.id) if _RANDOM.fullmatch(span.trace) and _RANDOM.fullmatch(span.id) else None


class Results:
    """Lists of passages by number. Equal texts and equal passages are kept once; the texts on disk, without a name.

    What is in it is raw, and goes with it.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._file = TemporaryFile()  # noqa: SIM115  it is closed with this object
        self._ends, self._texts = array("Q", [0]), dict[bytes, int]()
        self._ids, self._numbers = dict[str, int](), dict[tuple[int, int], int]()
        self._names = list[str]()
        self._id_of, self._text_of = array("q"), array("q")
        self._members, self._firsts = array("L"), array("Q", [0])
        self._places, self._links = array("H"), array("q")
        self.nameless = 0
        """Passages with neither an id nor a text."""

    def __len__(self) -> int:
        """How many different passages there are."""
        return len(self._id_of)

    def add(self, passages: Sequence[Passage], link: Link | None = None) -> int:
        """The number of a list of passages, best first; a passage counts once in it. `link` is where it was told."""
        seen = dict[int, int]()
        for place, one in enumerate(passages):
            if not one.id and not one.text.strip():
                self.nameless += 1
                continue
            key = (self._id(one.id), self.add_text(one.text) if one.text.strip() else -1)
            number = self._numbers.setdefault(key, len(self._numbers))
            if number == len(self._id_of):
                self._id_of.append(key[0])
                self._text_of.append(key[1])
            seen.setdefault(number, place)
        self._members.extend(seen)
        self._places.extend(seen.values())
        self._links.append(self.add_text(" ".join(link)) if link else -1)
        self._firsts.append(len(self._members))
        return len(self._firsts) - 2

    def _id(self, name: str) -> int:
        if not name:
            return -1
        number = self._ids.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        return number

    def add_text(self, text: str) -> int:
        content = _storable(text).encode()
        digest = hashlib.blake2b(content, key=self._key, digest_size=12).digest()
        if (number := self._texts.get(digest)) is None:
            number = self._texts[digest] = len(self._ends) - 1
            self._file.seek(self._ends[-1])
            self._file.write(content)
            self._ends.append(self._ends[-1] + len(content))
        return number

    def text(self, number: int) -> str:
        self._file.seek(self._ends[number])
        return self._file.read(self._ends[number + 1] - self._ends[number]).decode()

    def listed(self, number: int) -> Sequence[int]:
        """The numbers of the passages of a list."""
        return self._members[self._firsts[number] : self._firsts[number + 1]]

    def places(self, number: int) -> Sequence[int]:
        """Where each of these passages stands in the list as it was sent, from 0."""
        return self._places[self._firsts[number] : self._firsts[number + 1]]

    def link(self, number: int) -> Link | None:
        """The trace and the span in which a list was told."""
        return Link(*self.text(self._links[number]).split(" ")) if self._links[number] >= 0 else None

    def passage(self, number: int) -> Passage:
        name, text = self._id_of[number], self._text_of[number]
        return Passage(self._names[name] if name >= 0 else "", self.text(text) if text >= 0 else "")

    def passages(self) -> Iterator[Passage]:
        """All different passages, by number."""
        return map(self.passage, range(len(self)))


class LogTable(NamedTuple):
    """A log: how it was read, its headings, its rows of as many cells, and the mistakes, found while it is read.

    `sample` are the first of the rows; `again` gives all of them once more, where that needs no second reading of the
    file. `results` has what systems returned, once the rows are read: `number_of` gives the list of a cell. `known`
    says what columns are. `left_out` counts spans by the reason why they are no searches.
    """

    how: str
    headings: list[str]
    sample: Sequence[Sequence[str]]
    rows: Iterator[Sequence[str]]
    errors: ErrorList
    results: Results
    number_of: Callable[[str], int]
    known: Mapping[str, str] = {}
    left_out: Mapping[str, int] = {}
    again: Callable[[], Iterator[Sequence[str]]] | None = None


def _table(
    how: str, headings: list[str], sample: Sequence[Sequence[str]], rows: Iterator[Sequence[str]], errors: ErrorList
) -> LogTable:
    results = Results()
    known = {name: role for name, role in ((QUERY, TEXT), (COUNT, TIMES)) if name in headings}
    return LogTable(how, headings, sample, rows, errors, results, lambda cell: results.add(passages_in(cell)), known)


def open_log(source: TableFile, names: Names = NO_NAMES, *, has_headings: bool | None = None) -> LogTable:
    """The log in a file. Raises InputError for what is no table.

    `names` are masked in headings too.

    `has_headings` is what somebody said of the first row; None: it is recognised. A first row with something that is
    masked is never one of headings. The source is at its beginning.
    """
    if are_spans(source):
        return _traces(source, names)
    if is_json(source):
        return _json_lines(source, names)
    errors = ErrorList(limit=0)
    table = open_table(source, errors, has_headings=has_headings is not False)
    seen = list(islice(table.rows, SAMPLED_ROWS))
    if has_headings is None and not _are_headings(table.headings, [cells for _, cells in seen], names):
        source.rewind()
        return open_log(source, names, has_headings=False)
    sample = [cells for _, cells in seen]
    rows = chain(sample, (cells for _, cells in table.rows))
    if len(table.headings) > 1:
        return _table(table.how, table.headings, sample, rows, errors)
    if sample and all(COUNTED.match(cells[0]) for cells in sample):
        return _table("lines with counts", [COUNT, QUERY], [*map(_counted, sample)], map(_counted, rows), errors)
    return _table("one search a line", [QUERY], sample, rows, errors)


def _are_headings(headings: Sequence[str], rows: Sequence[Sequence[str]], names: Names) -> bool:
    if any(mask(heading, names).found or COUNTED.match(heading) for heading in headings):
        return False
    return first_row_of(ROLES, headings, rows).are_headings


def _counted(cells: Sequence[str]) -> list[str]:
    found = COUNTED.match(cells[0])
    return [found[1], found[2]] if found else ["", cells[0]]


def _json_lines(source: TableFile, names: Names) -> LogTable:
    """The fields are the headings; inner ones by path, "event_attributes.object.object_id".

    All objects are looked at for them: events may come after all queries. A field that few objects have is none, for
    its name may be a value, such as that of a person.
    """
    counts, samples, total = Counter[str](), dict[tuple[str, ...], list[dict[str, str]]](), 0
    for _, record in read_objects(source, ErrorList(limit=0)):
        total += 1
        flat = dict(_flat(record, ""))
        counts.update(flat.keys())
        if len(counts) > MOST_FIELDS:
            counts = Counter(dict(counts.most_common(MOST_FIELDS // 2)))
        if (shape := tuple(record)) in samples or len(samples) < MOST_SHAPES:
            alike = samples.setdefault(shape, [])
            if len(alike) < SAMPLED_ROWS // MOST_SHAPES:
                alike.append(flat)
    if not total:
        raise source.error(None, "", "", "No line of the file is a JSON object that can be read.")
    least = min(FEWEST_WITH_FIELD, max(1, total // 20))
    headings = [name for name, count in counts.items() if count >= least and not mask(name, names).found]
    errors = ErrorList(limit=0)
    source.rewind()

    def cells(record: Mapping[str, str]) -> list[str]:
        return [record.get(name, "") for name in headings]

    rows = (cells(dict(_flat(record, ""))) for _, record in read_objects(source, errors))
    return _table("JSON", headings, [cells(one) for alike in samples.values() for one in alike], rows, errors)


def _flat(value: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _flat(inner, f"{path}{name}.")
        elif isinstance(inner, list) and any(isinstance(one, Mapping) for one in inner):
            yield f"{path}{name}", json.dumps(inner)
        elif isinstance(inner, list):
            yield f"{path}{name}", "; ".join(map(str, inner)) if inner else "[]"
        elif inner is not None:
            yield f"{path}{name}", str(inner)


OF_TRACES = {
    "query": TEXT,
    "person": PERSON,
    "conversation": CONVERSATION,
    "time": TIME,
    "results": RESULTS,
    "passages": PASSAGES,
    "system": SYSTEM,
    "milliseconds": MILLISECONDS,
    "trace": SEARCH,
    "action": ACTION,
}
NO_QUERY, NO_LIST, FAILED = "no words of the search", "no list of passages", "ended with an error"
WITHIN, NO_SEARCH = "within another search for the same", "reranking without a search before it"
RERANK_FAILED, NO_TEXT = "reranking that ended with an error", "passage without id or text"
KINDS_NOT_READ = {
    "LLM": "language model", "GENERATION": "language model", "CHAT": "language model", "COMPLETION": "language model",
    "TEXT_COMPLETION": "language model", "EMBEDDING": "embedding", "EMBEDDINGS": "embedding", "AGENT": "agent",
    "INVOKE_AGENT": "agent", "TOOL": "tool", "EXECUTE_TOOL": "tool", "CHAIN": "chain", "TRACE": "trace",
    "GUARDRAIL": "check", "EVALUATOR": "check",
}  # fmt: skip
OTHER = "something else"
MOST_SYSTEMS = 8
Codes64 = NDArray[np.uint64]


def _storable(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _traces(source: TableFile, names: Names) -> LogTable:
    """The searches of traces as rows. The first search for a query in a trace counts; others are events after it."""
    errors, results = ErrorList(limit=0), Results()
    searches = _Searches(results)
    for span in read_spans(source, errors):
        searches.add(span)
    rows = searches.joined(names)
    if not searches.spans:
        raise source.error(None, "", "", "The file has no spans that can be read.")
    sample = list(islice(rows(), SAMPLED_ROWS))
    left_out = {reason: count for reason, count in searches.left_out.items() if count}
    how = f"{searches.spans:,} spans"
    return LogTable(how, [*OF_TRACES], sample, rows(), errors, results, int, OF_TRACES, left_out, rows)


class _Searches:
    """The retrievals and rerankings of traces, as columns. People and conversations are codes by a key of this object.

    They often stand on another span of the trace only, which may come later: so they are joined at the end.
    """

    def __init__(self, results: Results) -> None:
        self.results = results
        self.spans = 0
        self.left_out = Counter[str]()
        self._key = secrets.token_bytes(32)
        self._code = lru_cache(maxsize=10_000)(self._keyed)  # the spans of a trace follow each other
        self._last = (0, 0, 0)
        self._systems = dict[str, int]()
        self._told_in, self._people, self._conversations = array("Q"), array("Q"), array("Q")
        self._rows: tuple[array[Any], ...] = tuple(array(kind) for kind in "QqqqqqdQ")

    def _keyed(self, value: str) -> int:
        digest = hashlib.blake2b(value.encode("utf-8", "replace"), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "little") or 1

    def add(self, span: Span) -> None:
        self.spans += 1
        trace = self._code(span.trace or f" {self.spans}")
        person, conversation = span.person, span.conversation
        if person or conversation:
            told = (trace, self._code(person) if person else 0, self._code(conversation) if conversation else 0)
            if told != self._last:
                self._last = told
                for column, code in zip((self._told_in, self._people, self._conversations), told, strict=True):
                    column.append(code)
        is_rerank = span.kind == RERANKER
        if span.kind not in {RETRIEVER, RERANKER}:
            self.left_out[KINDS_NOT_READ.get(span.kind, OTHER)] += 1
        elif span.failed:
            self.left_out[RERANK_FAILED if is_rerank else FAILED] += 1
        else:
            found = retrieval_of(span)
            query = self.results.add_text(found.query) if found.query else -1
            listed = -1 if found.passages is None else self.results.add(found.passages, link_of(span))
            before = -1 if found.before is None else self.results.add(found.before)
            system = self._systems.setdefault(span.name or "search", len(self._systems))
            took = (span.end - span.start) / 1e6 if span.end > span.start > 0 else -1.0
            values: tuple[Any, ...] = (trace, int(is_rerank), query, listed, before, system, took, span.start)
            for column, value in zip(self._rows, values, strict=True):
                column.append(value)

    def joined(self, names: Names) -> Callable[[], Iterator[list[str]]]:
        """Rows of searches, each with the events after it; what is left out is counted."""
        trace, rerank, query, listed, before, system, took, start = (np.array(column) for column in self._rows)
        action = np.where(rerank > 0, RERANK, "").astype("U8")
        keep = np.ones(len(trace), bool)
        mains = self._mains(trace, rerank, query, listed, start, action, keep)
        extra = list[int]()
        by_trace = dict[int, list[int]]()
        rerank_rows = np.flatnonzero((rerank > 0) & (listed >= 0))
        wanted = np.unique(trace[rerank_rows])
        for row in mains[np.isin(trace[mains], wanted)].tolist():
            by_trace.setdefault(int(trace[row]), []).append(row)
        for row in rerank_rows.tolist():
            found = by_trace.get(int(trace[row]), [])
            if found:
                same = [one for one in found if query[one] == query[row]]
                earlier = [one for one in found if start[one] <= start[row]]
                query[row] = query[max(same or earlier or found, key=lambda one: int(start[one]))]
            elif before[row] >= 0 and query[row] >= 0:
                extra.append(row)
            else:
                keep[row] = False
                self.left_out[NO_SEARCH] += 1
        silent = (rerank > 0) & (listed < 0)
        keep[silent] = False
        self.left_out[NO_LIST] += int(silent.sum()) + int((keep & (rerank == 0) & (listed < 0)).sum())
        self.left_out[NO_TEXT] = self.results.nameless
        people, conversations = self._of_traces(self._people, trace), self._of_traces(self._conversations, trace)
        if not any(self._people):
            people = conversations
        shown = self._shown(names, system[keep])
        given = set(extra)

        def cells(row: int, what: str, number: int, name: str, ms: float) -> list[str]:
            count = "" if number < 0 else str(len(self.results.listed(number)))
            return [
                self.results.text(int(query[row])),
                f"{people[row]:x}" if people[row] else "",
                f"{conversations[row]:x}" if conversations[row] else "",
                str(start[row]) if start[row] else "",
                count,
                str(number) if number >= 0 else "",
                name,
                f"{ms:.3f}" if ms >= 0 else "",
                f"{trace[row]:x}",
                what,
            ]

        def rows() -> Iterator[list[str]]:
            for row in np.flatnonzero(keep).tolist():
                name = shown[int(system[row])]
                if row in given:
                    yield cells(row, "", int(before[row]), f"before {name}", -1.0)
                yield cells(row, str(action[row]), int(listed[row]), name, float(took[row]))

        return rows

    def _mains(
        self, trace: Any, rerank: Any, query: Any, listed: Any, start: Any, action: Any, keep: Any
    ) -> NDArray[np.int64]:
        """The rows that count as searches: of those for a query in a trace the first that lists passages."""
        has_query = query >= 0
        keep[(rerank == 0) & ~has_query] = False
        self.left_out[NO_QUERY] += int(((rerank == 0) & ~has_query).sum())
        searches = np.flatnonzero((rerank == 0) & has_query)
        order = searches[np.lexsort((start[searches], listed[searches] < 0, query[searches], trace[searches]))]
        is_first = np.ones(len(order), bool)
        is_first[1:] = (trace[order[1:]] != trace[order[:-1]]) | (query[order[1:]] != query[order[:-1]])
        others = order[~is_first]
        action[others] = REPEAT
        silent = others[listed[others] < 0]
        keep[silent] = False
        self.left_out[WITHIN] += len(silent)
        return np.sort(order[is_first])

    def _of_traces(self, values: array, trace: Codes64) -> Codes64:
        """The value that any span of its trace has, for each row; 0 for none."""
        codes, told = np.array(self._told_in, np.uint64), np.array(values, np.uint64)
        codes, told = codes[told > 0], told[told > 0]
        if not len(codes):
            return np.zeros(len(trace), np.uint64)
        known, first = np.unique(codes, return_index=True)
        at = np.minimum(np.searchsorted(known, trace), len(known) - 1)
        return np.where(known[at] == trace, told[first[at]], np.uint64(0))

    def _shown(self, names: Names, system: NDArray[np.int64]) -> list[str]:
        """The name of each system, masked; of those that few spans have "other", for the name may be a value."""
        counts = np.bincount(system, minlength=len(self._systems))
        least = min(FEWEST_WITH_FIELD, max(1, int(counts.sum()) // 20))
        often = set(np.argsort(-counts, kind="stable")[:MOST_SYSTEMS].tolist())
        return [
            mask(" ".join(_storable(name).split())[:80], names).text
            if number in often and counts[number] >= least
            else "other"
            for name, number in self._systems.items()
        ]
