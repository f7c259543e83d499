"""Run files made elsewhere: from rows to rankings, with every mistake listed."""

import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from apps.common.digests import digest_of, sha256_hex
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, as_row, fault
from apps.common.files.jsonvalues import refuse_unstorable
from apps.common.files.tabular import TableFile
from apps.common.text.words import plain_words
from apps.metrics.files.result_checks import FactsOf, checked
from apps.metrics.files.results import ResultRow, best_first, read_results, rows_from
from apps.metrics.files.run_tables import RunColumns, rows_of, tag_of_name
from apps.metrics.files.trec_rows import TrecRunRow, parse_run
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core import ranking
from apps.retrieval.core.ranking import as_stored
from apps.retrieval.enums import Returns

MOST_ERRORS = 10_000
MOST_ERRORS_STORED = 1_000
HIGHEST_RANK = 2**62

Texts = Mapping[str, str]
NO_TEXTS: Texts = {}


class QueryRanking(NamedTuple):
    """The ranking of one query, as it is stored: best first, blocks packed with ties by block id descending.

    Of a run that returns passages of its own, `passages` has them, and nothing is packed.
    """

    query: int
    outside_id: str
    packed: bytes = b""
    passages: list[dict[str, Any]] | None = None

    @property
    def length(self) -> int:
        return len(self.packed) // ranking.ENTRY_BYTES if self.passages is None else len(self.passages)

    @property
    def digest(self) -> str:
        return sha256_hex(self.packed) if self.passages is None else digest_of(self.passages)


class RunDraft(NamedTuple):
    """A run file as read, before anything is stored.

    `unknown_queries` and `unknown_blocks`: how many rows name each id that the project or the snapshot does not have.
    `by_text` gives the id of each query that the file names by its text, as the file has it.
    `errors` lists each unknown id once, at its first line, and every malformed or repeated row; `is_spoilt` when there
    is one of the latter, so that leaving out unknown ids is not enough to import the file. `ties` counts neighbours
    of equal score, `reordered` the queries whose rank column gives another order than the scores. `usage` is what the
    file says the run used, {} for nothing. `latency` has milliseconds by query id; no file has them.
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
    by_text: dict[str, str]
    returns: str = Returns.BLOCKS
    usage: Usage = {}
    latency: Mapping[str, float] = {}

    @property
    def results(self) -> int:
        return sum(one.length for one in self.rankings)

    @property
    def depth(self) -> int:
        """The most results any query has."""
        return max((one.length for one in self.rankings), default=0)

    @property
    def skipped(self) -> int:
        """Rows that name an unknown query or block."""
        return self.rows - self.results


def facts_of(draft: RunDraft) -> dict[str, Any]:
    """The draft's figures and its first mistakes as plain JSON, as the preview shows and a job's result stores them."""
    return {
        "tag": draft.tags[0] if draft.tags else "",
        "returns": draft.returns,
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
        "by_text": len(draft.by_text),
        "by_text_example": [_storable(part) for part in next(iter(draft.by_text.items()), ())],
        "errors": [_storable_row(error) for error in list(draft.errors)[:MOST_ERRORS_STORED]],
        "errors_total": draft.errors.total,
    }


def _storable_row(error: InputError) -> dict[str, Any]:
    """The error without characters that a database refuses: ids in a file may contain anything."""
    return {key: _storable(part) if isinstance(part, str) else part for key, part in as_row(error).items()}


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


class Collector:
    """What all forms of runs have in common while they are read: how queries are named, tags and mistakes.

    A query that is no id counts as the one with exactly this text in `texts`, by `plain_words`.
    """

    def __init__(self, name: str, queries: Mapping[str, int], texts: Texts) -> None:
        self.name = name
        self.queries = queries
        self.texts = texts
        self.spellings: dict[str, str] = {}
        self.doubled: set[str] = set()
        self.line = 0
        self.rows = 0
        self.tags: dict[str, int] = {}
        self.unknown_queries: dict[str, int] = {}
        self.unknown_blocks: dict[str, int] = {}
        self.errors = ErrorList(MOST_ERRORS)

    @property
    def is_spoilt(self) -> bool:
        """Whether any mistake is more than an unknown id."""
        return self.errors.total > len(self.unknown_queries) + len(self.unknown_blocks)

    @property
    def by_text(self) -> dict[str, str]:
        return {written: outside_id for outside_id, written in self.spellings.items() if written != outside_id}

    def find(self, written: str, field: str = "query") -> str | None:
        """The outside id of a query that the file names; "" for an unknown one, None for one named in two ways.

        Both are added to the mistakes.
        """
        outside_id = written if written in self.queries else self.texts.get(plain_words(written), "")
        if outside_id not in self.queries:
            self.count_unknown(self.unknown_queries, written, field, "is not a query of this project")
            return ""
        if (spelling := self.spellings.setdefault(outside_id, written)) != written:
            self._doubled(written, spelling, outside_id, field)
            return None
        return outside_id

    def count_unknown(self, counts: dict[str, int], value: str, field: str, what: str) -> None:
        counts[value] = counts.get(value, 0) + 1
        if counts[value] == 1:
            self.errors.add(fault(self.name, self.line, field, value, f"'{value}' {what}."))

    def _doubled(self, value: str, earlier: str, outside_id: str, field: str) -> None:
        """A query that the file names in two ways might have two rankings."""
        if value not in self.doubled:
            self.doubled.add(value)
            sentence = f"'{value}' and '{earlier}' both name the query {outside_id}; name it in one way."
            self.errors.add(fault(self.name, self.line, field, value, sentence))


class _RunCollector(Collector):
    """Collects rows by query. Only known ids are stored; a query stays even when none of its blocks is known."""

    def __init__(self, name: str, queries: Mapping[str, int], blocks: Mapping[str, int], texts: Texts) -> None:
        super().__init__(name, queries, texts)
        self.blocks = blocks
        self.columns: dict[str, tuple[array[int], array[float], array[int]]] = {}

    def counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for self.line, line in enumerate(lines, 1):
            yield line

    def add(self, row: TrecRunRow) -> None:
        self.rows += 1
        self.tags.setdefault(row.tag, self.line)
        outside_id, position = self.find(row.query_id), self.blocks.get(row.block_id)
        if outside_id is None:
            return
        if position is None:
            self.count_unknown(self.unknown_blocks, row.block_id, "block", "is not a passage of this snapshot")
        if not outside_id:
            return
        columns = self.columns.get(outside_id)
        if columns is None:
            columns = self.columns[outside_id] = array("i"), array("d"), array("q")
        if position is not None:
            positions, scores, ranks = columns
            positions.append(position)
            scores.append(row.score)
            ranks.append(max(-HIGHEST_RANK, min(row.rank, HIGHEST_RANK)))

    def draft(self) -> RunDraft:
        """What was read, with mistakes sorted by line. Each query's columns are freed as soon as they are packed."""
        self.errors.sort()
        rankings, ties, reordered = [], 0, 0
        for outside_id in list(self.columns):
            positions, scores, ranks = map(np.array, self.columns.pop(outside_id))
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
            self.by_text,
        )


