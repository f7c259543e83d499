"""The rows that every reader of a query file yields."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile


class QueryRow(NamedTuple):
    """One query of a file. None: the field is not in the file, and the stored value stays.

    `source` is the slug of a source.
    """

    line: int
    query_id: str
    text: str
    label: str | None = None
    intent: str | None = None
    description: str | None = None
    source: str | None = None
    difficulty: str | None = None
    domain: str | None = None
    query_type: str | None = None
    group_key: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: dict | None = None


def rows_from(
    source: TableFile,
    errors: ErrorList,
    records: Iterable[tuple[int, dict]],
    make: Callable[[Fields], QueryRow],
    id_field: str = "query_id",
) -> Iterator[QueryRow]:
    """`make` of each record; rejected records are added to `errors`, and each id that an earlier record has.

    `id_field` is the id's field in the records.
    """
    first_lines: dict[str, int] = {}
    for line, values in records:
        query_id = values.get(id_field)
        if isinstance(query_id, str) and query_id and (first := first_lines.setdefault(query_id, line)) != line:
            message = f"the query is in the file twice, first in line {first}"
            errors.add(source.error(line, id_field, query_id, message))
        try:
            yield make(Fields(source, line, values))
        except InputError as error:
            errors.add(error)
