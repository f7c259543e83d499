"""Indexes of foreign keys that are dropped without copying their table, and made again."""

from contextlib import contextmanager

import pytest
from django.db import connection, migrations, models
from django.db.migrations.state import ProjectState

from apps.common.database.schema import without_own_index

pytestmark = pytest.mark.django_db(transaction=True)

TABLE = "fruit_apple"
TREE = {"to": "fruit.Tree", "on_delete": models.CASCADE, "related_name": "+"}
BASE = [
    migrations.CreateModel("Tree", [("id", models.BigAutoField(primary_key=True))]),
    migrations.CreateModel(
        "Apple",
        [
            ("id", models.BigAutoField(primary_key=True)),
            ("tree", models.ForeignKey(**TREE)),
            ("graft", models.ForeignKey(**TREE)),
            ("number", models.IntegerField()),
        ],
        options={"indexes": [models.Index(fields=["tree", "number"], name="apple_tree_number")]},
    ),
]


@contextmanager
def fruit():
    """The state with two tables, as long as they exist."""
    state = ProjectState()
    for operation in BASE:
        state = apply(operation, state)
    try:
        yield state
    finally:
        with connection.schema_editor() as editor:
            for name in ("Apple", "Tree"):
                editor.delete_model(state.apps.get_model("fruit", name))


def apply(operation, before):
    after = before.clone()
    operation.state_forwards("fruit", after)
    with connection.schema_editor() as editor:
        operation.database_forwards("fruit", editor, before, after)
    return after


def undo(operation, before, after):
    with connection.schema_editor() as editor:
        operation.database_backwards("fruit", editor, after, before)


def indexes() -> list[list[str]]:
    with connection.cursor() as cursor:
        facts = connection.introspection.get_constraints(cursor, TABLE).values()
    return sorted(one["columns"] for one in facts if one["index"] and not one["primary_key"])


def plain():
    return without_own_index("fruit.Apple", {"tree": models.ForeignKey(**TREE, db_index=False)})


def test_only_the_keys_own_index_goes_and_comes_back():
    with fruit() as before:
        was = indexes()

        after = apply(plain(), before)
        without = indexes()
        undo(plain(), before, after)

        assert was == [["graft_id"], ["tree_id"], ["tree_id", "number"]]
        assert without == [["graft_id"], ["tree_id", "number"]]
        assert indexes() == was


def test_the_state_knows_and_the_rows_and_triggers_stay():
    with fruit() as before, connection.cursor() as cursor:
        tree = before.apps.get_model("fruit", "Tree").objects.create()
        before.apps.get_model("fruit", "Apple").objects.create(tree_id=tree.pk, graft_id=tree.pk, number=3)
        made = table_as_made(cursor)

        after = apply(plain(), before)

        apple = after.apps.get_model("fruit", "Apple")
        assert apple._meta.get_field("tree").db_index is False
        assert apple.objects.values_list("tree_id", "number").get() == (tree.pk, 3)
        assert table_as_made(cursor) == made


def table_as_made(cursor) -> tuple:
    """What changes when a table is copied: its place in the file, or its number."""
    if connection.vendor == "sqlite":
        cursor.execute("SELECT rootpage, sql FROM sqlite_master WHERE name = %s", [TABLE])
    else:
        cursor.execute("SELECT oid, relfilenode FROM pg_class WHERE relname = %s", [TABLE])
    return cursor.fetchone()


def test_a_key_that_has_no_index_of_its_own_is_left_alone():
    with fruit() as before:
        after = apply(plain(), before)

        apply(plain(), after)

        assert indexes() == [["graft_id"], ["tree_id", "number"]]
