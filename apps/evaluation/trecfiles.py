"""Judgements and runs from TREC files, as columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from apps.common.errors import InputError
from apps.common.trec import name_of, read_faceted_qrels, read_qrels, read_run
from apps.common.trecparts import read_qrels_parts, read_run_parts
from apps.evaluation.columns import Ints, Judged, Ranked, Vocabulary, faceted_columns, pair_keys

MIXER = np.int64(0x1E3779B97F4A7C15)


class RunFile(NamedTuple):
    """One run from a file. `unjudged` names the queries of the file without judgements; they are not scored."""

    path: str
    tag: str
    ranked: Ranked
    unjudged: tuple[str, ...]


def load_qrels(path: str | Path, blocks: Vocabulary, *, with_facets: bool = False) -> Judged:
    """The judgements of a qrels file. Raises InputError for a malformed or empty file.

    `with_facets` reads the second column as the facet of the query that a row is about; without it the column is
    passed over, and a pair may stand in the file only once.
    """
    if with_facets:
        judged = faceted_columns(
            ((row.query_id, row.facet, row.block_id.encode(), row.grade) for row in read_faceted_qrels(path)), blocks
        )
    else:
        judged = _plain_qrels(path, blocks)
    if not judged.queries:
        raise InputError(name_of(path), None, "", "", "holds no judgements.")
    return judged


def _plain_qrels(path: str | Path, blocks: Vocabulary) -> Judged:
    numbers = Vocabulary()
    query, block, grade = [_no_ints()], [_no_ints()], [_no_ints()]
    for part in read_qrels_parts(path):
        query.append(np.repeat(numbers.numbers_of(part.queries), part.lengths))
        block.append(blocks.numbers_of(part.blocks))
        grade.append(part.grades)
    queries = tuple(query_id.decode() for query_id in numbers)
    judged = Judged(queries, np.concatenate(query), np.concatenate(block), np.concatenate(grade))
    keys = pair_keys(judged.query, judged.block)
    _, firsts = np.unique(keys, return_index=True)
    if len(firsts) < len(keys):
        later = int(np.setdiff1d(np.arange(len(keys)), firsts)[0])
        _refuse_double(path, read_qrels, queries[judged.query[later]], list(blocks)[judged.block[later]].decode())
    return judged


def load_run(path: str | Path, judged: Judged, blocks: Vocabulary, *, to_score: bool = False) -> RunFile:
    """The run of a file, named by the tag of its first row, or by the file when it holds no row.

    `to_score` keeps of blocks that are not in the vocabulary yet no more than scoring needs: other runs and other
    queries number them anew. Without it one block has one number everywhere.

    Raises InputError for a malformed file and for a block that stands twice for a judged query.
    """
    numbers = {query_id.encode(): number for number, query_id in enumerate(judged.queries)}
    tag = ""
    unjudged: set[bytes] = set()
    queries, found, marks, scores = [_no_ints()], [_no_ints()], [_no_ints()], [np.empty(0)]
    for part in read_run_parts(path):
        tag = tag or part.tag
        stretch = np.array([numbers.get(query_id, -1) for query_id in part.queries], dtype=np.int64)
        unjudged.update(part.queries[place] for place in np.flatnonzero(stretch < 0).tolist())
        query = np.repeat(stretch, part.lengths)
        known = query >= 0
        queries.append(query[known])
        found.append(blocks.numbers_of(part.blocks, is_passing=to_score)[known])
        marks.append(np.array(list(map(hash, part.blocks)), dtype=np.int64)[known])
        scores.append(part.scores[known])
    ranked = Ranked(np.concatenate(queries), np.concatenate(found), np.concatenate(scores))
    _refuse_doubles(path, ranked, np.concatenate(marks), judged.queries, blocks)
    return RunFile(str(path), tag or Path(path).stem, ranked, tuple(sorted(id_.decode() for id_ in unjudged)))


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int64)


def _refuse_doubles(path: str | Path, ranked: Ranked, marks: Ints, queries: Sequence[str], blocks: Vocabulary) -> None:
    """Raises InputError where a pair stands twice. Rows of the same block have the same mark, and few others have."""
    keys = marks * MIXER + ranked.query
    in_order = np.sort(keys)
    alike = in_order[1:][in_order[1:] == in_order[:-1]]
    if not len(alike):
        return
    rows, ids, seen = np.flatnonzero(np.isin(keys, alike)).tolist(), list(blocks), set()
    for row in rows:
        pair = queries[int(ranked.query[row])], ids[int(ranked.block[row])].decode()
        if pair in seen:
            _refuse_double(path, read_run, *pair)
        seen.add(pair)


def _refuse_double(
    path: str | Path, read: Callable[[str | Path], Iterator[Any]], query_id: str, block_id: str
) -> NoReturn:
    if str(path) != "-":
        for _ in read(path):
            pass  # the reader of lines knows which
    raise InputError(name_of(path), None, "block", block_id, f"'{block_id}' stands twice for query '{query_id}'.")


def looks_alike(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged query and one of the run that differ only by case or leading zeros, when there are such."""
    by_form = {_form(query_id): query_id for query_id in missing}
    for query_id in unjudged:
        if _form(query_id) in by_form:
            return by_form[_form(query_id)], query_id
    return None


def _form(query_id: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", query_id.casefold())
