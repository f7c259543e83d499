from datetime import timedelta
from unittest.mock import patch

import pytest

from apps.accounts.actions import deactivate_user
from apps.accounts.models import LoginAttempt
from apps.accounts.signing_in import MOST_PER_ACCOUNT, MOST_PER_ADDRESS, SignInRefused, sign_in
from tests.factories import AT, PASSWORD, make_user

pytestmark = pytest.mark.django_db


def attempt(email, password="wrong", *, address="192.0.2.1", at=AT):
    return sign_in(request=None, email=email, password=password, address=address, at=at)


def refusal_of(*args, **kwargs):
    with pytest.raises(SignInRefused) as caught:
        attempt(*args, **kwargs)
    return caught.value


def test_the_right_words_find_the_person_in_any_case():
    user = make_user()

    assert attempt(user.email.upper(), PASSWORD) == user


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


def test_waiting_a_quarter_of_an_hour_opens_it_again():
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT + 3):
        refusal_of(user.email)

    assert attempt(user.email, PASSWORD, at=AT + timedelta(minutes=16)) == user


def test_an_address_that_tries_many_accounts_is_stopped():
    user = make_user()
    for number in range(MOST_PER_ADDRESS):
        refusal_of(f"guess{number}@example.org")

    assert refusal_of(user.email, PASSWORD).code == "too_many"
    assert attempt(user.email, PASSWORD, address="198.51.100.7") == user


def test_signing_in_clears_the_failures_of_the_account():
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT - 1):
        refusal_of(user.email)
    attempt(user.email, PASSWORD)

    assert not LoginAttempt.objects.filter(account=user.email).exists()
