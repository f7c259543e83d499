"""Judgements and runs from TREC files, as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from apps.common.errors import InputError
from apps.common.trec import name_of, read_faceted_qrels, read_qrels, read_run, read_run_parts
from apps.evaluation.columns import Ints, Judged, Ranked, Vocabulary, faceted_columns, judged_columns, pair_keys


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
        rows = ((row.query_id, row.block_id.encode(), row.grade) for row in read_qrels(path))
        judged = judged_columns(rows, blocks)
    if not judged.queries:
        raise InputError(name_of(path), None, "", "", "holds no judgements.")
    return judged


def load_run(path: str | Path, judged: Judged, blocks: Vocabulary) -> RunFile:
    """The run of a file, named by the tag of its first row, or by the file when it holds no row.

    Raises InputError for a malformed file and for a block that stands twice for a judged query.
    """
    numbers = {query_id.encode(): number for number, query_id in enumerate(judged.queries)}
    tag = ""
    unjudged: set[bytes] = set()
    queries, found, scores = [_no_ints()], [_no_ints()], [np.empty(0)]
    for part in read_run_parts(path):
        tag = tag or part.tag
        query = np.array([numbers.get(query_id, -1) for query_id in part.queries], dtype=np.int64)
        known = query >= 0
        unjudged.update(part.queries[place] for place in np.flatnonzero(~known))
        queries.append(query[known])
        found.append(np.array(list(map(blocks.__getitem__, part.blocks)), dtype=np.int64)[known])
        scores.append(np.array(part.scores)[known])
    ranked = Ranked(np.concatenate(queries), np.concatenate(found), np.concatenate(scores))
    _refuse_doubles(path, ranked, judged, blocks)
    return RunFile(str(path), tag or Path(path).stem, ranked, tuple(sorted(id_.decode() for id_ in unjudged)))


def _no_ints() -> Ints:
    return np.empty(0, dtype=np.int64)


def _refuse_doubles(path: str | Path, ranked: Ranked, judged: Judged, blocks: Vocabulary) -> None:
    keys = pair_keys(ranked.query, ranked.block)
    order = np.argsort(keys)
    doubles = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if not len(doubles):
        return
    if str(path) != "-":
        for _ in read_run(path):
            pass  # the slow reader knows the lines
    place = order[doubles[0]]
    query, block = judged.queries[ranked.query[place]], list(blocks)[ranked.block[place]].decode()
    raise InputError(name_of(path), None, "block", block, f"'{block}' stands twice for query '{query}'.")


def looks_alike(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged query and one of the run that differ only by case or leading zeros, when there are such."""
    by_form = {_form(query_id): query_id for query_id in missing}
    for query_id in unjudged:
        if _form(query_id) in by_form:
            return by_form[_form(query_id)], query_id
    return None


def _form(query_id: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", query_id.casefold())
