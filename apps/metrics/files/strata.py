"""Strata of queries from a table, and the scores of each.

The file has a column `query` (or another of its names in `apps.common.files.tables`), and every other column is a way
to divide the queries: `query,stratum` or `query,domain,difficulty`. A query appears once; an empty cell, and a query
that is not in the file, is in no stratum of that column.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.linefiles import name_of
from apps.common.files.tables import QUERY
from apps.metrics.columns import Floats, Ints
from apps.metrics.files.attributes import rows_of
from apps.metrics.scorecard import StratumScores
from apps.metrics.statistics.significance import summaries


class QueryDivision(NamedTuple):
    """One way to divide the judged queries: the stratum of each in their order, "" where it is in none."""

    field: str
    labels: tuple[str, ...]

    @property
    def numbers(self) -> Ints:
        """A number for each query, the same within a stratum. Queries of no stratum form one of their own."""
        return np.unique(np.array(self.labels), return_inverse=True)[1].astype(np.int64)


class QueryStrata(NamedTuple):
    """The divisions of a file; `unjudged` are its queries without judgements, ascending."""

    divisions: tuple[QueryDivision, ...]
    unjudged: tuple[str, ...]


def load_strata(path: str | Path, queries: Sequence[str]) -> QueryStrata:
    """The strata of the judged queries.

    Raises InputErrors for rows without a query or with a repeated one, and InputError for a file without rows, without
    a column besides that of the queries, or without any judged query.
    """
    errors = ErrorList(MOST_LISTED)
    rows = {row.id: row.cells for row in rows_of(path, QUERY, errors)}
    if errors:
        raise all_of(errors)
    fields = list(next(iter(rows.values())))
    if not fields:
        raise InputError(name_of(path), 1, "", "", "has no column besides query, such as stratum.")
    if not set(queries) & rows.keys():
        raise InputError(name_of(path), None, QUERY[0], "", "names none of the judged queries.")
    divisions = tuple(
        QueryDivision(field, tuple(rows[query][field] if query in rows else "" for query in queries))
        for field in fields
    )
    return QueryStrata(divisions, tuple(sorted(rows.keys() - set(queries))))


def stratum_scores(
    division: QueryDivision, runs: Sequence[Floats], *, confidence: float, with_interval: bool
) -> list[StratumScores]:
    """The summaries of every run, an array of (queries, measures) each, by stratum: largest first, then by name."""
    labels = np.array(division.labels)
    strata = []
    for name in sorted(set(division.labels) - {""}):
        inside = labels == name
        scores = tuple(summaries(values[inside], confidence=confidence, with_interval=with_interval) for values in runs)
        strata.append(StratumScores(division.field, name, int(inside.sum()), scores))
    return sorted(strata, key=lambda stratum: -stratum.n)
