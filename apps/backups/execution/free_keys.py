"""Which keys of a table nobody has used yet, in a transaction that nobody else writes beside."""

from typing import Any

from django.db import connection


def last_key(table: str) -> int:
    """The last key that was ever used in a table. On PostgreSQL nobody gets another one until the transaction ends."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
            return int(cursor.fetchone()[0])
        sequence = _sequence(cursor, table)
        cursor.execute(f"ALTER SEQUENCE {sequence} NO CYCLE")  # which locks it: reading alone would not
        cursor.execute(f"SELECT last_value - 1 + is_called::int FROM {sequence}")
        return int(cursor.fetchone()[0])


def set_next_key(table: str, key: int) -> None:
    """Let the next row get this key at least, after rows came with keys of their own. SQLite does by itself."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER SEQUENCE {_sequence(cursor, table)} RESTART WITH {int(key)}")


def _sequence(cursor: Any, table: str) -> str:
    cursor.execute("SELECT pg_get_serial_sequence(%s, 'id')", [f'"{table}"'])
    return str(cursor.fetchone()[0])
