"""Argilla: records with the responses of people, as its SDK saves a dataset, or as a dataset for Hugging Face.

Saved to disk it is a folder with `records.json`; as a dataset it is Parquet or JSON with three columns for each
question: responses, their users and their states. Older versions have a list of objects for each question. Users are
ids, since a dataset has no names. Drafts and discarded responses are no grades, and a suggestion is nobody's.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from apps.common.errors import InputError
from apps.common.files.anytable import Table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_objects
from apps.common.files.parquet import is_parquet, parquet_records
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import LEAVE_OUT
from apps.judging.core import table_roles as roles
from apps.judging.formats.tools.rows import (
    Record,
    ToolRow,
    files_in,
    is_zip,
    knowing,
    paths_in,
    roles_of,
    table_of,
    text_of,
)

RECORDS = "records.json"
ENDINGS = (RECORDS, ".parquet", ".jsonl", "train.json")
RESPONSES, SUGGESTION = ".responses", ".suggestion"
COUNTED = frozenset({"submitted", ""})
ANNOTATOR = "annotator"
OF_RECORDS = frozenset({"id", "status", "_server_id", "external_id"})
UNREAD = frozenset({"suggestions", "vectors", "fields", "metadata", "responses"})


class Response(NamedTuple):
    """What a person answered to a question about a record."""

    question: str
    value: Any
    user: str
    status: str


def is_json(head: str) -> bool:
    """Whether a file that begins so has records with responses."""
    is_saved = '"fields"' in head and '"responses"' in head
    return is_saved or f'{RESPONSES}"' in head


def is_dataset(names: list[str]) -> bool:
    """Whether these are the columns of a dataset for Hugging Face."""
    return any(name.endswith(f"{RESPONSES}.users") for name in names)


def is_folder(paths: list[str]) -> bool:
    """Whether a zip with these paths is a saved dataset, or one for Hugging Face."""
    return any(path.endswith((RECORDS, ".parquet", ".arrow")) for path in paths)


def open_export(source: TableFile, errors: ErrorList) -> Table:
    """The export as a table: a row for each person's responses to a record. Raises InputError for what is none."""
    _refuse_other_folders(source)
    reader = _Reader(source, errors)
    table = table_of(source, errors, reader.rows(), how="records of Argilla")
    of_records = {heading: LEAVE_OUT for heading in table.headings if heading in OF_RECORDS}
    fields = [heading for heading in table.headings if heading not in {*of_records, ANNOTATOR}]
    graded = list(reader.rated) or list(reader.questions)
    known = {**of_records, ANNOTATOR: roles.PERSON, **roles_of(fields, graded=graded)}
    return knowing(table, known, reader.sentences())


def _refuse_other_folders(source: TableFile) -> None:
    """Refuse a zip in which nothing would be read, such as a dataset in Arrow files."""
    paths = paths_in(source) if is_zip(source) else [RECORDS]
    if any(path.endswith(ENDINGS) for path in paths):
        return
    has_arrow = any(path.endswith(".arrow") for path in paths)
    what = "Arrow files are not read" if has_arrow else f"there is no {RECORDS}"
    raise source.error(None, "", "", f"{what}; save the dataset with to_disk, or its records with to_parquet")


class _Reader:
    """`questions` are those that were answered, `rated` those with numbers."""

    def __init__(self, source: TableFile, errors: ErrorList) -> None:
        self.source = source
        self.errors = errors
        self.left_out = 0
        self.questions: dict[str, None] = {}
        self.rated: dict[str, None] = {}

    def sentences(self) -> list[str]:
        if not self.left_out:
            return []
        if self.left_out == 1:
            return ["1 response is a draft or discarded and stays out."]
        return [f"{self.left_out:,} responses are drafts or discarded and stay out."]

    def rows(self) -> Iterator[ToolRow]:
        for file in files_in(self.source, ENDINGS):
            is_packed = is_parquet(file.head(16))
            for line, record in parquet_records(file) if is_packed else read_objects(file, self.errors):
                try:
                    yield from self._of_record(file, line, record)
                except InputError as error:
                    self.errors.add(error)

    def _of_record(self, file: TableFile, line: int, record: Record) -> Iterator[ToolRow]:
        by_user: dict[str, dict[str, str]] = {}
        for response in responses_in(file, line, record):
            if response.status not in COUNTED:
                self.left_out += 1
                continue
            if response.value is None:
                continue
            name = f"{response.question} (response)" if response.question in _cells(record) else response.question
            self.questions.setdefault(name)
            if isinstance(response.value, int | float):
                self.rated.setdefault(name)
            by_user.setdefault(response.user, {})[name] = text_of(response.value)
        for user, answers in by_user.items():
            yield ToolRow(line, {**_cells(record), ANNOTATOR: user, **answers})


def responses_in(file: TableFile, line: int, record: Record) -> Iterator[Response]:
    """The responses of a record in each of the three forms. Raises InputError for lists that do not fit."""
    nested = record.get("responses")
    for question, answers in (nested if isinstance(nested, dict) else _lists(record)).items():
        if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
            raise file.error(
                line, f"responses.{question}", answers, "is a list of responses, each with value and user_id"
            )
        for one in answers:
            yield Response(question, one.get("value"), text_of(one.get("user_id")), text_of(one.get("status")))
    for name in record:
        if not name.endswith(RESPONSES) or record[name] is None:
            continue
        values, users, states = record[name], record.get(f"{name}.users"), record.get(f"{name}.status")
        if not isinstance(values, list) or not isinstance(users, list) or len(users) != len(values):
            raise file.error(line, f"{name}.users", users, f"has a user for each of {name}")
        of_states = states if isinstance(states, list) and len(states) == len(values) else [None] * len(values)
        for value, user, state in zip(values, users, of_states, strict=True):
            yield Response(name.removesuffix(RESPONSES), value, text_of(user), text_of(state))


def _lists(record: Record) -> dict[str, list[Any]]:
    """The questions of older versions: fields with a list of objects that have a value and a user."""
    return {
        name: value
        for name, value in record.items()
        if isinstance(value, list)
        and value
        and all(isinstance(one, dict) and {"value", "user_id"} <= one.keys() for one in value)
    }


def _cells(record: Record) -> dict[str, str]:
    """The fields and metadata of a record, without what people and models answered."""
    skipped = {*UNREAD, *_lists(record)}
    found = {
        name: text_of(value)
        for name, value in record.items()
        if name not in skipped and RESPONSES not in name and SUGGESTION not in name and "-suggestion" not in name
    }
    for name in ("fields", "metadata"):
        if isinstance(inner := record.get(name), dict):
            found |= {key: text_of(value) for key, value in inner.items()}
    return found
