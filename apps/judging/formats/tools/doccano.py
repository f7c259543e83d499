"""doccano: the labels of text classification, as JSONL, JSON or CSV, alone or as the zip that it exports.

Where annotators work for themselves, the zip has a file for each, by user name; else one file, `all`, has what all of
them agreed on. What the text is of, such as the query and the id of the passage, are further fields of the text.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from apps.common.errors import InputError
from apps.common.files.anytable import Table, open_table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import LEAVE_OUT
from apps.judging.core import table_roles as roles
from apps.judging.formats.tools.rows import Record, ToolRow, files_in, is_zip, knowing, roles_of, table_of, text_of

ENDINGS = (".jsonl", ".json", ".csv")
EVERYBODY = "all"
LABELS = ("label", "labels", "cats")
COMMENTS = ("Comments", "comments")
ID, ANNOTATOR, LABEL, COMMENT = "id", "annotator", "label", "comment"
_HAS_LABELS = re.compile(r'"(?:label|labels|cats)"\s*:\s*\[')
_HAS_ANNOTATIONS = re.compile(r'"annotations"\s*:\s*\[\s*\{[^{}]*"label"')
ANNOTATIONS = "annotations"
"""Before version 1: the labels of a text, by number, each with the number of its user."""


def is_json(head: str) -> bool:
    """Whether a file that begins so has texts with lists of labels."""
    has_labels = _HAS_LABELS.search(head) or _HAS_ANNOTATIONS.search(head)
    return '"text"' in head and bool(has_labels) and '"query_id"' not in head.partition("}")[0]


def open_export(source: TableFile, errors: ErrorList) -> Table:
    """The export as a table: a row for each labelled text. Raises InputError for what is none."""
    reader = _Reader(source, errors)
    table = table_of(source, errors, reader.rows(), how="an export of doccano")
    fields = [heading for heading in table.headings if heading not in {ID, ANNOTATOR, LABEL, COMMENT}]
    known = {ID: LEAVE_OUT, ANNOTATOR: roles.PERSON, LABEL: roles.GRADE, COMMENT: roles.NOTE} | roles_of(fields)
    return knowing(table, known, reader.sentences())


class _Reader:
    def __init__(self, source: TableFile, errors: ErrorList) -> None:
        self.source = source
        self.errors = errors
        self.unlabelled = 0

    def sentences(self) -> list[str]:
        if not self.unlabelled:
            return []
        has = "text has no label and stays" if self.unlabelled == 1 else "texts have no label and stay"
        return [f"{self.unlabelled:,} {has} out."]

    def rows(self) -> Iterator[ToolRow]:
        has_people = is_zip(self.source)
        for file in files_in(self.source, ENDINGS):
            name = PurePosixPath(file.name).stem
            person = {ANNOTATOR: name} if has_people and name != EVERYBODY else {}
            for line, record in self._records(file):
                try:
                    for each in self._by_user(file, line, record):
                        if cells := self._cells(file, line, each):
                            yield ToolRow(line, cells | person)
                except InputError as error:
                    self.errors.add(error)

    def _records(self, file: TableFile) -> Iterator[tuple[int, Record]]:
        if not file.name.lower().endswith(".csv"):
            yield from read_objects(file, self.errors)
            return
        table = open_table(file, self.errors)
        for line, cells in table.rows:
            values: dict[str, Any] = dict(zip(table.headings, cells, strict=True))
            labels = {name: [one for one in values[name].split("#") if one] for name in LABELS if name in values}
            yield line, values | labels

    def _by_user(self, file: TableFile, line: int, record: Record) -> list[Record]:
        """The record, or one for each user where it has the labels of several."""
        annotations = record.get(ANNOTATIONS)
        if annotations is None or any(name in record for name in LABELS):
            return [record]
        if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
            raise file.error(line, ANNOTATIONS, annotations, "is a list of labels, each with its user")
        rest = {name: value for name, value in record.items() if name != ANNOTATIONS}
        by_user: dict[str, list[Any]] = {}
        for one in annotations:
            by_user.setdefault(text_of(one.get("user")), []).append(one.get("label"))
        return [
            {**rest, LABEL: labels, **({ANNOTATOR: f"{ANNOTATOR} {user}"} if user else {})}
            for user, labels in by_user.items()
        ] or [{**rest, LABEL: []}]

    def _cells(self, file: TableFile, line: int, record: Record) -> dict[str, str]:
        """The cells of a labelled text; {} for one without a label."""
        field = next((name for name in LABELS if name in record), LABELS[0])
        labels = record.get(field)
        if isinstance(labels, list):
            labels = [str(one) if type(one) is int else one for one in labels]
        if not isinstance(labels, list) or not all(isinstance(one, str) for one in labels):
            message = "is the list of labels of a text; marked parts of texts are no grades"
            raise file.error(line, field, labels, message)
        if not labels:
            self.unlabelled += 1
            return {}
        comments = next((record[name] for name in COMMENTS if name in record), None)
        cells = {name: text_of(value) for name, value in record.items() if name not in {field, *COMMENTS}}
        return cells | {LABEL: text_of(labels), COMMENT: text_of(comments)}
