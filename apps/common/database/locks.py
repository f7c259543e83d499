"""Locks that Django has no words for."""

from django.db import connection, models


def share(row: models.Model) -> None:
    """Keep others from locking the row with `select_for_update()` until the transaction ends; sharers do not wait.

    It is the lock that PostgreSQL takes for each new row with a foreign key to this one, but only at the commit: who
    needs to know earlier takes it first. On SQLite a transaction that writes is alone.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT 1 FROM "{row._meta.db_table}" WHERE "id" = %s FOR KEY SHARE', [row.pk])
