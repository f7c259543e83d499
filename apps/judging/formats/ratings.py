"""Reading ratings of several people from one table: a column for each rater, or a row for each rating.

A heading does not define its column, so the columns are named: `docid=doc_id, ann=rater, final=final`. Raters are
places in a file, not people here; they keep the name the file gives them. An empty cell is no rating.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from apps.common.database.scratch import FirstValues
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.numbers import is_nothing
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv

ROLES = frozenset({"query_id", "query_text", "doc_id", "rater", "annotator", "grade", "final", "notes"})
NOTE = "note"
NAME_LENGTH = 120
MOST_RATERS = 50
Grade = Callable[[Fields, str], int | None]


BLOCK_NAMES = ("block_id", "block", "doc_id", "doc", "docno", "docid")
"""What the column of the block is called: Karat's word first, then the field's."""


class RatingColumns(NamedTuple):
    """The meaning of each column of the file. `raters` maps columns to names; empty where each row is one rating."""

    query: str
    by_text: bool
    doc_id: str
    raters: Mapping[str, str]
    annotator: str
    grade: str
    final: str
    notes: str

    @property
    def block_names(self) -> tuple[str, ...]:
        """The accepted names of the block column: the one given, or any of its names when none was."""
        return BLOCK_NAMES if self is USUAL else (self.doc_id,)

    @property
    def required(self) -> list[str | tuple[str, ...]]:
        """Every column that was named and is therefore required."""
        named = (self.query, self.block_names, self.annotator, self.grade, self.final, self.notes)
        return [*(name for name in named if name), *self.raters]


class Rating(NamedTuple):
    """One cell: a rater's grade of a pair, None where the grade map leaves it out, and the pair's final grade."""

    line: int
    query: str
    doc_id: str
    rater: str
    grade: int | None
    final: int | None
    notes: str
    doc_column: str


USUAL = RatingColumns("query_id", False, "doc_id", {}, "annotator", "grade", "", "")


def parse_rating_columns(text: str) -> RatingColumns:
    """`query=query_text, docid=doc_id, a=rater, b=rater:Berta, final_rating=final` as columns of the file.

    Empty: a row for each rating, with the default headings. Raises ValueError with a sentence.
    """
    if not text.strip():
        return USUAL
    by_role: dict[str, list[str]] = {}
    raters: dict[str, str] = {}
    for part in text.split(","):
        column, equals, role = (piece.strip() for piece in part.rpartition("="))
        role, _, name = (piece.strip() for piece in role.partition(":"))
        role = "doc_id" if role in BLOCK_NAMES else role
        if not equals or not column or role not in ROLES or (name and role != "rater"):
            known = ", ".join(sorted(ROLES))
            raise ValueError(f"'{part.strip()}' is not of the form column=role; roles are {known}, and rater:name")
        if role == "rater":
            raters[column] = (name or column)[:NAME_LENGTH]
        by_role.setdefault(role, []).append(column)
    return _checked(by_role, raters)


def _checked(by_role: dict[str, list[str]], raters: dict[str, str]) -> RatingColumns:
    for role, columns in by_role.items():
        if role != "rater" and len(columns) > 1:
            raise ValueError(f"{role} is named twice: {', '.join(columns)}")
    if ("query_id" in by_role) == ("query_text" in by_role):
        raise ValueError("name one column as the query, query_id or query_text")
    if "doc_id" not in by_role:
        raise ValueError("no column is named as doc_id")
    if raters and ("annotator" in by_role or "grade" in by_role):
        raise ValueError("ratings are in a column for each rater, or in annotator and grade, not both")
    if raters and (len(raters) != len(set(raters.values())) or len(raters) > MOST_RATERS):
        raise ValueError(f"name at most {MOST_RATERS} raters, each by a name of its own")
    if not raters and not {"annotator", "grade"} <= by_role.keys():
        raise ValueError("name a column for each rater, or one as annotator and one as grade")
    one = {role: columns[0] for role, columns in by_role.items()}
    return RatingColumns(
        query=one.get("query_id") or one["query_text"],
        by_text="query_text" in by_role,
        doc_id=one["doc_id"],
        raters=raters,
        annotator=one.get("annotator", ""),
        grade=one.get("grade", ""),
        final=one.get("final", ""),
        notes=one.get("notes", ""),
    )


def read_ratings(source: TableFile, errors: ErrorList, *, columns: RatingColumns, grade: Grade) -> Iterator[Rating]:
    """The ratings in file order. Rejects a second rating of a pair by a rater, and a second final grade.

    Of single judgements as Karat exports them only first answers are ratings: not "can't judge", and no later pass.

    `grade(fields, column)` reads a cell that is not empty; a row with a fault in any of its cells is left out whole.
    Columns that were not named are ignored.
    """
    first_lines, finals = FirstValues(), FirstValues()
    for line, values in read_csv(source, errors, required=columns.required):
        fields = Fields(source, line, values)
        if columns is USUAL and _is_no_rating(values):
            continue
        try:
            if columns.grade and is_nothing(fields.text(columns.grade)):
                errors.warn(source.error(line, columns.grade, "", "is empty: the pair is not judged"))
                continue
            row = _row(fields, columns, grade)
            for rating in row:
                pair = f"{rating.query}\0{rating.doc_id}"  # no text of a file contains a NUL
                first = first_lines.setdefault(f"{pair}\0{rating.rater}", line)
                if first != line:
                    message = f"{rating.rater} rates the pair twice for query {rating.query}, first in line {first}"
                    raise fields.wrong(rating.doc_column, message)
                if columns.final and finals.setdefault(pair, rating.final) != rating.final:
                    raise fields.wrong(columns.final, f"the pair has another final grade before line {line}")
        except InputError as error:
            errors.add(error)
            continue
        yield from row


def _row(fields: Fields, columns: RatingColumns, grade: Grade) -> list[Rating]:
    read_query = fields.text(columns.query, required=True) if columns.by_text else fields.outside_id(columns.query)
    block = next(name for name in columns.block_names if name in fields.values)
    doc_id = fields.outside_id(block)
    final = grade(fields, columns.final) if _is_filled(fields, columns.final) else None
    note = columns.notes or (NOTE if columns is USUAL and NOTE in fields.values else "")
    notes = fields.text(note) if note else ""
    if columns.raters:
        cells = [(name, column) for column, name in columns.raters.items() if _is_filled(fields, column)]
    else:
        cells = [(fields.text(columns.annotator, required=True, limit=NAME_LENGTH).strip(), columns.grade)]
    if not cells:
        raise fields.wrong(block, "nobody rated this pair")
    return [
        Rating(fields.line, read_query.strip(), doc_id, name, grade(fields, column), final, notes, block)
        for name, column in cells
    ]


def _is_no_rating(values: Mapping[str, str]) -> bool:
    """Whether the row is an answer that is no grade of the first pass."""
    cant_judge = values.get("cant_judge", "").strip() and not values["grade"].strip()
    return bool(cant_judge) or values.get("pass", "1").strip() not in ("", "1")


def _is_filled(fields: Fields, column: str) -> bool:
    return bool(column) and not is_nothing(fields.text(column))
