"""Which format a file of judgements has, from its first lines; and the exports of other tools, each with its reader.

What the form of an export says of a column is known; the rest, above all what its labels mean here, a person chooses
on the page.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from apps.common.files.anytable import Table, is_packed_table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_tables import first_object, is_json
from apps.common.files.parquet import is_parquet, parquet_names
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import LEAVE_OUT
from apps.judging.core import table_roles as roles
from apps.judging.formats.judgements import FLAT_KNOWN, HUB_NAMES, RATINGS, RECORD_KNOWN, RECORD_NEEDED, heading_of
from apps.judging.formats.ratings import BLOCK_NAMES
from apps.judging.formats.tools import argilla, doccano, label_studio, letor, quepid
from apps.judging.formats.tools.rows import is_zip, knowing, paths_in

TOOLS = {
    "quepid": "Quepid: a book, a case or its ratings, CSV or JSON",
    "label-studio": "Label Studio: tasks with annotations, JSON or JSON-MIN",
    "doccano": "doccano: labels of texts, its zip, JSONL, JSON or CSV",
    "argilla": "Argilla: a saved dataset as a zip, records.json, Parquet or JSON",
    "letor": "Learning to rank: a judgement list, or lines of SVMlight",
}
JSON_READERS = {"quepid": quepid, "label-studio": label_studio, "argilla": argilla, "doccano": doccano}
"""The module of each tool that writes JSON; the first whose form a file has: what doccano exports says least."""
READERS = {**JSON_READERS, "letor": letor}
TOOL_HEAD_BYTES = 256 * 1024
"""A case of Quepid begins with the code of its scorer."""


class TableForm(NamedTuple):
    """A table that a tool writes: the headings by which it is known, what columns are, and two that belong together.

    `only` are a column and all that is in it, by which the table is known without some of the headings.
    """

    how: str
    marks: frozenset[str]
    known: Mapping[str, str]
    joined: tuple[str, str] | None = None
    only: tuple[str, frozenset[str]] | None = None

    def fits(self, table: Table, head: Sequence[tuple[int, list[str]]]) -> bool:
        if self.marks <= set(table.headings):
            return True
        if self.only is None or self.only[0] not in table.headings:
            return False
        place = table.headings.index(self.only[0])
        found = {cells[place].strip() for _, cells in head} - {""}
        return bool(found) and found <= self.only[1]


TABLE_FORMS = (
    TableForm(
        "an export of Label Studio",
        frozenset({"annotation_id", "annotator", "lead_time"}),
        {"id": LEAVE_OUT, "annotation_id": LEAVE_OUT, "annotator": roles.PERSON},
    ),
    TableForm(
        "an export of Prodigy",
        frozenset({"answer", "_task_hash"}),
        {
            "answer": roles.GRADE,
            "_session_id": roles.PERSON,
            "_annotator_id": roles.PERSON,
            "options id": LEAVE_OUT,
            "options text": LEAVE_OUT,
        },
        joined=("label", "answer"),
        only=("answer", frozenset({"accept", "reject", "ignore"})),
    ),
    TableForm(
        "judgements of UMBRELA",
        frozenset({"prediction", "judgment"}),
        {"judgment": roles.GRADE, "prediction": LEAVE_OUT},
    ),
)
"""An answer of Prodigy is about its label: both make the grade, and a person says what that means."""


def opener_of(format: str) -> Callable[..., Table]:
    """What opens a file of this format as a table: the reader of a tool, or that of any table."""
    reader = READERS.get(format)
    return open_any if reader is None else lambda source, errors, **options: reader.open_export(source, errors)


def open_any(source: TableFile, errors: ErrorList, *, sheet: str = "") -> Table:
    """A table of any shape, with what is known of its columns where a tool writes it."""
    table = open_table(source, errors, sheet=sheet)
    head = list(islice(table.rows, HEAD_ROWS))
    table = table._replace(rows=chain(head, table.rows))
    form = next((form for form in TABLE_FORMS if form.fits(table, head)), None)
    if form is None:
        return table
    known = dict(form.known)
    if "accept" in table.headings:  # the choices of Prodigy, where each answer is of a task with several
        known |= {"accept": roles.GRADE, "answer": LEAVE_OUT}
    elif form.joined and form.joined[0] in table.headings:
        table = table._replace(rows=_joined(table, *form.joined))
    return knowing(table._replace(how=form.how), known, table.notes)


def _joined(table: Table, first: str, second: str) -> Iterator[tuple[int, list[str]]]:
    """The rows with both cells in the second one."""
    one, other = table.headings.index(first), table.headings.index(second)
    for line, cells in table.rows:
        cells[other] = f"{cells[one]}: {cells[other]}" if cells[one] and cells[other] else cells[other]
        yield line, cells


def tool_of(source: TableFile) -> str:
    """By the fields of JSON, or the paths of a zip. The source is at its beginning, before and after."""
    if is_zip(source):
        return "argilla" if argilla.is_folder(paths_in(source)) else "doccano"
    if not source.head(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
        return ""
    head = source.head(TOOL_HEAD_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff").lstrip()
    return next((tool for tool, reader in JSON_READERS.items() if reader.is_json(head)), "")


def tool_of_columns(names: Sequence[str]) -> str:
    """By the columns of Parquet."""
    return "argilla" if argilla.is_dataset(list(names)) else ""


def tool_of_headings(headings: Sequence[str]) -> str:
    """By the headings of CSV."""
    return "quepid" if quepid.is_book(headings) else ""


AUTO, TABLE = "auto", "table"
HEAD_BYTES = 16_384
HEAD_ROWS = 50
_QRELS = re.compile(r"\S+[ \t]+\S+[ \t]+\S+[ \t]+[+-]?[0-9]{1,4}(?:[.,]0*)?[ \t]*\Z")
_DECIMAL = re.compile(r"\S+[ \t]+\S+[ \t]+\S+[ \t]+[+-]?[0-9]*[.,]?[0-9]+[ \t]*\Z")
"""A mean as a grade: what it means here is asked, as of any table."""


def recognise(source: TableFile) -> str:
    """The format: qrels, tables with Karat's own columns, and exports of tools; anything else is a table.

    The source is at its beginning, before and after.
    """
    head = source.head(HEAD_BYTES)
    if is_parquet(head):
        columns = parquet_names(source)
        names = {HUB_NAMES.get(name, name) for name in columns}
        own = "parquet" if set(RECORD_NEEDED) <= names <= set(RECORD_KNOWN) else ""
        return own or tool_of_columns(columns) or TABLE
    if is_packed_table(source):
        return TABLE
    if tool := tool_of(source):
        return tool
    lines = [
        line for line in head.decode("utf-8", errors="replace").removeprefix("\ufeff").splitlines() if line.strip()
    ]
    lines = lines[:-1] if len(head) == HEAD_BYTES else lines
    shown = [line for line in lines if not line.startswith("#")][:HEAD_ROWS]
    if shown and letor.is_line(shown[0]):
        return "letor"
    if shown and (_are_qrels(shown) or heading_of(shown[0])):
        return "qrels"
    if is_json(source):
        names = {HUB_NAMES.get(name, name) for name in first_object(source)}
        return "jsonl" if set(RECORD_NEEDED) <= names <= set(RECORD_KNOWN) else TABLE
    return _by_headings(lines[0]) if lines else TABLE


def _are_qrels(lines: Sequence[str]) -> bool:
    """Whether lines are qrels, be it with mistakes, which reading names: the first is one, and at least half are."""
    right = sum(map(bool, map(_QRELS.match, lines)))
    if right == len(lines):
        return True
    has_means = any(_DECIMAL.match(line) and not _QRELS.match(line) for line in lines)
    return _QRELS.match(lines[0]) is not None and right * 2 >= len(lines) and not has_means


def names_in(line: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line]), [])]


def _by_headings(line: str) -> str:
    written = next(csv.reader([line]), [])
    names = set(map(str.strip, written))
    if any(name.startswith(" ") for name in written):
        return tool_of_headings(names_in(line)) or TABLE  # blanks after commas are no part of ids
    has_block = len(names & set(BLOCK_NAMES)) == 1
    if has_block and {"query_id", "annotator", "grade"} <= names:
        return RATINGS
    if has_block and {"query_id", "grade"} <= names <= set(FLAT_KNOWN):
        return "csv"
    return tool_of_headings(names_in(line)) or TABLE
