"""What is true of the whole: migrations, guards, lock files, authors. The floor plan is in `test_house`."""

import re

import pytest
from django.apps import apps as registry
from django.core.management import call_command
from django.db import connection

from apps.common.database.triggers import PREFIX, Guard, InstallGuards
from tests.conftest import REPO


@pytest.mark.django_db
def test_no_migration_is_missing():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def declared_guards() -> list[Guard]:
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(None)
    return [
        guard
        for migration in loader.disk_migrations.values()
        for operation in migration.operations
        if isinstance(operation, InstallGuards)
        for guard in operation.guards
    ]


@pytest.mark.django_db
def test_every_declared_guard_exists_in_the_database():
    """A table that a later migration rebuilds loses its triggers on SQLite: that migration must install them again."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        else:
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")
        standing = {name for (name,) in cursor.fetchall() if name.startswith(PREFIX)}

    assert {guard.trigger for guard in declared_guards()} <= standing
    assert len(standing) > 20


def test_lock_files_name_no_host():
    for path in sorted(REPO.glob("requirements*.lock")):
        assert not re.search(r"https?://", path.read_text()), path.name


def test_no_author_of_a_row_is_ever_lost_by_cascade():
    cascading = [
        f"{model._meta.label}.{field.name}"
        for model in registry.get_models()
        if model.__module__.startswith("apps.")
        for field in model._meta.get_fields()
        if getattr(getattr(field, "remote_field", None), "on_delete", None) is not None
        and field.remote_field.on_delete.__name__ in {"CASCADE", "SET_NULL"}
        and field.concrete
        and not field.auto_created
    ]

    assert cascading == ["accounts.Visit.session"], "a note about a session, which nobody is the author of"
