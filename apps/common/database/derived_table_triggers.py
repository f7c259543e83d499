"""Migration operations for triggers that keep one table in step with others, whoever writes to those.

What is kept so costs a look at the rows that changed, in their transaction; reading it costs nothing of the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from apps.common.database.triggers import OURS, Statements, drop_sql


@dataclass(frozen=True)
class Keeper:
    """After `event` (INSERT, or UPDATE OF a column) on `table`, where `condition` on OLD and NEW holds: `statements`.

    Both databases understand them. `found` is a condition that looks something up. `alone` is an expression on NEW that
    names what the statements are about: on PostgreSQL two transactions that change the same run one after the other,
    since neither would see what the other has written; where it is NULL they run at once. SQLite has one writer.
    """

    table: str
    event: str
    name: str
    condition: str
    statements: tuple[str, ...]
    alone: str = ""
    found: str = ""

    @property
    def trigger(self) -> str:
        return f"{OURS}keeper_{self.table}_{self.name}"[:63]

    def create_sql(self, vendor: str) -> list[str]:
        body = "; ".join(self.statements)
        head = f'CREATE TRIGGER "{self.trigger}" AFTER {self.event} ON "{self.table}" FOR EACH ROW'
        if vendor == "sqlite":
            found = f" AND ({self.found})" if self.found else ""
            return [f"{head} WHEN ({self.condition}){found} BEGIN {body}; END"]
        lock = f"PERFORM pg_advisory_xact_lock(hashtextextended({self.alone}, 0));" if self.alone else ""
        # PostgreSQL allows no subquery in WHEN.
        return [
            f'CREATE FUNCTION "{self.trigger}"() RETURNS trigger LANGUAGE plpgsql AS $keeper$ BEGIN '
            f"IF {self.found or 'TRUE'} THEN {lock} {body}; END IF; RETURN NULL; END $keeper$",
            f'{head} WHEN ({self.condition}) EXECUTE FUNCTION "{self.trigger}"()',
        ]

    def drop_sql(self, vendor: str) -> list[str]:
        return drop_sql(self.trigger, self.table, vendor)


class InstallKeepers(Statements):
    """The migration operation for a list of keepers; reversible."""

    def __init__(self, keepers: Sequence[Keeper]) -> None:
        self.keepers = list(keepers)

    def deconstruct(self):
        return (type(self).__name__, [self.keepers], {})

    def database_forwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        for keeper in self.keepers:
            for statement in keeper.create_sql(schema_editor.connection.vendor):
                schema_editor.execute(statement, params=None)

    def database_backwards(self, app_label, schema_editor: BaseDatabaseSchemaEditor, from_state, to_state) -> None:
        for keeper in self.keepers:
            for statement in keeper.drop_sql(schema_editor.connection.vendor):
                schema_editor.execute(statement, params=None)

    def describe(self) -> str:
        return "Keepers in the database"
