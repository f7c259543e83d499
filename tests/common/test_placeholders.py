"""Placeholders of statements on SQLite: as Django writes them, also in a statement that was here before."""

import pytest
from django.db import connection

from apps.common.database.sqlite import base

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has Django's own placeholders"),
]


def answers(statement, params, times=3):
    with connection.cursor() as cursor:
        return [cursor.execute(statement, params).fetchone() for _ in range(times)]


def test_placeholders_by_place():
    assert answers("SELECT %s, '%%s', 7 %% %s", ["a", 4]) == [("a", "%s", 3)] * 3


def test_placeholders_by_name_in_any_order_and_some_unused():
    statement = "SELECT %(a)s, 7 %% %(b)s"

    assert answers(statement, {"a": 1, "b": 4}) == answers(statement, {"b": 4, "c": 0, "a": 1}) == [(1, 3)] * 3


@pytest.mark.parametrize("params", [[], {}])
def test_a_statement_without_values(params):
    assert answers("SELECT 7 %% 4", params) == [(3,)] * 3


def test_a_statement_is_not_taken_for_the_same_one_with_another_kind_of_values():
    assert answers("SELECT '%%s'", []) == answers("SELECT '%%s'", {}) == [("%s",)] * 3


def test_long_statements_and_more_than_there_is_room_for_are_not_remembered(monkeypatch):
    monkeypatch.setattr(base, "_converted", {})
    monkeypatch.setattr(base, "MOST_REMEMBERED", 3)
    answers("SELECT %s --" + "x" * base.LONGEST_REMEMBERED, [1])
    assert base._converted == {}

    for number in range(10):
        assert answers(f"SELECT {number} + %s", [1], times=1) == [(number + 1,)]
        assert len(base._converted) <= 3
