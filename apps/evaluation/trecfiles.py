"""Judgements and runs from TREC files, as columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.trec import name_of, read_qrels, read_run
from apps.evaluation.columns import Judged, Ranked, Vocabulary, judged_columns, ranked_columns


class RunFile(NamedTuple):
    """One run from a file. `unjudged` counts queries of the file without judgements; they are not scored."""

    path: str
    tag: str
    ranked: Ranked
    unjudged: tuple[str, ...]


def load_qrels(path: str | Path, blocks: Vocabulary) -> Judged:
    """The judgements of a qrels file. Raises InputError for a malformed or empty file."""
    judged = judged_columns(read_qrels(path), blocks)
    if not judged.queries:
        raise InputError(name_of(path), None, "", "", "holds no judgements.")
    return judged


def load_run(path: str | Path, judged: Judged, blocks: Vocabulary) -> RunFile:
    """The run of a file, named by the tag of its first row, or by the file when it holds no row.

    Raises InputError for a malformed file.
    """
    rows = read_run(path)
    first = next(rows, None)
    if first is None:
        return RunFile(str(path), Path(path).stem, *ranked_columns([], judged.queries, blocks))
    triples = ((row.query_id, row.block_id, row.score) for row in chain([first], rows))
    return RunFile(str(path), first.tag, *ranked_columns(triples, judged.queries, blocks))


def looks_alike(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged query and one of the run that differ only by case or leading zeros, when there are such."""
    by_form = {_form(query_id): query_id for query_id in missing}
    for query_id in unjudged:
        if _form(query_id) in by_form:
            return by_form[_form(query_id)], query_id
    return None


def _form(query_id: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", query_id.casefold())
