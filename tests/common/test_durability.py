import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from apps.common.database.durability import RELAX, atomic_without_sync

FULL, NORMAL = 2, 1


def setting(statement: str):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def stored() -> list[str]:
    return list(Group.objects.values_list("name", flat=True))


def fail_after_a_write():
    with atomic_without_sync():
        Group.objects.create(name="Gone")
        _ = 1 / 0


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own setting")
@pytest.mark.django_db(transaction=True)
def test_only_this_transaction_is_not_waited_for():
    with atomic_without_sync():
        assert setting("PRAGMA synchronous") == NORMAL

    assert setting("PRAGMA synchronous") == FULL


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own setting")
@pytest.mark.django_db(transaction=True)
def test_the_next_transaction_is_waited_for_when_this_one_failed():
    with pytest.raises(ZeroDivisionError):
        fail_after_a_write()

    assert setting("PRAGMA synchronous") == FULL


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_on_postgresql_the_expression_holds_for_the_transaction():
    usual = setting("SHOW synchronous_commit")
    with atomic_without_sync():
        setting(f"SELECT {RELAX}")
        assert setting("SHOW synchronous_commit") == "off"

    assert setting("SHOW synchronous_commit") == usual


@pytest.mark.django_db(transaction=True)
def test_it_is_whole():
    with pytest.raises(ZeroDivisionError):
        fail_after_a_write()
    with atomic_without_sync():
        Group.objects.create(name="Kept")

    assert stored() == ["Kept"]


@pytest.mark.django_db(transaction=True)
def test_within_a_transaction_it_is_part_of_that_one():
    with transaction.atomic():
        with atomic_without_sync():
            Group.objects.create(name="Gone")
        transaction.set_rollback(True)

    assert stored() == []
