"""Exports of other tools as tables of grades, with a module for each tool.

What its form says of a column is known; the rest, above all what its labels mean here, a person chooses on the page.
"""

from collections.abc import Callable
from functools import partial

from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.tabular import TableFile
from apps.judging.formats.tools import argilla, doccano, label_studio, quepid

TOOLS = {
    "quepid": "Quepid: a book, a case or its ratings, CSV or JSON",
    "label-studio": "Label Studio: tasks with annotations, JSON or JSON-MIN",
    "doccano": "doccano: labels of texts, its zip, JSONL, JSON or CSV",
    "argilla": "Argilla: a saved dataset as a zip, records.json, Parquet or JSON",
}
_OPENERS: dict[str, Callable[[TableFile, ErrorList], Table]] = {
    "quepid": quepid.open_export,
    "label-studio": label_studio.open_export,
    "doccano": doccano.open_export,
    "argilla": argilla.open_export,
}


def opener_of(format: str) -> Callable[..., Table]:
    """What opens a file of this format as a table: the reader of a tool, or that of any table."""
    return partial(_opened, format) if format in _OPENERS else open_table


def _opened(format: str, source: TableFile, errors: ErrorList, *, sheet: str = "") -> Table:
    return _OPENERS[format](source, errors)
