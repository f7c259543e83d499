"""The month and the day of a time, as the database writes them."""

from typing import Any

from django.db.models import CharField, Func


class Month(Func):
    """The month of a time in UTC, "2026-03", by the database's own functions."""

    output_field = CharField()
    form = "YYYY-MM"

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"substr(%(expressions)s, 1, {len(self.form)})"
        return self.as_sql(compiler, connection, template=template, **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        template = f"to_char(%(expressions)s AT TIME ZONE 'UTC', '{self.form}')"
        return self.as_sql(compiler, connection, template=template, **more)


class Day(Month):
    """The day of a time in UTC, "2026-03-02"."""

    form = "YYYY-MM-DD"
