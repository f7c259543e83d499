"""What traces tell of searches: the words, the passages that systems returned, and the rows that they are in a log.

Of passages, equal texts are kept once, on disk, in a file without a name.
"""

import hashlib
import re
import secrets
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.queries.core.masking import Names, mask
from apps.querylogs.core.columns import (
    ACTION,
    CONVERSATION,
    MILLISECONDS,
    PASSAGES,
    PERSON,
    REPEAT,
    RERANK,
    RESULTS,
    SEARCH,
    SYSTEM,
    TEXT,
    TIME,
)
from apps.querylogs.formats.spans import RERANKER, RETRIEVER, Attributes, Span, opened, tree_of, value_at

MOST_PASSAGES, MOST_LETTERS, MOST_DEPTH = 100, 100_000, 6
FEWEST_WITH_NAME = 5
"""Spans that must have a name, in a file of so many that this is little."""


class Passage(NamedTuple):
    """One result of a search. `id` or `text` is "" where it was not sent; `score` is None where there is none."""

    id: str
    text: str
    score: float | None = None


class Retrieval(NamedTuple):
    """What a retriever or a reranker was asked and returned, best first; None where no list of passages was sent.

    `before` is what a reranker was given, where its span says so.
    """

    query: str
    passages: Sequence[Passage] | None
    before: Sequence[Passage] | None = None


def retrieval_of(span: Span) -> Retrieval:
    """What the span of a retriever or a reranker tells."""
    tree = tree_of(span.values)
    if span.kind == RERANKER:
        passages = _first_list(tree, ("reranker.output_documents", "gen_ai.rerank.documents", *OUTPUTS))
        query = _first_words(tree, ("reranker.query", *QUERIES))
        return Retrieval(query, passages, _first_list(tree, ("reranker.input_documents",)))
    passages = _first_list(tree, ("retrieval.documents", "gen_ai.retrieval.documents"))
    told = _first_list(tree, OUTPUTS)
    if passages is None:
        passages = told
    elif told and len(told) == len(passages) and not any(one.id for one in passages):
        passages = [one._replace(id=other.id) for one, other in zip(passages, told, strict=True)]
    return Retrieval(_first_words(tree, QUERIES), passages)


QUERIES = (
    "gen_ai.retrieval.query.text", "gen_ai.retrieval.query", "retrieval.query", "input.value",
    "langfuse.observation.input", "gen_ai.input.messages", "input",
)  # fmt: skip
OUTPUTS = ("output.value", "langfuse.observation.output", "output")
_WORDS = (
    "query_str", "query", "question", "search_query", "input", "text", "q", "prompt", "content", "query_bundle",
    "value", "messages", "parts",
)  # fmt: skip
_LISTS = (
    "documents", "results", "hits", "matches", "nodes", "source_nodes", "chunks", "passages", "contexts", "points",
    "output", "data", "value",
)  # fmt: skip
_WITHIN = ("document", "node", "payload", "_source", "chunk", "passage")
_PLAIN = frozenset({"id", "content", "score"})
_IDS = ("id", "doc_id", "document_id", "chunk_id", "id_", "_id", "node_id", "key")
_TEXTS = ("content", "page_content", "text", "body", "chunk_text", "passage_text")
_SCORES = ("score", "relevance_score", "similarity", "_score")


def _first_words(tree: Attributes, paths: Iterable[str]) -> str:
    return next((words for path in paths if (words := _words(value_at(tree, path)))), "")


def _words(value: Any, depth: int = 0) -> str:
    """The words of a search: a text, or what the usual field of an object has; of messages, the last of a person."""
    value = opened(value)
    if isinstance(value, str):
        return "" if value[:1] in {"{", "["} and value[1:2] in {'"', "{", "["} else " ".join(value.split())
    if depth > MOST_DEPTH:
        return ""
    if isinstance(value, list):
        asked = [one for one in value if not isinstance(one, dict) or one.get("role", "user") in {"user", "human"}]
        return next((words for one in reversed(asked) if (words := _words(one, depth + 1))), "")
    if isinstance(value, dict):
        found = next((words for name in _WORDS if (words := _words(value.get(name), depth + 1))), "")
        return found or (_words(next(iter(value.values())), depth + 1) if len(value) == 1 else "")
    return ""


