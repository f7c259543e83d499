"""Reading judgement files: TREC qrels, other blank-divided columns, the flat CSV layout, and ratings of several.

Two things cannot be read from such a file and are never guessed: which column is which, and what its grades mean here.
Some scales run downwards, some have codes for "do not count this row"; a wrong guess raises no error and makes all
scores wrong. So columns are named, and a grade map must cover every grade in the file.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from apps.common.database.scratch import FirstLines
from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.field_names import BLOCK, QUERY, plain_name
from apps.common.files.json_lists import read_objects
from apps.common.files.numbers import is_nothing, number_in
from apps.common.files.parquet import parquet_records
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_csv, read_lines
from apps.corpus.core.import_plans import until_broken
from apps.judging.formats.ratings import BLOCK_NAMES, Rating, RatingColumns, parse_rating_columns, read_ratings

GRADES = ("grade", "score", "rel", "relevance", "rating", "label", "judgement", "judgment")
ITERATIONS = ("iteration", "iter", "q0", "zero")
NAMES = {
    "query_id": set(QUERY),
    "doc_id": {*BLOCK, "doc", "document", "document_id", "passage"},
    "grade": set(GRADES),
    "iteration": set(ITERATIONS),
}
TAB = "\t"
BLANKS = re.compile(r"[ \t\v\f]+")


def cells_of(line: str, *, by_tabs: bool) -> list[str]:
    """The cells of a line; ids in columns divided by tabs may have spaces."""
    return [cell.strip(" ") for cell in line.split(TAB)] if by_tabs else BLANKS.split(line.strip(" \t\v\f"))


def heading_of(line: str) -> Sequence[str] | None:
    """What each column is by its heading, or None for a line that is none."""
    cells = [plain_name(cell) for cell in cells_of(line, by_tabs=TAB in line)]
    roles = [next((role for role, names in NAMES.items() if cell in names), "") for cell in cells]
    return roles if all(roles) and all(roles.count(name) == 1 for name in NEEDED) else None


RATINGS = "ratings"
FORMATS = {
    "qrels": "TREC or BEIR qrels, or other columns separated by spaces",
    "csv": "CSV (query_id, query_text, block_id, doc_title, grade, split, notes)",
    "jsonl": "JSONL, as a version has its judgements",
    "parquet": "Parquet, as a version or a Hugging Face folder has its judgements",
    RATINGS: "Ratings of several people, CSV: a column for each, or a row for each rating",
}
QRELS_COLUMNS = ("query_id", "iteration", "doc_id", "grade")
COLUMN_NAMES = frozenset({"query_id", "iteration", "doc_id", "grade", "skip"})
NEEDED = ("query_id", "doc_id", "grade")
FLAT_KNOWN = ("query_id", "query_text", *BLOCK_NAMES, "doc_title", "grade", "split", "notes")
RECORD_NEEDED = ("query_id", "block_id", "grade")
RECORD_LEFT = ("resolution", "judges")
"""Of an export: how the grade came about, which here is that it was imported."""
RECORD_KNOWN = (*RECORD_NEEDED, *RECORD_LEFT, "split", "facets")
HUB_NAMES = {"query-id": "query_id", "corpus-id": "block_id", "score": "grade"}
SKIP = "skip"
NO_FACET = "0"
_WHOLE = re.compile(r"[+-]?[0-9]{1,4}\Z")
_ENTRY = re.compile(rf"\s*([^=]+?)\s*=\s*({SKIP}|[+-]?[0-9]{{1,4}})\s*(?:,|\Z)")
"""What one grade becomes; the grade may have a decimal comma: `0,5=1`."""
ASCII_BLANKS = " \t\v\f"
"""What divides the columns: no-break spaces and their like do not, as in every other reader of qrels."""

GradeMap = Mapping[str, int | None]


class JudgementRow(NamedTuple):
    """One judged pair of a file. `grade` is None when the grade map leaves the row out.

    `query_id` is the query's text where the columns map it so. `rater` and `final` are for files with several raters.
    `doc_column` is the file's name for the block column. `facet` is the second column of qrels; `is_facet` marks a row
    about a pair that another row judges for another facet: the best grade of the pair counts. `facets` are all that the
    block answers, in a file that lists them; None where it does not.
    """

    line: int
    query_id: str
    doc_id: str
    grade: int | None
    notes: str = ""
    rater: str = ""
    final: int | None = None
    doc_column: str = "doc_id"
    facet: str = NO_FACET
    is_facet: bool = False
    facets: tuple[str, ...] | None = None

    @property
    def said(self) -> str:
        """Line, grade and facet in one text."""
        return f"{self.line} {self.grade} {self.facet}"


Columns = Sequence[str] | RatingColumns


def columns_of(format: str, written: str) -> Columns:
    """The columns parsed from `written`, for this file format. Raises ValueError with a sentence."""
    if format == RATINGS:
        return parse_rating_columns(written)
    return parse_columns(written) if written else QRELS_COLUMNS


def is_whole(written: str) -> bool:
    """Whether a grade, as `grade_key` writes it, is a whole number, which needs no map."""
    return _WHOLE.match(written) is not None


@lru_cache(maxsize=1_000)
def grade_key(written: str) -> str:
    """A grade of a file in one spelling: 1.0, 1,0 and 1 are 1, and 0,5 is 0.5; words stay as they are."""
    number = number_in(written)
    return written.strip() if number is None else str(int(number)) if number.is_integer() else str(number)


def parse_grade_map(text: str) -> dict[str, int | None]:
    """`1=4,0,5=3,-1=skip` as a map from the `grade_key` of a grade of the file to ours, None for skip.

    Raises ValueError with a sentence for another syntax or a grade named twice.
    """
    grades: dict[str, int | None] = {}
    place = 0
    while place < len(text):
        entry = _ENTRY.match(text, place)
        if entry is None:
            raise ValueError(f"'{text[place:].partition(',')[0].strip()}' is not of the form 2=3 or -1=skip")
        old, new = entry.groups()
        if grade_key(old) in grades:
            raise ValueError(f"the grade {old} is mapped twice")
        grades[grade_key(old)] = None if new == SKIP else int(new)
        place = entry.end()
        if place == len(text) and text.rstrip().endswith(","):
            raise ValueError("there is a comma, and no grade after it")
    return grades


def parse_columns(text: str) -> tuple[str, ...]:
    """Parse `query_id block_id grade` as column names; the block's may be any of its names. Raises ValueError."""
    names = tuple("doc_id" if name in BLOCK_NAMES else name for name in text.replace(",", " ").split())
    unknown = [name for name in names if name not in COLUMN_NAMES]
    if unknown:
        raise ValueError(f"'{unknown[0]}' is no column; known are {', '.join(sorted(COLUMN_NAMES))}")
    for name in NEEDED:
        if names.count(name) != 1:
            raise ValueError(f"the columns must name {name} once")
    return names


