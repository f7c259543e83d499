"""TREC's two file forms read many rows at a time, as columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from apps.common.trec import chunks_of, lines_of_chunk, name_of, parse_qrels, parse_run
from apps.common.trecfields import Fields, Floats, Ints, plain_fields


class RunPart(NamedTuple):
    """Some rows of a run file as columns; ids are UTF-8 bytes. `tag` is that of the first row.

    `queries` names the query of each stretch of rows about one query, `lengths` how many rows the stretch has.
    """

    queries: list[bytes]
    lengths: Ints
    blocks: list[bytes]
    scores: Floats
    tag: str


def read_run_parts(path: str | Path) -> Iterator[RunPart]:
    """The rows of a run file in file order, many at a time: as `read_run`, about ten times faster.

    A block that occurs twice for a query is left for the caller to notice.
    """
    name, done = name_of(path), 0
    for chunk in chunks_of(path, name):
        part = _run_part(plain_fields(chunk, 6))
        if part is None:
            rows = list(parse_run(lines_of_chunk(chunk, name, done), name, first=done + 1))
            part = RunPart(
                [row.query_id.encode() for row in rows],
                np.ones(len(rows), dtype=np.int64),
                [row.block_id.encode() for row in rows],
                np.array([row.score for row in rows], dtype=np.float64),
                rows[0].tag if rows else "",
            )
        done += chunk.count(b"\n")
        if part.blocks:
            yield part


def _run_part(fields: Fields | None) -> RunPart | None:
    scores = fields.numbers(4) if fields and fields.is_whole(3) else None
    if fields is None or scores is None:
        return None
    tag = fields._replace(starts=fields.starts[:1], sizes=fields.sizes[:1]).ids(5)[0]
    return RunPart(*fields.stretches(0), fields.ids(2), scores, tag.decode())


class QrelPart(NamedTuple):
    """Some rows of a qrels file as columns, in the form of `RunPart`."""

    queries: list[bytes]
    lengths: Ints
    blocks: list[bytes]
    grades: Ints


def read_qrels_parts(path: str | Path) -> Iterator[QrelPart]:
    """The rows of a qrels file in file order, many at a time: as `read_qrels`, about ten times faster.

    A block that occurs twice for a query is left for the caller to notice.
    """
    name, done = name_of(path), 0
    for chunk in chunks_of(path, name):
        part = _qrel_part(plain_fields(chunk, 4))
        if part is None:
            rows = list(parse_qrels(lines_of_chunk(chunk, name, done), name, first=done + 1))
            part = QrelPart(
                [row.query_id.encode() for row in rows],
                np.ones(len(rows), dtype=np.int64),
                [row.block_id.encode() for row in rows],
                np.array([row.grade for row in rows], dtype=np.int64),
            )
        done += chunk.count(b"\n")
        if part.blocks:
            yield part


def _qrel_part(fields: Fields | None) -> QrelPart | None:
    """None also where a grade is not plainly digits: the reader of lines knows signs, and what to say."""
    grades = fields.numbers(3) if fields and fields.is_whole(3) else None
    if fields is None or grades is None:
        return None
    return QrelPart(*fields.stretches(0), fields.ids(2), grades.astype(np.int64))
