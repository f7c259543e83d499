from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core import signing
from django.test import Client

from apps.accounts.actions.people import deactivate_user
from apps.accounts.actions.sign_ins import MOST_PER_ACCOUNT, MOST_PER_ADDRESS, SignInRefused, sign_in
from apps.accounts.models import LoginAttempt
from tests.factories import AT, PASSWORD, make_user

pytestmark = pytest.mark.django_db


def attempt(email, password="wrong", *, address="192.0.2.1", device="", at=AT):
    return sign_in(request=None, email=email, password=password, address=address, device=device, at=at)


def refusal_of(*args, **kwargs):
    with pytest.raises(SignInRefused) as caught:
        attempt(*args, **kwargs)
    return caught.value


def test_unknown_people_wrong_passwords_and_closed_accounts_sound_the_same():
    known, closed = make_user(), make_user()
    deactivate_user(user_id=closed.pk, actor=make_user(is_operator=True), at=AT)

    sentences = {
        refusal_of(known.email).sentence,
        refusal_of("nobody@example.org").sentence,
        refusal_of(closed.email, PASSWORD).sentence,
    }

    assert len(sentences) == 1


def test_unknown_people_cost_one_hash_like_known_ones():
    user = make_user()

    def hashes(email):
        with patch(
            "django.contrib.auth.hashers.MD5PasswordHasher.encode", autospec=True, return_value="md5$a$b"
        ) as encode:
            refusal_of(email)
        return encode.call_count

    assert hashes("nobody@example.org") == hashes(user.email) == 1


@pytest.mark.parametrize("exists", [True, False])
def test_an_account_is_closed_for_a_while_after_eight_failures(exists):
    email = make_user().email if exists else "nobody@example.org"
    for _ in range(MOST_PER_ACCOUNT):
        assert refusal_of(email).code == "unknown"

    assert refusal_of(email, PASSWORD, address="198.51.100.7").code == "too_many"
    if exists:
        assert attempt(email, PASSWORD, at=AT + timedelta(minutes=16)).email == email


def test_an_address_that_tries_many_accounts_is_stopped_but_for_known_devices():
    user = make_user()
    for number in range(MOST_PER_ADDRESS):
        refusal_of(f"guess{number}@example.org")

    assert refusal_of(user.email, PASSWORD).code == "too_many"
    assert attempt(user.email, PASSWORD, address="198.51.100.7") == user
    assert attempt(user.email, PASSWORD, device="laptop") == user


def test_signing_in_clears_the_failures_of_the_account():
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT - 1):
        refusal_of(user.email)
    attempt(user.email, PASSWORD)

    assert not LoginAttempt.objects.filter(account=user.email).exists()


def test_a_known_device_passes_while_strangers_guess_at_its_account():
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT):
        refusal_of(user.email, address="198.51.100.7")

    assert attempt(user.email, PASSWORD, device="laptop") == user
    assert refusal_of(user.email, PASSWORD, address="198.51.100.7").code == "too_many"


def test_a_known_device_has_tries_of_its_own_and_no_more():
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT):
        assert refusal_of(user.email, device="laptop").code == "unknown"

    assert refusal_of(user.email, PASSWORD, device="laptop").code == "too_many"
    assert attempt(user.email, PASSWORD, device="phone") == user
    assert attempt(user.email, PASSWORD) == user


def sign_in_page(client, email, password):
    return client.post("/login/", {"email": email, "password": password}, REMOTE_ADDR="192.0.2.1")


def test_forty_wrong_names_lock_out_strangers_but_nobody_who_signed_in_there_before(client):
    user, colleague = make_user(), make_user()
    assert sign_in_page(client, user.email, PASSWORD).status_code == 302
    client.post("/logout/")
    strangers = Client()
    for number in range(MOST_PER_ADDRESS):
        sign_in_page(strangers, f"guess{number}@example.org", "wrong")

    assert b"Too many attempts" in sign_in_page(strangers, user.email, PASSWORD).content
    assert b"Too many attempts" in sign_in_page(client, colleague.email, PASSWORD).content
    assert sign_in_page(client, user.email, PASSWORD).status_code == 302


def test_a_device_cookie_of_our_own_making_is_not_believed(client):
    user = make_user()
    client.cookies["karat-device"] = "eyJpZCI6ICJ4In0:1:forged"
    for _ in range(MOST_PER_ACCOUNT):
        sign_in_page(client, user.email, "wrong")

    assert b"Too many attempts" in sign_in_page(client, user.email, PASSWORD).content


def test_the_device_cookie_names_nobody_and_is_out_of_reach_of_scripts(client):
    user = make_user()
    sign_in_page(client, user.email, PASSWORD)

    cookie = client.cookies["karat-device"]

    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert signing.loads(cookie.value, salt="karat.device")["accounts"] != [user.email]
    assert user.email not in str(signing.loads(cookie.value, salt="karat.device"))


def test_a_browser_remembers_the_five_last_accounts(client):
    people = [make_user() for _ in range(6)]
    for person in people:
        sign_in_page(client, person.email, PASSWORD)
        client.post("/logout/")
    for person in (people[0], people[5]):
        for _ in range(MOST_PER_ACCOUNT):
            sign_in_page(Client(), person.email, "wrong")

    assert sign_in_page(client, people[5].email, PASSWORD).status_code == 302
    client.post("/logout/")
    assert b"Too many attempts" in sign_in_page(client, people[0].email, PASSWORD).content
