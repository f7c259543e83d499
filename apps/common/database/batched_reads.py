"""Many small figures in one statement: each part of a page says what it asks, and the page asks for all of it at once.

A statement is a trip to the database; on a page of a dozen parts the trips take longer than the work.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import FloatField, IntegerField, JSONField, Model, QuerySet, Subquery
from django.db.models.expressions import BaseExpression, Combinable
from django.db.models.sql.compiler import SQLCompiler

T = TypeVar("T")
M = TypeVar("M", bound=Model)
Expressions = Mapping[str, BaseExpression | Combinable]


class CountOf(Subquery):
    """The number of rows of a query set, which may be sliced so that no more are counted than are shown."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()
    empty_result_set_value = 0


class DistinctOf(CountOf):
    """The number of different values in a query set of one column."""

    template = "(SELECT COUNT(*) FROM (SELECT DISTINCT * FROM (%(subquery)s) listed) counted)"


class MeanOf(Subquery):
    """The mean of the column `value` of a query set; None where it is empty."""

    template = "(SELECT CAST(AVG(listed.value) AS double precision) FROM (%(subquery)s) listed)"
    output_field = FloatField()


class ListOf(Subquery):
    """The rows of a query set of `values_list`, as a list of lists, in its order; a few columns of a few thousand rows.

    The columns are texts and numbers, or truths, which may come as 0 and 1; those of `json` hold JSON. Times do not
    come back as such.
    """

    output_field = JSONField()
    empty_result_set_value = "[]"

    def __init__(self, queryset: QuerySet[Any, Any], *, json: Collection[str] = (), **extra: Any) -> None:
        super().__init__(queryset, **extra)
        self.columns = list(self.query.selected or ())
        self.json = frozenset(json)

    def as_sql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, template: str | None = None, **extra: Any
    ) -> Any:
        names = {name: f"listed.{connection.ops.quote_name(name)}" for name in self.columns}
        if connection.vendor == "postgresql":
            rows = f"JSONB_AGG(JSONB_BUILD_ARRAY({', '.join(names.values())}))"
        else:  # where JSON is text, which would be quoted once more
            cells = (f"JSON({column})" if name in self.json else column for name, column in names.items())
            rows = f"JSON_GROUP_ARRAY(JSON_ARRAY({', '.join(cells)}))"
        template = f"(SELECT COALESCE({rows}, '[]') FROM (%(subquery)s) listed)"
        return super().as_sql(compiler, connection, template, **extra)


@dataclass(frozen=True)
class BatchedRead(Generic[T]):
    """What one part asks, as named expressions, and what it makes of their values."""

    asks: Expressions
    read: Callable[[Mapping[str, Any]], T]


def answer_to(row: Model, question: BatchedRead[T]) -> T:
    """The answer to a question, in one statement; without any where it asks nothing.

    `row` is any row that is there, such as a project, or the lazy user of a request. Expressions may name its columns.
    """
    named = {f"asked_{name}": asked for name, asked in question.asks.items()}
    values = row.__class__._base_manager.filter(pk=row.pk).values(**named).get() if named else {}
    return question.read({name: values[f"asked_{name}"] for name in question.asks})


def first_with(rows: QuerySet[M], question: BatchedRead[T]) -> tuple[M, T] | None:
    """The first of these rows and the answer to a question, in one statement; None where there is no row."""
    row = rows.annotate(**{f"asked_{name}": asked for name, asked in question.asks.items()}).first()
    return (
        None if row is None else (row, question.read({name: getattr(row, f"asked_{name}") for name in question.asks}))
    )


def joined(questions: Mapping[Any, BatchedRead[T]]) -> BatchedRead[dict[Any, T]]:
    """Several questions as one, whose answer has the answer of each under its key."""
    numbered = list(enumerate(questions.items()))
    asks = {f"p{n}_{name}": asked for n, (_, each) in numbered for name, asked in each.asks.items()}

    def read(found: Mapping[str, Any]) -> dict[Any, T]:
        return {key: each.read({name: found[f"p{n}_{name}"] for name in each.asks}) for n, (key, each) in numbered}

    return BatchedRead(asks, read)


_read: ContextVar[dict[Any, Any] | None] = ContextVar("read", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Inside, what `once` reads is read from the database a single time: for requests that only read."""
    token = _read.set({})
    try:
        yield
    finally:
        _read.reset(token)


def once(key: Any, read: Callable[[], T]) -> T:
    """What `read` returns, the same for the same key while `reading_once` lasts; read afresh each time outside it."""
    known = _read.get()
    if known is None:
        return read()
    if key not in known:
        known[key] = read()
    value: T = known[key]
    return value


def is_known(key: Any, value: Any) -> None:
    """What `once` would read under this key, when a larger statement has read it. Without effect outside."""
    known = _read.get()
    if known is not None:
        known[key] = value


def forget(key: Any) -> None:
    """Have `once` read this again, since the request has just changed it."""
    known = _read.get()
    if known is not None:
        known.pop(key, None)