def draft_from_rows(
    rows: Iterable[Any],
    tag: str,
    name: str,
    *,
    queries: Mapping[str, int],
    blocks: Mapping[str, int],
    texts: Texts = NO_TEXTS,
) -> RunDraft:
    """As `draft_from_lines`, from objects with query_id, block_id and score. Errors count rows from 1."""
    collector, seen = _RunCollector(name, queries, blocks, texts), set()
    for collector.line, row in enumerate(rows, 1):
        try:
            query_id, block_id, score = str(row["query_id"]).strip(), str(row["block_id"]).strip(), float(row["score"])
        except (TypeError, KeyError, ValueError, OverflowError):
            sentence = "A row is an object with query_id, block_id and score, a number."
            collector.errors.add(fault(name, collector.line, "", json.dumps(row), sentence))
            continue
        if not math.isfinite(score):
            sentence = f"'{score}' is not a finite number."
            collector.errors.add(fault(name, collector.line, "score", score, sentence))
        elif (query_id, block_id) in seen:
            sentence = f"'{block_id}' is listed twice for query '{query_id}'."
            collector.errors.add(fault(name, collector.line, "block", block_id, sentence))
        else:
            seen.add((query_id, block_id))
            collector.add(TrecRunRow(query_id, block_id, 0, score, tag))
    return collector.draft()


def draft_from_table(
    source: TableFile,
    table: tuple[RunColumns, str],
    progress: Callable[[int], object],
    *,
    queries: Mapping[str, int],
    blocks: Mapping[str, int],
    texts: Texts = NO_TEXTS,
) -> RunDraft:
    """As `draft_from_lines`, from a table with these columns and this delimiter.

    Without a column of tags the name of the file is the tag.
    """
    collector = _RunCollector(source.name, queries, blocks, texts)
    try:
        for line, row in rows_of(source, *table, collector.errors, tag=tag_of_name(source.name)):
            collector.line = line
            collector.add(row)
            progress(collector.rows)
    except InputError as error:
        collector.errors.add(error)
    return _whole(collector)


