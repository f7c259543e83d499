"""Reading somebody else's run: from rows to rankings, with everything that does not fit named."""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_row, fault
from apps.metrics.files.trec_rows import TrecRunRow, parse_run
from apps.retrieval.core import ranking

MOST_ERRORS = 10_000
MOST_ERRORS_KEPT = 1_000
HIGHEST_RANK = 2**62


class QueryRanking(NamedTuple):
    """The ranking of one query, packed as it is stored: best first, ties by block id descending."""

    query: int
    outside_id: str
    packed: bytes

    @property
    def length(self) -> int:
        return len(self.packed) // ranking.ENTRY_BYTES


class RunDraft(NamedTuple):
    """A run as read, before anything is stored.

    `unknown_queries` and `unknown_blocks` say how many rows name each id that the project or the snapshot
    does not have; `errors` names each such id once, at its first line, and what spoilt the file. `ties`
    counts neighbours of equal score, `reordered` the queries whose rank column tells another order.
    """

    rankings: list[QueryRanking]
    tags: list[str]
    rows: int
    unknown_queries: dict[str, int]
    unknown_blocks: dict[str, int]
    errors: ErrorList
    ties: int
    reordered: int
    is_spoilt: bool

    @property
    def results(self) -> int:
        return sum(found.length for found in self.rankings)

    @property
    def depth(self) -> int:
        """The most results any query has."""
        return max((found.length for found in self.rankings), default=0)

    @property
    def skipped(self) -> int:
        """Rows that name an unknown query or block."""
        return self.rows - self.results


def facts_of(draft: RunDraft) -> dict[str, Any]:
    """What a run file would come to, in figures, with its first mistakes: plain JSON, as a job's result keeps it."""
    return {
        "tag": draft.tags[0] if draft.tags else "",
        "rows": draft.rows,
        "queries": len(draft.rankings),
        "results": draft.results,
        "depth": draft.depth,
        "unknown_queries": len(draft.unknown_queries),
        "unknown_blocks": len(draft.unknown_blocks),
        "ties": draft.ties,
        "reordered": draft.reordered,
        "skipped": draft.skipped,
        "is_spoilt": draft.is_spoilt,
        "errors": [_kept(error) for error in list(draft.errors)[:MOST_ERRORS_KEPT]],
        "errors_total": draft.errors.total,
    }


def _kept(error: InputError) -> dict[str, Any]:
    """The error with nothing in it that a database would refuse: ids of a file may hold anything."""
    return {key: _storable(part) if isinstance(part, str) else part for key, part in as_row(error).items()}


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


class _Reader:
    """Collects rows by query. Only known ids are kept; a query stays even when none of its blocks is known."""

    def __init__(self, name: str, queries: Mapping[str, int], blocks: Mapping[str, int]) -> None:
        self.name = name
        self.queries = queries
        self.blocks = blocks
        self.line = 0
        self.rows = 0
        self.found: dict[str, tuple[array[int], array[float], array[int]]] = {}
        self.tags: dict[str, int] = {}
        self.unknown_queries: dict[str, int] = {}
        self.unknown_blocks: dict[str, int] = {}
        self.errors = ErrorList(MOST_ERRORS)
        self.is_spoilt = False

    def counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for self.line, line in enumerate(lines, 1):
            yield line

    def take(self, row: TrecRunRow) -> None:
        self.rows += 1
        self.tags.setdefault(row.tag, self.line)
        query, position = self.queries.get(row.query_id), self.blocks.get(row.block_id)
        if query is None:
            self._unknown(self.unknown_queries, row.query_id, "query", "is not a query of this project")
        if position is None:
            self._unknown(self.unknown_blocks, row.block_id, "block", "is not a passage of this snapshot")
        if query is None:
            return
        found = self.found.get(row.query_id)
        if found is None:
            found = self.found[row.query_id] = array("i"), array("d"), array("q")
        if position is not None:
            positions, scores, ranks = found
            positions.append(position)
            scores.append(row.score)
            ranks.append(max(-HIGHEST_RANK, min(row.rank, HIGHEST_RANK)))

    def spoil(self, error: InputError) -> None:
        self.errors.add(error)
        self.is_spoilt = True

    def _unknown(self, counts: dict[str, int], value: str, field: str, what: str) -> None:
        counts[value] = counts.get(value, 0) + 1
        if counts[value] == 1:
            self.errors.add(fault(self.name, self.line, field, value, f"'{value}' {what}."))

    def draft(self) -> RunDraft:
        """What was read. Each query's columns are let go as soon as they are packed."""
        rankings, ties, reordered = [], 0, 0
        for outside_id in list(self.found):
            columns = self.found.pop(outside_id)
            positions, scores, ranks = map(np.array, columns)
            order = ranking.in_order(positions, scores)
            ordered = scores[order]
            ties += int((ordered[1:] == ordered[:-1]).sum())
            reordered += bool((np.diff(ranks[order]) < 0).any())
            rankings.append(QueryRanking(self.queries[outside_id], outside_id, ranking.pack(positions[order], ordered)))
        return RunDraft(
            rankings,
            list(self.tags),
            self.rows,
            self.unknown_queries,
            self.unknown_blocks,
            self.errors,
            ties,
            reordered,
            self.is_spoilt,
        )


def read_rows(
    rows: Iterable[tuple[str, str, float]],
    tag: str,
    name: str,
    *,
    queries: Mapping[str, int],
    blocks: Mapping[str, int],
) -> RunDraft:
    """As `read_run`, from (query, block, score) rows. A row's line is its number, and its order tells no rank."""
    reader, seen = _Reader(name, queries, blocks), set()
    for reader.line, (query_id, block_id, score) in enumerate(rows, 1):
        if not math.isfinite(score):
            reader.spoil(fault(name, reader.line, "score", score, f"'{score}' is not a finite number."))
        elif (query_id, block_id) in seen:
            sentence = f"'{block_id}' is listed twice for query '{query_id}'."
            reader.spoil(fault(name, reader.line, "block", block_id, sentence))
        else:
            seen.add((query_id, block_id))
            reader.take(TrecRunRow(query_id, block_id, 0, score, tag))
    return reader.draft()


def read_run(lines: Iterable[bytes], name: str, *, queries: Mapping[str, int], blocks: Mapping[str, int]) -> RunDraft:
    """A draft from the lines of a six-column TREC run; `queries` and `blocks` give key and position by id.

    Nothing is raised: what is wrong is in the draft's errors, and a spoilt file was read up to its fault.
    """
    reader = _Reader(name, queries, blocks)
    try:
        for row in parse_run(reader.counted(lines), name):
            reader.take(row)
    except InputError as error:
        reader.spoil(error)
    if len(reader.tags) > 1:
        first, second = list(reader.tags)[:2]
        sentence = f"the file holds the tags '{first}' and '{second}'; a file holds one run."
        reader.spoil(fault(name, reader.tags[second], "tag", second, sentence))
    if not reader.rows and not reader.is_spoilt:
        reader.spoil(fault(name, None, "", "", "the file holds no rows."))
    return reader.draft()
