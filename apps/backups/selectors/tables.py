"""Which tables of the database are carried, and how their columns are to be read.

They are those of the migrations that have been applied, which need not be those of this version: a backup before an
upgrade is made by the version that upgrades.
"""

from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from apps.backups.core.kinds import Kind
from apps.backups.core.rows import Column, Table
from apps.common.errors import Refusal

PASSING = frozenset(
    {"django_session", "accounts_visit", "jobs_workerbeat", "accounts_loginattempt", "accounts_usedstate"}
)
"""Tables whose rows mean nothing elsewhere: sessions, which worker lives, attempts to sign in."""

KINDS = {
    "AutoField": Kind.INTEGER, "BigAutoField": Kind.INTEGER, "BigIntegerField": Kind.INTEGER,
    "IntegerField": Kind.INTEGER, "PositiveBigIntegerField": Kind.INTEGER, "PositiveIntegerField": Kind.INTEGER,
    "PositiveSmallIntegerField": Kind.INTEGER, "SmallIntegerField": Kind.INTEGER, "SmallAutoField": Kind.INTEGER,
    "CharField": Kind.TEXT, "TextField": Kind.TEXT, "SlugField": Kind.TEXT,
    "BooleanField": Kind.BOOLEAN, "DateTimeField": Kind.TIME, "FloatField": Kind.REAL, "JSONField": Kind.JSON,
    "GenericIPAddressField": Kind.TEXT, "BinaryField": Kind.BYTES, "DecimalField": Kind.DECIMAL, "UUIDField": Kind.UUID,
}  # fmt: skip


def applied_migrations() -> list[tuple[str, str]]:
    """The migrations that the database has, as pairs of app and name, in their order; none for an empty one."""
    return sorted(MigrationRecorder(connection).applied_migrations())


def tables_after(migrations: list[tuple[str, str]]) -> list[Table]:
    """The tables of a database with these migrations, by name.

    Raises Refusal where this version does not know one of them: the database is from a newer one.
    """
    graph = MigrationLoader(None).graph
    if unknown := [f"{app} {name}" for app, name in migrations if (app, name) not in graph.nodes]:
        raise Refusal(
            f"A newer Karat wrote this data ({unknown[-1]}). Install that version, or one that is newer still.",
            code="schema_newer",
        )
    state = graph.make_state(nodes=ends_of(migrations))
    models_then = state.apps.get_models(include_auto_created=True)
    tables = [_table(model) for model in models_then if model._meta.managed and not model._meta.proxy]
    return sorted(tables)


def carried(tables: list[Table]) -> list[Table]:
    """Of the tables those that a backup contains."""
    return [table for table in tables if table.name not in PASSING]


def ends_of(migrations: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of these migrations the last of each app, to migrate to. Names begin with their number."""
    return [*{app: (app, name) for app, name in sorted(migrations)}.values()]


def _table(model: type[models.Model]) -> Table:
    options = model._meta
    columns = [Column(field.column, _kind(field)) for field in options.concrete_fields if field.column]
    assert options.pk is not None
    assert options.pk.column is not None
    return Table(options.db_table, options.pk.column, tuple(columns))


def _kind(field: models.Field) -> Kind:
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return KINDS[field.get_internal_type()]
