import pytest
from django.contrib.auth.models import Group, Permission
from django.db.models import Exists, OuterRef

from apps.common.database.bulk import ExistsForEach

pytestmark = pytest.mark.django_db
IN_USE = Group.objects.filter(permissions=OuterRef("pk"))


@pytest.fixture
def used():
    """A permission that a group has, among many that none has."""
    permission = Permission.objects.order_by("pk")[0]
    Group.objects.create(name="Leads").permissions.add(permission)
    return permission


def test_it_finds_what_exists_finds(used):
    assert list(Permission.objects.filter(ExistsForEach(IN_USE))) == [used]
    free = Permission.objects.filter(~Exists(IN_USE)).order_by("pk")
    assert list(Permission.objects.filter(~ExistsForEach(IN_USE)).order_by("pk")) == list(free)


def test_it_finds_nothing_in_an_empty_set(used):
    assert not Permission.objects.filter(ExistsForEach(Group.objects.none())).exists()


@pytest.mark.postgres
def test_postgresql_looks_for_each_row_and_joins_no_tables(used):
    joined = Permission.objects.filter(~Exists(IN_USE)).order_by("pk").explain()
    each = Permission.objects.filter(~ExistsForEach(IN_USE)).order_by("pk").explain()

    assert "Anti Join" in joined
    assert "Anti Join" not in each