def read_judgements(
    source: TableFile,
    errors: ErrorList,
    *,
    format: str,
    columns: Columns = QRELS_COLUMNS,
    grades: GradeMap | None = None,
) -> Iterator[JudgementRow]:
    """The judged pairs in file order; a pair may occur only once, or once for each of several raters or facets.

    A row that says the same again, and one without a grade, are warnings. Mistakes are added some thousand rows at a
    time. Without a grade map, grades are whole numbers and used as they are. `columns` is for blank-divided files, and
    for ratings.
    """
    if isinstance(columns, RatingColumns):
        ratings = read_ratings(source, errors, columns=columns, grade=lambda fields, name: _grade(fields, grades, name))
        yield from map(_rated, ratings)
        return
    rows = _read_columns(source, errors, columns) if format == "qrels" else RECORDS[format](source, errors)
    broken = ErrorList()
    read = until_broken(_parsed(source, errors, rows, grades), broken)
    for row, first in FirstLines().beside(read, lambda row: (f"{row.query_id}\t{row.doc_id}", row.said)):
        if first is None:
            yield row
            continue
        line, grade, facet = first.split(" ", 2)
        twice = f"the pair is listed twice for query {row.query_id}, first in line {line}"
        if (row.facet, str(row.grade)) == (facet, grade):
            errors.warn(source.error(row.line, row.doc_column, row.doc_id, f"{twice}; it counts once"))
        elif row.facet != facet:
            yield row._replace(is_facet=True)
        else:
            message = f"{twice}, with another grade"
            errors.add(source.error(row.line, row.doc_column, row.doc_id, message))
    if broken:
        raise broken.listed[0]


