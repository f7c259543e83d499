import logging

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.test import override_settings
from django.urls import reverse

from apps.accounts.actions import secrets
from apps.accounts.actions.secrets import NoSecret, SecretForbidden, SecretRefused, delete_secret, reveal, save_secret
from apps.accounts.core.encryption import SealBroken, seal, unseal
from apps.accounts.models import Secret
from apps.accounts.selectors import secrets_in
from apps.audit.models import Event
from tests.factories import AT, lead_of, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

VALUE = "sesame-open-9"


@pytest.fixture
def project():
    return make_project()


def store_secret(project, value=VALUE, name="search-key", actor=None):
    return save_secret(project=project, name=name, value=value, actor=actor or lead_of(project), at=AT)


def test_sealed_text_opens_in_its_place_and_with_its_key_alone():
    sealed = seal("wörd", key="k1", place="1/a")

    assert unseal(sealed, key="k1", place="1/a") == "wörd"
    assert sealed != seal("wörd", key="k1", place="1/a")
    for key, place, bytes_ in [
        ("k2", "1/a", sealed),
        ("k1", "1/b", sealed),
        ("k1", "1/a", sealed[:-1]),
        ("k1", "1/a", b""),
    ]:
        with pytest.raises(SealBroken):
            unseal(bytes_, key=key, place=place)


def test_a_secret_is_stored_sealed_and_decrypted_by_the_worker(project):
    store_secret(project)

    assert reveal(project, "search-key") == VALUE
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_secret")
        assert VALUE not in str(
            [bytes(cell) if isinstance(cell, memoryview) else cell for row in cursor for cell in row]
        )


def test_a_secret_moved_to_another_project_cannot_be_opened(project):
    other = make_project()
    row = store_secret(project)
    Secret.objects.filter(pk=row.pk).update(project=other)

    with pytest.raises(NoSecret, match="must enter its value again"):
        reveal(other, "search-key")


def test_after_a_change_of_secret_key_the_value_has_to_be_entered_again(project):
    store_secret(project)

    with override_settings(SECRET_KEY="another-" + settings.SECRET_KEY), pytest.raises(NoSecret, match="SECRET_KEY"):
        reveal(project, "search-key")


def test_a_name_that_is_there_is_replaced(project):
    first = store_secret(project)
    second = store_secret(project, "another")

    assert first.pk == second.pk
    assert reveal(project, "search-key") == "another"
    assert list(Event.objects.filter(action__startswith="secret.").order_by("pk").values_list("action", flat=True)) == [
        "secret.created",
        "secret.replaced",
    ]


def test_a_deleted_secret_is_gone(project):
    row = store_secret(project)

    delete_secret(project=project, secret_id=row.pk, actor=lead_of(project), at=AT)

    assert not Secret.objects.exists()
    with pytest.raises(NoSecret, match="no secret called search-key"):
        reveal(project, "search-key")


@pytest.mark.parametrize("name", ["", "Search", "a b", "-a", "a" * 61, "ä", "a/b"])
def test_a_name_that_no_configuration_could_carry_is_refused(project, name):
    with pytest.raises(SecretRefused) as caught:
        store_secret(project, name=name)

    assert caught.value.code == "bad_secret_name"


@pytest.mark.parametrize("value", ["", " ", "a\nb", "a\r\nX-B: c", "a\x00", "wörd", "x" * 4_001])
def test_a_value_that_no_header_could_carry_is_refused_without_repeating_it(project, value):
    with pytest.raises(SecretRefused) as caught:
        store_secret(project, value)

    assert caught.value.code == "bad_secret"
    assert "X-B" not in caught.value.sentence


def test_only_leads_store_and_delete_secrets(project):
    row = store_secret(project)
    for actor in (make_member(project, "reviewer"), make_user("Operator", is_operator=True), lead_of(make_project())):
        with pytest.raises(SecretForbidden):
            store_secret(project, "mine", actor=actor)
        with pytest.raises(SecretForbidden):
            delete_secret(project=project, secret_id=row.pk, actor=actor, at=AT)

    assert reveal(project, "search-key") == VALUE


def test_a_project_has_a_limited_number_of_secrets(project, monkeypatch):
    monkeypatch.setattr(secrets, "MOST_SECRETS", 1)
    store_secret(project)
    store_secret(project, "replaced")

    with pytest.raises(SecretRefused, match="at most 1"):
        store_secret(project, name="second")


def test_names_are_unique_in_the_database(project):
    row = store_secret(project)
    row.pk = None
    row.sealed = b""

    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)


# Pages


def test_a_secret_is_stored_and_deleted_from_its_page_and_never_shown(client, project, caplog):
    client.force_login(lead_of(project))
    page = reverse("people:secrets", args=[project.slug])

    with caplog.at_level(logging.DEBUG):
        said = [client.post(page, {"name": "search-key", "value": VALUE}, follow=True)]
        said.append(client.post(page, {"name": "Bad name", "value": VALUE}))
        said.append(client.get(reverse("audit:list", args=[project.slug])))
        said.append(client.get(reverse("dashboard:settings", args=[project.slug])))
        row = secrets_in(project).get()
        said.append(client.post(reverse("people:delete-secret", args=[project.slug, row.pk]), follow=True))

    told = "".join(answer.content.decode() for answer in said)
    assert "search-key is saved" in told
    assert "search-key is deleted" in told
    assert said[1].status_code == 400
    assert VALUE not in told + caplog.text + str(list(Event.objects.values()))


@pytest.mark.parametrize("rows", [1, 3])
def test_the_page_runs_as_many_queries_however_long_it_is(client, project, rows, django_assert_num_queries):
    for number in range(rows):
        store_secret(project, name=f"key-{number}")
    client.force_login(lead_of(project))
    page = reverse("people:secrets", args=[project.slug])

    client.get(page)
    with django_assert_num_queries(5):
        client.get(page)
