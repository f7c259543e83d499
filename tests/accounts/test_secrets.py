import logging

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction
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
    row = store_secret(project)

    assert reveal(project, "search-key") == VALUE
    row.refresh_from_db()
    assert VALUE.encode() not in bytes(row.sealed)


def test_after_a_change_of_secret_key_or_in_another_project_the_value_has_to_be_entered_again(project):
    other, row = make_project(), store_secret(project)

    with override_settings(SECRET_KEY="another-" + settings.SECRET_KEY), pytest.raises(NoSecret, match="SECRET_KEY"):
        reveal(project, "search-key")
    Secret.objects.filter(pk=row.pk).update(project=other)
    with pytest.raises(NoSecret, match="must enter its value again"):
        reveal(other, "search-key")


def test_a_secret_is_replaced_by_one_of_its_name_and_deleted_on_record(project, monkeypatch):
    monkeypatch.setattr(secrets, "MOST_SECRETS", 1)
    first = store_secret(project)
    second = store_secret(project, "another")

    assert first.pk == second.pk
    assert reveal(project, "search-key") == "another"
    with pytest.raises(SecretRefused, match="at most 1"):
        store_secret(project, name="second")
    delete_secret(project=project, secret_id=first.pk, actor=lead_of(project), at=AT)
    assert not Secret.objects.exists()
    with pytest.raises(NoSecret, match="no secret called search-key"):
        reveal(project, "search-key")
    events = Event.objects.filter(action__startswith="secret.").order_by("pk").values_list("action", flat=True)
    assert [*events] == ["secret.created", "secret.replaced", "secret.deleted"]


BAD_NAMES = ["", "Search", "a b", "-a", "a" * 61, "ä", "a/b"]
BAD_VALUES = ["", " ", "a\nb", "a\r\nX-B: c", "a\x00", "wörd", "x" * 4_001]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        *(({"name": name}, "bad_secret_name") for name in BAD_NAMES),
        *(({"value": value}, "bad_secret") for value in BAD_VALUES),
    ],
)
def test_what_no_configuration_or_header_could_carry_is_refused_without_repeating_it(project, changed, code):
    with pytest.raises(SecretRefused) as caught:
        store_secret(project, **changed)

    assert caught.value.code == code
    assert "X-B" not in caught.value.sentence


def test_only_leads_store_and_delete_secrets(project):
    row = store_secret(project)
    for actor in (make_member(project, "reviewer"), make_user("Operator", is_operator=True), lead_of(make_project())):
        with pytest.raises(SecretForbidden):
            store_secret(project, "mine", actor=actor)
        with pytest.raises(SecretForbidden):
            delete_secret(project=project, secret_id=row.pk, actor=actor, at=AT)

    assert reveal(project, "search-key") == VALUE


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