def _first_list(tree: Attributes, paths: Iterable[str]) -> list[Passage] | None:
    return next((found for path in paths if (found := _listed(value_at(tree, path))) is not None), None)


def _listed(value: Any, depth: int = 0) -> list[Passage] | None:
    """The passages of a list, of an object that has one, or whose names are numbers; None for anything else."""
    value = opened(value)
    if isinstance(value, dict) and value and all(name.isdecimal() for name in value):
        value = [value[name] for name in sorted(value, key=int)]
    if isinstance(value, list):
        return [_passage(one) for one in value[:MOST_PASSAGES] if one is not None]
    if isinstance(value, dict) and depth < MOST_DEPTH:
        return next((found for name in _LISTS if (found := _listed(value.get(name), depth + 1)) is not None), None)
    return None


def passages_in(cell: str) -> list[Passage]:
    """The passages of a cell: a list in JSON, or ids divided by semicolons."""
    found = _listed(cell)
    if found is None:
        return [Passage(one.strip()[:300], "") for one in cell.split(";")[:MOST_PASSAGES] if one.strip()]
    return found


def _passage(value: Any) -> Passage:
    """A result as a text, an object, or an object with its score beside it."""
    known = value.get("document") if isinstance(value, dict) else None
    if isinstance(known, dict) and known.keys() <= _PLAIN and isinstance(text := known.get("content"), str):
        return Passage(str(known.get("id", ""))[:300], text[:MOST_LETTERS], _number(known.get("score")))
    score, value = None, opened(value)
    if isinstance(value, list) and len(value) == 2:
        value, score = value[0], value[1]
    if isinstance(value, str):
        return Passage(
            "", "" if value.startswith("<") and value.endswith(">") else value[:MOST_LETTERS], _number(score)
        )
    if not isinstance(value, dict):
        return Passage("", "")
    value = tree_of(value) if any("." in str(name) for name in value) else value
    inner = next((one for name in _WITHIN if isinstance(one := opened(value.get(name)), dict)), {})
    metadata = opened(inner.get("metadata") or value.get("metadata"))
    places = [inner, value, metadata if isinstance(metadata, dict) else {}]
    found = next((str(one[name]) for one in places for name in _IDS if isinstance(one.get(name), str | int)), "")
    text = next((one[name] for one in places[:2] for name in _TEXTS if isinstance(one.get(name), str)), "")
    scores = (_number(one.get(name)) for one in (inner, value) for name in _SCORES)
    return Passage(found[:300], text[:MOST_LETTERS], next((one for one in scores if one is not None), _number(score)))


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value == value else None


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
        for place, (name, text, _) in enumerate(passages):
            key = (self._id(name), self.add_text(text) if text and not text.isspace() else -1)
            if key == (-1, -1):
                self.nameless += 1
                continue
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
        content = storable(text)
        digest = hashlib.blake2b(content, digest_size=16).digest()
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


def storable(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace(b"\0", b" ")


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


class Searches:
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
        if trace != self._last[0] or not all(self._last):  # the first that is told of a trace counts
            person, conversation = span.person, span.conversation
            told = (trace, self._code(person) if person else 0, self._code(conversation) if conversation else 0)
            if any(told[1:]) and told != self._last:
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
        least = min(FEWEST_WITH_NAME, max(1, int(counts.sum()) // 20))
        often = set(np.argsort(-counts, kind="stable")[:MOST_SYSTEMS].tolist())
        return [
            mask(" ".join(storable(name).decode().split())[:80], names).text
            if number in often and counts[number] >= least
            else "other"
            for name, number in self._systems.items()
        ]
