"""Attributes, times and domains of blocks and queries, which some measures need, strata, and ids that fit nearly.

They come from two tables, separated by commas, tabs or semicolons, plain or gzipped. The columns of ids may have the
other names that `apps.common.files.field_names` accepts:

- blocks: a column `block`, a column `time` where there are times, and any other columns, each an attribute
  (`type`, `source`, …);
- queries: a column `query`, and `time` and `domain` where they are known.
- weights: the columns `query` and `weight`.
- unanswerable queries: an id on each line, with or without the heading `query`.

A table of strata has a column `query` or `item`, and every other column is a way to divide them: `query,stratum` or
`item,domain,difficulty`. A query appears once; an empty cell, and a query that is not in the file, is in no stratum.

A time is a date or a date with a time of day in ISO 8601, UTC unless it has a zone. An empty cell is an unknown value.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of, fault
from apps.common.files.field_names import BLOCK, QUERY
from apps.common.files.linefiles import lines_of, name_of
from apps.common.files.near_ids import Proposal, propose_fit
from apps.common.files.tables import opened
from apps.common.files.tabular import read_csv
from apps.metrics.columns import UNKNOWN, Attribute, BlockAttributes, Floats, Ints, Judged, QueryAttributes
from apps.metrics.statistics.strata import Division
from apps.metrics.vocabulary import Ids, Vocabulary

ADVICE = "--fit-ids reads them so."


def fit_of(judged: Iterable[str], named: Collection[str]) -> Proposal | None:
    """The rule by which judged ids that a run lacks are ids of the run, each with the run's; None without one.

    It is looked for from the judged side: a run has many blocks that nobody judged, and few judged ones are missing.
    """
    run = set(named)
    wanted = list(judged)
    lacking = [one for one in wanted if one not in run]
    return propose_fit(lacking, run.difference(wanted)) if lacking else None


def fit_words(proposal: Proposal, noun: str) -> str:
    """`4 of 4 judged queries nearly match: the ids differ by leading zeros, as Q01 is Q1 in the run.`"""
    ours, theirs = proposal.example
    count = f"{len(proposal.fits):,} of {proposal.unknown:,} judged {noun}"
    return f"{count} nearly match: the ids differ by {proposal.difference}, as {ours} is {theirs} in the run."


def fitted(column: Ids, judged: Iterable[str]) -> tuple[Ids, Proposal | None]:
    """The column with the judged id in place of each that fits, and the rule; the column itself without a rule."""
    vocabulary = Vocabulary()
    numbers = vocabulary.numbers_of(column)
    named = [one.decode() for one in vocabulary]
    proposal = fit_of(judged, named)
    if proposal is None:
        return column, None
    ours = {theirs: one for one, theirs in proposal.fits.items()}
    return Ids.of([ours.get(one, one) for one in named]).take(numbers), proposal


def similar_pair(missing: Iterable[str], unjudged: Iterable[str]) -> tuple[str, str] | None:
    """A judged id that a run lacks and an unjudged one of the run that differ only by case or leading zeros, if any."""
    by_form = {_form(one): one for one in missing}
    for one in unjudged:
        if _form(one) in by_form:
            return by_form[_form(one)], one
    return None


def _form(one: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", one.casefold())


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


class AttributeRow(NamedTuple):
    """A row of a file with an id in its key column; `cells` are the others, stripped."""

    line: int
    id: str
    cells: dict[str, str]


def load_block_attributes(path: str | Path, blocks: Vocabulary) -> BlockAttributes:
    """The attributes in a file of blocks; ids that are new to `blocks` are numbered.

    Raises InputErrors for invalid rows: a block without id or named twice, an invalid time; and InputError for errors
    of the file as a whole.
    """
    errors = ErrorList(MOST_LISTED)
    rows = rows_of(path, BLOCK, errors)
    times = _times_of(path, rows, errors)
    if errors:
        raise all_of(errors)
    numbers = blocks.numbers_of([row.id for row in rows])
    names = [name for name in rows[0].cells if name != "time"]
    return BlockAttributes(
        by_name={name: _attribute([row.cells[name] for row in rows], numbers) for name in names},
        read_times=(lambda: _scattered(times, numbers, np.nan)) if "time" in rows[0].cells else None,
    )


def load_query_attributes(path: str | Path, queries: Sequence[str]) -> QueryAttributes:
    """Times and domains of the judged queries, in their order; rows of other queries are ignored.

    Raises as `load_block_attributes` does.
    """
    errors = ErrorList(MOST_LISTED)
    rows = rows_of(path, QUERY, errors, known=(*QUERY, "time", "domain"))
    times = dict(zip((row.id for row in rows), _times_of(path, rows, errors), strict=True))
    if errors:
        raise all_of(errors)
    domains = {row.id: row.cells.get("domain", "") for row in rows}
    return QueryAttributes(
        times=np.array([times.get(query, np.nan) for query in queries], dtype=np.float64),
        domains=tuple(domains.get(query, "") for query in queries),
    )


def load_weights(path: str | Path, queries: Sequence[str]) -> tuple[Floats, int]:
    """The weights of these queries in a table with the columns `query` and `weight`, and how many other rows it has.

    A weight is a number from 0 on, such as how often a query is asked. Raises InputErrors for a weight that is none, a
    query that is named twice, and queries without a weight; InputError for errors of the file as a whole, and where all
    weights are 0.
    """
    errors, name = ErrorList(MOST_LISTED), name_of(path)
    weights: dict[str, float] = {}
    for row in rows_of(path, QUERY, errors):
        text = row.cells.get("weight")
        if text is None:
            raise InputError(name, 1, "weight", "", "the table has no column weight.")
        try:
            weights[row.id] = float(text)
        except ValueError:
            weights[row.id] = np.nan
        if not 0 <= weights[row.id] < np.inf:
            errors.add(fault(name, row.line, "weight", text, f"'{text}' is not a number from 0 on."))
    for query in queries:
        if query not in weights:
            errors.add(fault(name, None, "query", query, f"'{query}' has no weight. Write 0 to leave it out."))
    if errors:
        raise all_of(errors)
    found = np.array([weights[query] for query in queries], dtype=np.float64)
    if not found.any():
        raise InputError(name, None, "weight", "", "every judged query has the weight 0.")
    return found, len(weights.keys() - set(queries))


def load_unanswerable(path: str | Path, judged: Judged) -> Judged:
    """The judgements with the queries of a file marked that nothing in the corpus answers.

    Raises InputErrors for a query with a relevant block and for one that is named twice, InputError for an empty file.
    """
    errors, name = ErrorList(MOST_LISTED), name_of(path)
    answered = set(compress(judged.queries, judged.relevant(1) > 0))
    ids: dict[str, int] = {}
    for number, line in enumerate(lines_of(path, name), 1):
        query = line.decode(errors="replace").strip()
        if not query or (number == 1 and query.lower() in QUERY):
            continue
        if query in ids:
            errors.add(fault(name, number, "query", query, f"'{query}' appears twice, first in line {ids[query]}."))
        elif query in answered:
            message = f"'{query}' has a relevant block in the judgements, so it is not unanswerable. Remove the line."
            errors.add(fault(name, number, "query", query, message))
        ids.setdefault(query, number)
    if errors:
        raise all_of(errors)
    if not ids:
        raise InputError(name, None, "query", "", "names no query. Write one id on each line.")
    return judged.with_unanswerable(ids)


def rows_of(
    path: str | Path, names: tuple[str, ...], errors: ErrorList, known: Sequence[str] | None = None
) -> list[AttributeRow]:
    """The rows of a table by the id in the column with one of the `names`. `-` is standard input.

    Errors in rows are added to `errors`; raises InputError for errors of the file as a whole, and without rows.
    """
    by_id: dict[str, AttributeRow] = {}
    with opened(path) as (source, delimiter):
        for line, given in read_csv(source, errors, required=[names], known=known, delimiter=delimiter):
            key = next(name for name in names if name in given)
            row = AttributeRow(line, given.pop(key).strip(), {column: cell.strip() for column, cell in given.items()})
            if not row.id:
                errors.add(source.error(line, key, "", f"the row names no {names[0]}."))
            elif row.id in by_id:
                message = f"'{row.id}' appears twice, first in line {by_id[row.id].line}."
                errors.add(source.error(line, key, row.id, message))
            else:
                by_id[row.id] = row
        if not by_id and not errors:
            raise source.error(None, "", "", "names the columns but contains no rows.")
    return list(by_id.values())


def _times_of(path: str | Path, rows: Sequence[AttributeRow], errors: ErrorList) -> list[float]:
    return [_days(path, row, errors) for row in rows]


def _days(path: str | Path, row: AttributeRow, errors: ErrorList) -> float:
    """The time of a row in days since 1970; NaN for an empty cell."""
    text = row.cells.get("time", "")
    if not text:
        return np.nan
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        message = f"'{text}' is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z."
        errors.add(fault(name_of(path), row.line, "time", text, message))
        return np.nan
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) / DAY


def _attribute(cells: Sequence[str], numbers: Ints) -> Attribute:
    values = tuple(sorted({cell for cell in cells if cell}))
    places = {value: place for place, value in enumerate(values)} | {"": UNKNOWN}
    return Attribute(_scattered([places[cell] for cell in cells], numbers, UNKNOWN), values)


def _scattered(values: Sequence[Any], numbers: Ints, missing: Any) -> NDArray[Any]:
    """The values at the indices of their block numbers, `missing` at all others."""
    column = np.full(int(numbers.max()) + 1, missing)
    column[numbers] = values
    return column


class Strata(NamedTuple):
    """The divisions of a file. `unknown` are its ids that are not among the given ones; it lacks `unnamed` of these."""

    divisions: tuple[Division, ...]
    unknown: int
    unnamed: int


def load_strata(
    path: str | Path, ids: Sequence[str], *, names: tuple[str, ...] = QUERY, of: str = "judged queries"
) -> Strata:
    """The strata of these queries or items, whose column has one of the `names`; `of` says in errors what they are.

    Raises InputErrors for rows without an id or with a repeated one, and InputError for a file without rows, without
    another column, or without any of the ids.
    """
    errors = ErrorList(MOST_LISTED)
    rows = {row.id: row.cells for row in rows_of(path, names, errors)}
    if errors:
        raise all_of(errors)
    fields = list(next(iter(rows.values())))
    if not fields:
        raise InputError(name_of(path), 1, "", "", f"has no column besides {names[0]}, such as stratum.")
    if not set(ids) & rows.keys():
        raise InputError(name_of(path), None, names[0], "", f"names none of the {of}.")
    divisions = [Division(field, tuple(rows[one][field] if one in rows else "" for one in ids)) for field in fields]
    return Strata(tuple(divisions), len(rows.keys() - set(ids)), len(set(ids) - rows.keys()))
