"""Migrations of indexes that Django would make by rebuilding a whole table."""

from typing import Any

from django.db import migrations, models


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
