"""Models of past migrations that are made on demand lead to the same tables as Django's own way."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from django.db import connection, models
from django.db.migrations.state import ModelState

from apps.common.database.on_demand import StateOnDemand
from tests.conftest import REPO

DJANGOS = """
import django
django.setup()
from django.core.management import call_command
from django.core.management.commands import migrate
call_command(migrate.Command(), verbosity=0)
"""
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"


@pytest.mark.slow
@pytest.mark.once
@pytest.mark.django_db
def test_a_new_database_is_to_the_column_and_guard_as_django_makes_it(tmp_path):
    env = os.environ | {"KARAT_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    subprocess.run([sys.executable, "-c", DJANGOS], cwd=REPO, env=env, check=True)

    with closing(sqlite3.connect(tmp_path / "karat.sqlite3")) as made, connection.cursor() as cursor:
        cursor.execute(TABLES)
        assert sorted(map(str, cursor.fetchall())) == sorted(map(str, made.execute(TABLES).fetchall()))


def shelves() -> StateOnDemand:
    """A shelf, books that stand on it, and a reader who has to do with neither."""
    key = models.AutoField(primary_key=True)
    shelf = models.ForeignKey("library.Shelf", models.CASCADE)
    state = StateOnDemand({}, set())
    state.add_model(ModelState("library", "Reader", [("id", key)]))
    state.add_model(ModelState("library", "Book", [("id", key), ("shelf", shelf)]))
    state.add_model(ModelState("library", "Shelf", [("id", key)]))
    return state


def test_a_model_is_made_with_those_it_refers_to_alone():
    state = shelves()

    book = state.apps.get_model("library", "Book")

    assert book._meta.get_field("shelf").related_model is state.apps.get_model("library.Shelf")
    assert set(state.apps.waiting) == {("library", "reader")}


def test_whoever_looks_for_what_refers_to_a_model_finds_it():
    state = shelves()

    shelf = state.apps.get_model("library", "Shelf")

    assert [relation.name for relation in shelf._meta.related_objects] == ["book"]


def test_the_code_of_a_migration_may_follow_any_relation_from_either_side():
    state = shelves()

    state.clear_delayed_apps_cache()

    assert hasattr(state.apps.get_model("library", "Shelf"), "book_set")
    assert state.apps.get_model("library", "Shelf")._meta.get_field("book")
    assert state.apps.waiting == {}


def test_a_state_that_changes_leaves_the_state_before_as_it_was():
    state = shelves()
    before = state.clone()

    state.add_field("library", "book", "title", models.TextField(default=""), True)
    after = state.apps.get_model("library", "Book")  # made first, and yet the new column is the last of all

    old = before.apps.get_model("library", "Book")
    assert [field.name for field in old._meta.fields] == ["id", "shelf"]
    assert [field.name for field in after._meta.fields] == ["id", "shelf", "title"]
    assert after._meta.get_field("title") > old._meta.get_field("shelf")


def test_a_model_that_was_removed_is_not_found():
    state = shelves()
    state.apps.get_models()

    state.remove_model("library", "reader")

    with pytest.raises(LookupError):
        state.apps.get_model("library", "Reader")
