"""Queries one a line, without ids, as they are copied from a list or a log. A line may begin with an id and a tab."""

from collections.abc import Iterator

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.queries.core.naming import QueryNames
from apps.queries.formats.rows import QueryRow


def read_pasted(source: TableFile, errors: ErrorList, names: QueryNames) -> Iterator[QueryRow]:
    """The queries of a file in file order, each text once. A text that has an id already is that query, unchanged."""
    first_rows: dict[str, QueryRow] = {}
    for number, line in read_lines(source):
        if not line.strip():
            continue
        try:
            row = _row(source, number, line, names)
        except InputError as error:
            errors.add(error)
            continue
        first = first_rows.setdefault(row.query_id, row)
        message = f"the query is in the file twice, first in line {first.line}"
        if first is row:
            yield row
        elif first.text == row.text:
            errors.warn(source.error(number, "text", row.text, f"{message}; it is counted once"))
        else:
            errors.add(source.error(number, "query_id", row.query_id, message))


def _row(source: TableFile, number: int, line: str, names: QueryNames) -> QueryRow:
    cells = [cell.strip() for cell in line.strip().split("\t")]
    if len(cells) > 2:
        raise source.error(number, "", line, "a line is a query, or an id, a tab and the query")
    if len(cells) == 1:
        query_id = names.id_for(cells[0])
        return QueryRow(line=number, query_id=query_id, text=names.text_of(query_id) or cells[0])
    fields = Fields(source, number, {"query_id": cells[0], "text": cells[1]})
    row = QueryRow(line=number, query_id=fields.outside_id("query_id"), text=fields.text("text", required=True))
    names.learn(row.query_id, row.text)
    return row
