import pytest

from apps.accounts.models import User
from apps.common.database.bulk import update_returning
from tests.factories import make_user


@pytest.mark.django_db
def test_rows_are_changed_and_a_column_of_each_comes_back(django_assert_num_queries):
    mara, sef, tobias = make_user("Mara Quill"), make_user("Sef Arden"), make_user("Tobias Lind")

    with django_assert_num_queries(1):
        changed = update_returning(User.objects.filter(pk__in=[mara.pk, sef.pk]), "id", time_zone="Asia/Kolkata")

    assert sorted(changed) == sorted([mara.pk, sef.pk])
    assert set(User.objects.filter(time_zone="Asia/Kolkata")) == {mara, sef}
    assert update_returning(User.objects.filter(pk=0), "id", time_zone="UTC") == []
    assert User.objects.get(pk=tobias.pk).time_zone != "Asia/Kolkata"