def _parsed(
    source: TableFile, errors: ErrorList, rows: Iterable[tuple[int, dict]], grades: GradeMap | None
) -> Iterator[JudgementRow]:
    for line, values in rows:
        try:
            if is_nothing(values.get("grade", "") or ""):
                errors.warn(source.error(line, "grade", "", "is empty: the pair is not judged"))
                continue
            yield _row(Fields(source, line, values), grades)
        except InputError as error:
            errors.add(error)


def _read_columns(source: TableFile, errors: ErrorList, columns: Sequence[str]) -> Iterator[tuple[int, dict]]:
    may_be_headed, by_tabs = columns is QRELS_COLUMNS, False
    for number, line in read_lines(source):
        cells = cells_of(line, by_tabs=by_tabs)
        if not line.strip(ASCII_BLANKS) or cells[0].startswith("#"):
            continue
        if may_be_headed and (headed := heading_of(line)):
            columns, by_tabs, may_be_headed = headed, "\t" in line, False
            continue
        may_be_headed = False
        if len(cells) != len(columns):
            message = f"{len(cells)} columns where there must be {len(columns)}: {' '.join(columns)}"
            errors.add(source.error(number, "", line, message))
            continue
        yield number, dict(zip(columns, cells, strict=True))


def _read_flat(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    return read_csv(source, errors, required=("query_id", BLOCK_NAMES, "grade"), known=FLAT_KNOWN)


def _read_lines(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    return _records_of(source, errors, read_objects(source, errors))


def _read_parquet(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    return _records_of(source, errors, parquet_records(source))


def _records_of(
    source: TableFile, errors: ErrorList, records: Iterable[tuple[int, dict[str, Any]]]
) -> Iterator[tuple[int, dict]]:
    """The fields of a judgement as texts; records without one of them, or with others, are added to `errors`."""
    for line, values in records:
        given = {HUB_NAMES.get(name, name): value for name, value in values.items()}
        missing = next((name for name in RECORD_NEEDED if name not in given), "")
        unknown = next((name for name in given if name not in RECORD_KNOWN), "")
        if missing or unknown:
            message = "is missing" if missing else f"unknown field; known are {', '.join(RECORD_KNOWN)}"
            errors.add(source.error(line, missing or unknown, given.get(unknown, ""), message))
            continue
        texts = {name: "" if value is None else str(value) for name, value in given.items() if name != "facets"}
        facets = {"facets": given["facets"]} if "facets" in given else {}
        yield line, {name: text for name, text in texts.items() if name not in RECORD_LEFT} | facets


RECORDS: Mapping[str, Callable[[TableFile, ErrorList], Iterator[tuple[int, dict]]]] = {
    "csv": _read_flat,
    "jsonl": _read_lines,
    "parquet": _read_parquet,
}


def _row(fields: Fields, grades: GradeMap | None) -> JudgementRow:
    column = "doc_id" if "doc_id" in fields.values else next(name for name in BLOCK_NAMES if name in fields.values)
    return JudgementRow(
        line=fields.line,
        query_id=fields.outside_id("query_id"),
        doc_id=fields.outside_id(column),
        grade=_grade(fields, grades),
        notes=fields.text("notes") if "notes" in fields.values else "",
        doc_column=column,
        facet=fields.values.get("iteration", NO_FACET),
        facets=tuple(fields.words("facets")) if fields.values.get("facets") is not None else None,
    )


def _rated(rating: Rating) -> JudgementRow:
    return JudgementRow(
        line=rating.line,
        query_id=rating.query,
        doc_id=rating.doc_id,
        grade=rating.grade,
        notes=rating.notes,
        rater=rating.rater,
        final=rating.final,
        doc_column=rating.doc_column,
    )


def _grade(fields: Fields, grades: GradeMap | None, column: str = "grade") -> int | None:
    written = fields.text(column, required=True).strip()
    key = grade_key(written)
    if grades is not None:
        if key not in grades:
            raise fields.wrong(column, f"the grade map has no entry for {written}")
        return grades[key]
    if not is_whole(key):
        raise fields.wrong(column, f"{written} is not a whole number; map it to one of our grades")
    return int(key)