def draft_from_lines(
    lines: Iterable[bytes],
    name: str,
    *,
    queries: Mapping[str, int],
    blocks: Mapping[str, int],
    texts: Texts = NO_TEXTS,
) -> RunDraft:
    """A draft from the lines of a six-column TREC run; `queries` and `blocks` give key and position by id.

    `texts` gives the id of a query by its text, as `plain_words` has it, for files that name texts instead of ids.

    Raises nothing: mistakes are in the draft's errors, in the order of the file. Reading ends early only where the
    file cannot be read on, as in a damaged gzip.
    """
    collector = _RunCollector(name, queries, blocks, texts)
    try:
        for row in parse_run(collector.counted(lines), name, errors=collector.errors):
            collector.add(row)
    except InputError as error:
        collector.errors.add(error)
    return _whole(collector)


def _whole(collector: _RunCollector) -> RunDraft:
    """The draft of a whole file, which contains one run."""
    name = collector.name
    if len(collector.tags) > 1:
        first, second = list(collector.tags)[:2]
        sentence = f"the file contains the tags '{first}' and '{second}'; a file contains one run."
        collector.errors.add(fault(name, collector.tags[second], "tag", second, sentence))
    if not collector.rows and not collector.errors:
        collector.errors.add(fault(name, None, "", "", "the file contains no rows."))
    return collector.draft()


MOST_LETTERS = 300_000_000
Known = Callable[[ErrorList, Usage], Iterable[tuple[int, ResultRow]]]


def draft_from_results(
    source: TableFile,
    progress: Callable[[int], object],
    *,
    queries: Mapping[str, int],
    texts: Texts = NO_TEXTS,
    facts_of: FactsOf | None = None,
) -> RunDraft:
    """A draft from a file that `are_results`; `queries` gives keys by id. Mistakes are in its errors, as in a run's.

    `facts_of` says what the corpus has of what the file names; without it nothing is compared with the corpus.
    """
    return _collected(
        source.name, lambda errors, usage: read_results(source, errors, usage), progress, queries, texts, facts_of
    )


def draft_from_objects(
    objects: Iterable[Any],
    tag: str,
    name: str,
    *,
    queries: Mapping[str, int],
    texts: Texts = NO_TEXTS,
    facts_of: FactsOf | None = None,
) -> RunDraft:
    """The same from objects that a client pushes. Errors name them `name` and count them from 1."""

    def read(errors: ErrorList, usage: Usage) -> Iterator[tuple[int, ResultRow]]:
        return rows_from(_objects(objects, name, errors), name, errors, usage)

    return _collected(name, read, lambda rows: None, queries, texts, facts_of, tag=tag)


def _objects(objects: Iterable[Any], name: str, errors: ErrorList) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, one in enumerate(objects, 1):
        try:
            refuse_unstorable(one)
        except ValueError as error:
            errors.add(fault(name, line, "", "", f"{error}."))
            continue
        if isinstance(one, dict):
            yield line, one
        else:
            errors.add(fault(name, line, "", json.dumps(one), "a result is an object with qid and rank."))


def _collected(
    name: str,
    read: Known,
    progress: Callable[[int], object],
    queries: Mapping[str, int],
    texts: Texts,
    facts_of: FactsOf | None,
    *,
    tag: str = "",
) -> RunDraft:
    collector, found = Collector(name, queries, texts), list[tuple[int, ResultRow]]()
    letters, usage = 0, Usage()
    try:
        for line, row in read(collector.errors, usage):
            collector.line = line
            collector.rows += 1
            first, last = row.returned.span or (0, 0)
            letters += max(len(row.returned.text), last - first)
            if letters > MOST_LETTERS:
                message = f"the texts have more than {MOST_LETTERS:,} letters in all; return fewer for each question."
                raise fault(name, collector.line, "text", "", message)
            if outside_id := collector.find(row.qid, "qid"):
                found.append((line, row._replace(qid=outside_id)))
            progress(collector.rows)
    except InputError as error:
        collector.errors.add(error)
    if not collector.rows and not collector.errors:
        collector.errors.add(fault(name, None, "", "", "the file contains no results."))
    if facts_of is not None:
        found = checked(found, name, facts_of, collector.errors)
    collector.errors.sort()
    ranked = best_first(row for _, row in found)
    return RunDraft(
        rankings=[QueryRanking(queries[one], one, passages=as_stored(top)) for one, top in ranked.items()],
        tags=[tag or tag_of_name(name)],
        rows=collector.rows,
        unknown_queries=collector.unknown_queries,
        unknown_blocks={},
        errors=collector.errors,
        ties=0,
        reordered=0,
        is_spoilt=collector.is_spoilt,
        by_text=collector.by_text,
        returns=Returns.PASSAGES,
        usage=usage,
    )
