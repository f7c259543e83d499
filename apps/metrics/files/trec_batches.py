"""TREC's two file formats read many rows at a time, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from apps.common.files.faults import ErrorList
from apps.common.files.linefiles import chunks_of, lines_of_chunk, name_of
from apps.common.files.numbers import MOST_WHOLE
from apps.metrics.files.packed_fields import plain_fields
from apps.metrics.files.trec_rows import TrecRunRow, judgements_of, parse_run
from apps.metrics.vocabulary import Floats, Ids, Ints


class RunPart(NamedTuple):
    """Some rows of a run file as columns. `tag` is that of the first row, `another` the first different one.

    `queries` names the query of each stretch of rows about one query, `lengths` how many rows the stretch has. In
    `reordered` stretches the ranks give another order than the scores.
    """

    queries: Ids
    lengths: Ints
    blocks: Ids
    scores: Floats
    tag: str
    another: str = ""
    reordered: int = 0


def read_run_parts(
    path: str | Path, errors: ErrorList | None = None, chunks: Iterable[bytes] | None = None
) -> Iterator[RunPart]:
    """The rows of a run file in file order, many at a time: as `read_run_rows`, about ten times faster.

    Does not check for a block that occurs twice for a query. `chunks` are the file's bytes where it is open already.
    """
    name, done = name_of(path), 0
    for chunk in chunks_of(path, name) if chunks is None else chunks:
        part = _run_part(chunk)
        if part is not None:
            done += len(part.blocks)
        else:
            part = part_of(list(parse_run(lines_of_chunk(chunk, name, done), name, first=done + 1, errors=errors)))
            done += chunk.count(b"\n")
        if len(part.blocks):
            yield part


def part_of(rows: Sequence[TrecRunRow]) -> RunPart:
    """Rows that were read one by one."""
    queries = [row.query_id for row in rows]
    firsts = [place for place, query in enumerate(queries) if not place or query != queries[place - 1]]
    lengths = np.diff([*firsts, len(rows)]).astype(np.int64)
    scores = np.array([row.score for row in rows], dtype=np.float64)
    return RunPart(
        Ids.of([queries[place] for place in firsts]),
        lengths,
        Ids.of([row.block_id for row in rows]),
        scores,
        rows[0].tag if rows else "",
        next((row.tag for row in rows if row.tag != rows[0].tag), ""),
        _reordered(lengths, np.array([row.rank for row in rows], dtype=np.float64), scores),
    )


def _reordered(lengths: Ints, ranks: Ints | Floats, scores: Floats) -> int:
    """In how many stretches of rows a row with a later rank has a higher score than the row before it, or the reverse.

    Rows are compared with their neighbours only: a run is written in an order.
    """
    against = (np.diff(ranks) > 0) & (np.diff(scores) > 0) | (np.diff(ranks) < 0) & (np.diff(scores) < 0)
    stretch = np.repeat(np.arange(len(lengths)), lengths)
    within = against & (stretch[1:] == stretch[:-1])
    return int(np.count_nonzero(np.bincount(stretch[1:][within])))


def _run_part(chunk: bytes) -> RunPart | None:
    fields = plain_fields(chunk, 6)
    ranks = fields.column(3).wholes() if fields else None
    scores = fields.column(4).numbers() if fields and ranks is not None else None
    if fields is None or ranks is None or scores is None:
        return None
    tags, _ = fields.column(5).stretches()
    tag, another = (tags[row].decode() if row < len(tags) else "" for row in (0, 1))
    queries, lengths = fields.column(0).stretches()
    reordered = _reordered(lengths, ranks, scores)
    return RunPart(queries, lengths, fields.column(2).ids(), scores, tag, another, reordered)


class QrelPart(NamedTuple):
    """Some rows of a qrels file as columns, in the form of `RunPart`."""

    queries: Ids
    lengths: Ints
    blocks: Ids
    grades: Ints


def read_qrels_parts(
    path: str | Path, errors: ErrorList | None = None, chunks: Iterable[bytes] | None = None
) -> Iterator[QrelPart]:
    """The rows of a qrels file in file order, many at a time: as `read_qrel_rows`, about ten times faster.

    `chunks` are those of a file that is already open.

    Does not check for a block that occurs twice for a query.
    """
    name, done = name_of(path), 0
    for chunk in chunks_of(path, name) if chunks is None else chunks:
        part = _qrel_part(chunk)
        if part is not None:
            done += len(part.blocks)
        else:
            lines = lines_of_chunk(chunk, name, done)
            rows = [row for _, row in judgements_of(lines, name, done + 1, errors)]
            part = QrelPart(
                Ids.of([row.query_id for row in rows]),
                np.ones(len(rows), dtype=np.int64),
                Ids.of([row.block_id for row in rows]),
                np.array([row.grade for row in rows], dtype=np.int64),
            )
            done += chunk.count(b"\n")
        if len(part.blocks):
            yield part


def _qrel_part(chunk: bytes) -> QrelPart | None:
    """None also where a grade is no whole number: the reader of single lines handles other notations and errors."""
    fields = plain_fields(chunk, 4)
    if fields is None:
        return None
    grades = fields.column(3).wholes()
    if grades is None:
        numbers = fields.column(3).numbers()
        if numbers is None or (np.abs(numbers) >= MOST_WHOLE).any() or (numbers != np.rint(numbers)).any():
            return None
        grades = numbers.astype(np.int64)
    return QrelPart(*fields.column(0).stretches(), fields.column(2).ids(), grades)
