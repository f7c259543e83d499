"""Label Studio: tasks with annotations, as its export formats JSON and JSON-MIN have them.

A task has the fields that were uploaded, an annotation the result of each control by the control's name. Which fields
are the query and the passage is a person's choice. What was cancelled is no annotation, and a prediction is nobody's.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from apps.common.errors import InputError
from apps.common.files.anytable import Table
from apps.common.files.faults import ErrorList
from apps.common.files.json_lists import read_list
from apps.common.files.tabular import TableFile
from apps.judging.core import table_roles as roles
from apps.judging.formats.tools.rows import Record, ToolRow, knowing, roles_of, table_of, text_of

ANNOTATOR = "annotator"
ANNOTATIONS = ("annotations", "completions")
"""What the annotations of a task are called now, and before version 1."""
COMPARED = "compared passage"
"""The heading of one of two texts that an annotation compares."""
CHOSEN, OTHER = "chosen", "not chosen"
SIDES = (("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"))
MIN_FIELDS = frozenset({"id", "annotation_id", "created_at", "updated_at", "lead_time"})
"""What JSON-MIN adds to the fields of a task, beside the annotator and the controls."""
PARTS = frozenset({"start", "end", "startOffset", "x", "y"})
"""What a value has that is the label of a part of a text or picture."""


def is_json(head: str) -> bool:
    """Whether a file that begins so is an export in one of the two formats."""
    is_whole = any(f'"{name}"' in head for name in ANNOTATIONS) and '"data"' in head
    return head.startswith("[") and (is_whole or ('"annotation_id"' in head and f'"{ANNOTATOR}"' in head))


def open_export(source: TableFile, errors: ErrorList) -> Table:
    """The export as a table: a row for each annotation. Raises InputError for what is none."""
    reader = _Reader(source, errors)
    table = table_of(source, errors, reader.rows(), how="an export of Label Studio")
    known = roles_of(table.headings, passages=[COMPARED], graded=list(reader.graded), notes=list(reader.notes))
    return knowing(table, {ANNOTATOR: roles.PERSON} | known, reader.sentences())


class _Reader:
    """`graded` and `notes` are the controls that were seen with grades and with texts."""

    def __init__(self, source: TableFile, errors: ErrorList) -> None:
        self.source = source
        self.errors = errors
        self.cancelled = 0
        self.comparisons = 0
        self.graded: dict[str, None] = {}
        self.notes: dict[str, None] = {}

    def sentences(self) -> list[str]:
        found = []
        if self.cancelled:
            was = "annotation was cancelled and stays" if self.cancelled == 1 else "annotations were cancelled and stay"
            found.append(f"{self.cancelled:,} {was} out.")
        if self.comparisons:
            row = "comparison is" if self.comparisons == 1 else "comparisons are"
            found.append(f"{self.comparisons:,} {row} read as two rows: the text that was {CHOSEN}, and the other.")
        return found

    def rows(self) -> Iterator[ToolRow]:
        for line, record in read_list(self.source, self.errors):
            try:
                yield from self._of_task(line, record) if "data" in record else self._of_min(line, record)
            except InputError as error:
                self.errors.add(error)

    def _of_min(self, line: int, record: Record) -> Iterator[ToolRow]:
        """JSON-MIN: the fields of the task, its id, the controls, the annotator."""
        names = list(record)
        if not {"id", ANNOTATOR} <= record.keys():
            raise self.source.error(line, "data", "", "is missing; export as JSON")
        place = names.index("id")
        controls = [name for name in names[place:] if name not in {*MIN_FIELDS, ANNOTATOR}]
        results = [{"from_name": name, "value": _min_value(record[name])} for name in controls]
        annotation = {"completed_by": record[ANNOTATOR], "result": results}
        yield from self._of_annotation(line, {name: text_of(record[name]) for name in names[:place]}, annotation)

    def _of_task(self, line: int, record: Record) -> Iterator[ToolRow]:
        data, annotations = record["data"], next((record[name] for name in ANNOTATIONS if name in record), None)
        if not isinstance(data, dict):
            raise self.source.error(line, "data", data, "is an object with the fields of the task")
        if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
            raise self.source.error(line, "annotations", annotations, "is a list of annotations; export as JSON")
        cells = {name: text_of(value) for name, value in data.items()}
        for annotation in annotations:
            if annotation.get("was_cancelled"):
                self.cancelled += 1
                continue
            yield from self._of_annotation(line, cells, annotation)

    def _of_annotation(self, line: int, data: Mapping[str, str], annotation: Record) -> Iterator[ToolRow]:
        results = annotation.get("result") or []
        if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
            raise self.source.error(line, "result", results, "is a list of results")
        cells = {**data, ANNOTATOR: _person(annotation.get("completed_by"))}
        compared: list[tuple[str, str]] = []
        for result in results:
            name, value = text_of(result.get("from_name")), result.get("value")
            if not isinstance(value, dict) or PARTS & value.keys():
                continue
            if "selected" in value:
                compared += [(name, text_of(value["selected"]))]
            else:
                cells |= self._cell(_free(name, data), value)
        if not compared:
            yield ToolRow(line, cells)
        for name, selected in compared:
            yield from self._both(line, data, cells, name, selected)

    def _cell(self, name: str, value: Record) -> dict[str, str]:
        """What a control says, under its name; {} for what is neither grade nor text."""
        for field, read in VALUES.items():
            if field in value:
                (self.notes if field == "text" else self.graded).setdefault(name)
                return {name: read(value[field])}
        return {}

    def _both(
        self, line: int, data: Mapping[str, str], cells: Mapping[str, str], name: str, selected: str
    ) -> Iterator[ToolRow]:
        sides = sides_in(list(data))
        if sides is None or selected not in {"left", "right"}:
            message = "compares two texts, but the task has no two fields such as text1 and text2, or left and right"
            raise self.source.error(line, name, selected, message)
        self.comparisons += 1
        self.graded.setdefault(name)
        for side, field in zip(("left", "right"), sides, strict=True):
            others = {heading: cell for heading, cell in cells.items() if heading not in sides}
            yield ToolRow(line, {**others, COMPARED: data[field], name: CHOSEN if side == selected else OTHER})


def sides_in(fields: list[str]) -> tuple[str, str] | None:
    """The two fields of a task that are compared: their names differ only in a usual ending."""
    for left, right in SIDES:
        for field in fields:
            other = f"{field[: -len(left)]}{right}" if field.lower().endswith(left) else ""
            if other in fields:
                return field, other
    return None


def _free(name: str, data: Mapping[str, str]) -> str:
    """The name of a control, told apart from a field of the task."""
    return f"{name} (annotated)" if name in data else name


def _person(value: Any) -> str:
    """Who completed an annotation: the name or e-mail where the export has one, else the number."""
    if isinstance(value, dict):
        name = " ".join(filter(None, (text_of(value.get("first_name")), text_of(value.get("last_name")))))
        value = name or value.get("email") or value.get("id")
    written = text_of(value)
    return f"{ANNOTATOR} {written}" if written.isdecimal() else written


def _joined(value: Any) -> str:
    """Choices, or the paths of a taxonomy."""
    if isinstance(value, list) and all(isinstance(one, list) for one in value):
        return "; ".join(" > ".join(map(text_of, one)) for one in value)
    return text_of(value)


def _min_value(value: Any) -> dict[str, Any]:
    """The value of a control as JSON has it. A text area cannot be told from a choice."""
    if isinstance(value, list):
        value = value[0] if value else {}
    return value if isinstance(value, dict) else {"choices": [text_of(value)]}


VALUES: Mapping[str, Callable[[Any], str]] = {
    "choices": _joined,
    "taxonomy": _joined,
    "rating": text_of,
    "number": text_of,
    "text": text_of,
}
"""The values of controls that are read: choices, taxonomy, rating, number, text area."""
