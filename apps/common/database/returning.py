"""UPDATE … RETURNING, which Django has no word for."""

from typing import Any

from django.db import connections, models
from django.db.models.sql import UpdateQuery


def update_returning(rows: models.QuerySet[Any], column: str, **values: Any) -> list[Any]:
    """As `rows.update(**values)`; return this column of each row that was changed, in no order."""
    connection = connections[rows.db]
    query: Any = rows.query.chain(UpdateQuery)
    query.add_update_values(values)
    sql, params = query.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} RETURNING {connection.ops.quote_name(column)}", params)
        return [row[0] for row in cursor.fetchall()]
