"""The file of a run as it is sent to a server: the same files that `karat score` and `karat eval` read."""

from __future__ import annotations

from typing import Any

from apps.cli.score.triples import is_results, opened
from apps.common.errors import InputError
from apps.common.files.faults import MOST_LISTED, ErrorList, all_of
from apps.common.files.tabular import TableFile
from apps.metrics.files.results import ResultRow, best_first, read_results
from apps.metrics.files.run_tables import is_table, run_rows
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core.ranking import as_results


def run_in(path: str) -> dict[str, Any]:
    """A run as `Client.push` takes it: the text of TREC's form, the rows of a table, or passages of the system's own.

    Files may be gzipped, `-` is standard input. Raises InputError and InputErrors; of TREC's form the server says what
    is wrong with a line.
    """
    with opened(path) as source:
        if is_results(path):
            return _results(source)
        return _rows(source) if is_table(source) else {"trec": _text(source)}


def _text(source: TableFile) -> str:
    try:
        return b"".join(source.blocks()).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(source.name, None, "", "", "is not UTF-8 text.") from None


def _rows(source: TableFile) -> dict[str, Any]:
    errors = ErrorList(MOST_LISTED)
    rows = [
        {"query_id": row.query_id, "block_id": row.block_id, "score": row.score} for row in run_rows(source, errors)
    ]
    if errors:
        raise all_of(errors)
    return {"rows": rows}


def _results(source: TableFile) -> dict[str, Any]:
    errors, usage = ErrorList(MOST_LISTED), Usage()
    rows = [row for _, row in read_results(source, errors, usage)]
    if errors:
        raise all_of(errors)
    if any(row.rank is None for row in rows):
        ranked = [(qid, enumerate(top, 1)) for qid, top in best_first(rows).items()]
        rows = [ResultRow(qid, rank, told) for qid, top in ranked for rank, told in top]
    found = [{"qid": row.qid, "rank": row.rank, **as_results([row.returned])[0]} for row in rows]
    return {"results": found, **({"usage": dict(usage)} if usage else {})}
