"""The rows of a table of grades, by what its columns were chosen to be."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from apps.corpus.core.columns import TableChoice
from apps.judging.core import table_roles as roles
from apps.judging.formats.ratings import NAME_LENGTH


class TableRow(NamedTuple):
    """One row: the query by id or text, the passage as written, grades by rater ("" for the one of the file)."""

    line: int
    query_id: str
    query: str
    passage: str
    ratings: tuple[tuple[str, str], ...]
    final: str
    note: str

    @property
    def is_graded(self) -> bool:
        return any(value for _, value in self.ratings)

    @property
    def asked(self) -> tuple[str, str]:
        """The query as the row names it: id and text, either may be empty."""
        return self.query_id, self.query

    @property
    def grades(self) -> Iterator[str]:
        """The grades of the row as written, the final one too."""
        yield from (value for value in (*(value for _, value in self.ratings), self.final) if value)


def rows_of(headings: Sequence[str], rows: Iterable[tuple[int, list[str]]], choice: TableChoice) -> list[TableRow]:
    return [_row(line, dict(zip(headings, cells, strict=True)), choice) for line, cells in rows]


def _row(line: int, cells: Mapping[str, str], choice: TableChoice) -> TableRow:
    def cell(role: str) -> str:
        heading = choice.heading_of(role)
        return cells[heading].strip() if heading else ""

    rated = choice.headings_of(roles.RATED)
    person = cell(roles.PERSON) or choice.person.strip()
    return TableRow(
        line=line,
        query_id=cell(roles.QUERY_ID),
        query=cell(roles.QUERY),
        passage=cell(roles.PASSAGE),
        ratings=tuple((heading[:NAME_LENGTH], cells[heading].strip()) for heading in rated)
        or ((person[:NAME_LENGTH], cell(roles.GRADE)),),
        final=cell(roles.FINAL),
        note=cell(roles.NOTE),
    )
