from typing import Any

from django.db import migrations

DROP = """
DROP FUNCTION IF EXISTS judging_lease_plainly(
  bigint, bigint, bigint, timestamptz, timestamptz, timestamptz, bigint, bigint, bigint);
DROP FUNCTION IF EXISTS judging_give_plainly(
  bigint, bigint, text, bigint, bigint, bigint, text, text, bigint, bigint, bigint, text, timestamptz)
"""


def drop(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        for statement in DROP.split(";"):
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    """A grade is written by one path, which calls no function. The way back leaves PostgreSQL without them."""

    dependencies = [("judging", "0014_shares_of_open_rounds")]

    operations = [migrations.RunPython(drop, migrations.RunPython.noop)]
