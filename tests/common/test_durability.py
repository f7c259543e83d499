import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from apps.common.database.durability import atomic_without_sync
from apps.common.database.sqlite import syncing

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL waits by itself")


def stored() -> list[str]:
    return list(Group.objects.values_list("name", flat=True))


def fail_after_a_write():
    with atomic_without_sync():
        Group.objects.create(name="Gone")
        _ = 1 / 0


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that somebody waits for the disk."""
    waits: list[int] = []
    monkeypatch.setattr(syncing, "_sync", waits.append)
    return waits


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_only_this_transaction_is_not_waited_for(waits):
    with atomic_without_sync():
        Group.objects.create(name="Soon")
    assert not waits

    with transaction.atomic():
        Group.objects.create(name="Now")
    assert len(waits) == 1


@on_sqlite
@pytest.mark.django_db(transaction=True)
def test_the_next_transaction_is_waited_for_when_this_one_failed(waits):
    with pytest.raises(ZeroDivisionError):
        fail_after_a_write()

    with transaction.atomic():
        Group.objects.create(name="Now")
    assert len(waits) == 1


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
