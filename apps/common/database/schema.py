"""Whether the tables are those of this version of Karat, and a migration operation that creates tables."""

from collections.abc import Iterable, Sequence
from functools import cache
from pkgutil import iter_modules
from typing import Any, NamedTuple

from django.apps import apps
from django.db import DatabaseError, connection, migrations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation

from apps.common.errors import Refusal


class CreateTables(Operation):
    """The migration operation that creates the tables of several models, which may name one another.

    After each model that is added by itself, Django makes the classes of all models that it leads to anew: with a
    hundred tables that takes longer than to create them.
    """

    def __init__(self, models: Sequence[migrations.CreateModel]) -> None:
        self.models = list(models)

    def deconstruct(self):
        return (type(self).__name__, [self.models], {})

    def state_forwards(self, app_label: str, state: Any) -> None:
        if "apps" in state.__dict__:
            del state.apps  # the classes so far, a cached property
        for model in self.models:
            model.state_forwards(app_label, state)

    def database_forwards(self, app_label, schema_editor, from_state, to_state) -> None:
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state) -> None:
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        return "Tables"


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
    if not applied <= _known():
        applied = renamed(applied)
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


OLDEST = "e3b857af"
"""The commit whose migrations the first ones of each app replace. On an older database that one has to start first."""


def renamed(applied: Iterable[Migration]) -> set[Migration]:
    """The migrations without those that another one replaces, which is there where all of them are.

    Django notes them one by one, also in a new database.
    """
    names = set(applied)
    for squashed, replaced in _replaced().items():
        is_there = replaced <= names
        names -= replaced | {squashed}
        names |= {squashed} if is_there else set()
    return names


def refuse_older(applied: Iterable[Migration]) -> None:
    """Raise Refusal where only some of the migrations are there that another one replaces: the database is older."""
    names = set(applied)
    if any(replaced & names and not replaced <= names for replaced in _replaced().values()):
        raise Refusal(
            f"This data is older than commit {OLDEST} of Karat, the oldest whose data this version upgrades. Start "
            "that commit on it first, which upgrades it, then this version. Nothing was changed.",
            code="schema_older",
        )


@cache
def _replaced() -> dict[Migration, frozenset[Migration]]:
    """The migrations that replace others, with those."""
    ours = MigrationLoader(None).disk_migrations
    return {name: frozenset(migration.replaces) for name, migration in ours.items() if migration.replaces}
