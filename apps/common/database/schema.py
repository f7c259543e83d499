"""Whether the tables are those of this version of Karat, and a migration operation for indexes."""

from functools import cache
from pkgutil import iter_modules
from typing import Any, NamedTuple

from django.apps import apps
from django.db import DatabaseError, connection, migrations, models


def without_own_index(model: str, fields: dict[str, models.Field]) -> migrations.SeparateDatabaseAndState:
    """Drop the indexes that Django made of single fields; `fields` are as they are then, with `db_index=False`.

    Django's AlterField copies the table on SQLite, with its triggers, for what is one statement. Reversible.
    """

    def drop(apps: Any, schema_editor: Any) -> None:
        there = apps.get_model(model)
        for name in fields:
            for index in _own_indexes(schema_editor, there, name):
                schema_editor.execute(schema_editor._delete_index_sql(there, index))

    def restore(apps: Any, schema_editor: Any) -> None:
        there = apps.get_model(model)
        for name in fields:
            schema_editor.execute(schema_editor._create_index_sql(there, fields=[there._meta.get_field(name)]))

    return migrations.SeparateDatabaseAndState(
        database_operations=[migrations.RunPython(drop, restore)],
        state_operations=[migrations.AlterField(model.split(".")[1], name, field) for name, field in fields.items()],
    )


def _own_indexes(schema_editor: Any, model: Any, name: str) -> list[str]:
    column = model._meta.get_field(name).column
    with schema_editor.connection.cursor() as cursor:
        there = schema_editor.connection.introspection.get_constraints(cursor, model._meta.db_table)
    return [
        index
        for index, facts in there.items()
        if facts["index"] and facts["columns"] == [column] and not facts["unique"] and not facts["primary_key"]
    ]


Migration = tuple[str, str]

_fitting: set[tuple[int, int]] = set()
"""What `SUMMARY` says of a database with the migrations of this version. It says something else when they change."""

SUMMARY = "SELECT COUNT(*), COALESCE(MAX(id), 0) FROM django_migrations"


class SchemaGap(NamedTuple):
    """The migrations that the database lacks, and those it has that only another version knows."""

    missing: list[Migration]
    unknown: list[Migration]

    @property
    def words(self) -> str:
        """Which of the two is older; "" when nothing is missing and nothing unknown."""
        if self.unknown:
            return "newer than this version of Karat"
        return "older than this version of Karat" if self.missing else ""


FITS = SchemaGap([], [])


def schema_gap() -> SchemaGap:
    """What keeps the database and this version apart. Where they fit, one statement that reads a hundred rows.

    Raises DatabaseError when the database does not answer. An empty one lacks everything.
    """
    with connection.cursor() as cursor:
        try:
            cursor.execute(SUMMARY)
        except DatabaseError:
            if "django_migrations" in connection.introspection.table_names(cursor):
                raise
            return SchemaGap(sorted(_known()), [])
        summary = cursor.fetchone()
        if summary in _fitting:
            return FITS
        cursor.execute("SELECT app, name FROM django_migrations")
        applied = {(app, name) for app, name in cursor.fetchall()}
    gap = SchemaGap(sorted(_known() - applied), sorted(applied - _known()))
    if gap == FITS:
        _fitting.add(summary)
    return gap


def migrations_known() -> int:
    """The number of migrations of this version."""
    return len(_known())


@cache
def _known() -> frozenset[Migration]:
    """The migrations of this version, by the names of their files."""
    return frozenset(
        (config.label, module.name)
        for config in apps.get_app_configs()
        for module in iter_modules([f"{config.path}/migrations"])
        if not module.name.startswith("_")
    )
