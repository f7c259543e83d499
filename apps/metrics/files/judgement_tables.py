"""Judgements from a table with a heading: Karat's own CSV, BEIR's qrels, Quepid's lists.

Separated by commas, tabs or semicolons. It has a column of queries, one of blocks and one of grades, each under one of
its usual names, and optionally `facet`; other columns are ignored. An empty grade means an unjudged pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from apps.common.files.faults import ErrorList
from apps.common.files.tables import BLOCK, DELIMITERS, QUERY, delimiter_of
from apps.common.files.tabular import TableFile, read_csv
from apps.metrics.files.trec_rows import FacetRow

GRADE = ("grade", "rating", "relevance", "score", "label", "judgement", "judgment")
FACET = ("facet", "subtopic")
NO_FACET = "0"
WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.A)


def is_headed(start: bytes) -> bool:
    """Whether a file with this start has a heading with a column of queries, and one of blocks or grades."""
    line = start.split(b"\n", 1)[0].decode("utf-8", errors="replace")
    delimiter = next((mark for mark in DELIMITERS if mark in line), None)
    if delimiter is None:
        return False
    names = {cell.strip().strip('"') for cell in line.split(delimiter)}
    return bool(names & set(QUERY)) and bool(names & {*BLOCK, *GRADE})


def judgements_in(source: TableFile, errors: ErrorList, *, by_facet: bool) -> Iterator[FacetRow]:
    """The judgements of a table, in file order; each pair once, or once for each facet.

    Errors in rows are added to `errors`. Raises InputError for errors of the file as a whole.
    """
    first: dict[tuple[str, str, str], int] = {}
    rows = read_csv(source, errors, required=[QUERY, BLOCK, GRADE], delimiter=delimiter_of(source))
    for line, cells in rows:
        query, block, grade = (_cell(cells, names) for names in (QUERY, BLOCK, GRADE))
        facet = _cell(cells, FACET) if by_facet else NO_FACET
        if not query or not block:
            errors.add(source.error(line, "block" if query else "query", "", "the row names none."))
        elif not grade:
            continue
        elif not WHOLE.match(grade):
            message = f"'{grade}' is not a whole number; grades are whole, such as 0, 1, 2 or 3."
            errors.add(source.error(line, "grade", grade, message))
        elif first.setdefault((query, facet, block), line) != line:
            message = f"'{block}' appears twice for query '{query}', first in line {first[query, facet, block]}."
            errors.add(source.error(line, "block", block, message))
        else:
            yield FacetRow(query, facet, block, int(grade))


def _cell(cells: dict[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name].strip() for name in names if name in cells), NO_FACET)
