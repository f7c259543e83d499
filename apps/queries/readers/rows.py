"""What every reader of a query file yields."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.fields import Fields
from apps.common.inputs import ErrorList
from apps.common.tabular import Source


class QueryRow(NamedTuple):
    """One query as a file gives it. `source` is the slug of a source, "" when the file names none."""

    line: int
    query_id: str
    text: str
    label: str = ""
    intent: str = ""
    description: str = ""
    source: str = ""
    difficulty: str = ""
    domain: str = ""
    query_type: str = ""
    group_key: str = ""
    tags: tuple[str, ...] = ()
    metadata: dict = {}


def rows_from(
    source: Source,
    errors: ErrorList,
    records: Iterable[tuple[int, dict]],
    make: Callable[[Fields], QueryRow],
) -> Iterator[QueryRow]:
    """`make` over each record; a record it refuses goes to the list."""
    for line, values in records:
        try:
            yield make(Fields(source, line, values))
        except InputError as error:
            errors.add(error)
