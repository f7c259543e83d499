"""Signing in while nothing can be written: possible, for reading, and no way around the limits on guessing."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from apps.accounts.access import sessions
from apps.accounts.actions import sign_ins
from apps.accounts.actions.people import deactivate_user
from apps.accounts.actions.sign_ins import MOST_PER_ACCOUNT, MOST_PER_ADDRESS, Memory
from apps.accounts.models import LoginAttempt, User
from tests.factories import PASSWORD, make_user

pytestmark = pytest.mark.django_db
WRITES = ("INSERT", "UPDATE", "DELETE")


@contextmanager
def nothing_can_be_written(code: int = sqlite3.SQLITE_FULL) -> Iterator[None]:
    def fault(execute: Callable, sql: str, params: Any, many: bool, context: dict) -> Any:
        if sql.lstrip().upper().startswith(WRITES):
            cause = sqlite3.OperationalError("from the driver")
            cause.sqlite_errorcode = code
            raise OperationalError("database or disk is full") from cause
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fault):
        yield


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_ins, "memory", Memory())


def sign_in(client: Client, email: str, password: str = PASSWORD, address: str = "192.0.2.1") -> Any:
    return client.post("/login/", {"email": email, "password": password}, REMOTE_ADDR=address)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY])
def test_people_sign_in_for_reading(client, code):
    user = make_user()

    with nothing_can_be_written(code):
        assert sign_in(client, user.email).status_code == 302
        page = client.get("/profile/")

    assert page.status_code == 200
    assert user.email in page.content.decode()
    assert client.cookies["karat-session"].value.startswith("~")
    assert not LoginAttempt.objects.exists()


@pytest.fixture
def lent(client) -> User:
    """Somebody who signed in while nothing could be written."""
    user = make_user()
    with nothing_can_be_written():
        sign_in(client, user.email)
    return user


def test_a_lent_session_ends_after_a_quarter_of_an_hour(client, lent, monkeypatch):
    monkeypatch.setattr(sessions, "LENT_SECONDS", -1)

    assert client.get("/profile/").status_code == 302


def test_a_lent_session_ends_with_the_account(client, lent):
    deactivate_user(user_id=lent.pk, actor=make_user(is_operator=True), at=timezone.now())

    assert client.get("/profile/").status_code == 302


def test_a_lent_session_ends_by_signing_out_and_the_next_one_is_of_the_usual_kind(client, lent):
    with nothing_can_be_written():
        assert client.post("/logout/").status_code == 302
        assert client.get("/profile/").status_code == 302

    sign_in(client, lent.email)

    assert not client.cookies["karat-session"].value.startswith("~")


def test_a_lent_session_is_signed(client):
    client.cookies["karat-session"] = "~eyJfYXV0aF91c2VyX2lkIjoiMSJ9:1abcde:forged-forged-forged-forged"

    assert client.get("/profile/").status_code == 302


def test_guesses_are_limited_by_account_all_the_same(client):
    user = make_user()

    with nothing_can_be_written():
        for number in range(MOST_PER_ACCOUNT):
            refused = sign_in(client, user.email, "wrong", f"192.0.2.{number}")
            assert b"Wrong e-mail address or password" in refused.content

        assert b"Too many attempts" in sign_in(client, user.email).content


def test_guesses_are_limited_by_address_all_the_same(client):
    user = make_user()

    with nothing_can_be_written():
        for number in range(MOST_PER_ADDRESS):
            sign_in(client, f"guess{number}@example.org", "wrong")

        assert b"Too many attempts" in sign_in(client, user.email).content
        assert sign_in(client, user.email, address="198.51.100.7").status_code == 302


def test_guesses_from_before_still_count(client):
    user = make_user()
    for _ in range(MOST_PER_ACCOUNT):
        sign_in(client, user.email, "wrong")

    with nothing_can_be_written():
        assert b"Too many attempts" in sign_in(client, user.email).content


def test_what_was_counted_in_memory_is_forgotten_after_a_quarter_of_an_hour():
    memory = Memory()
    now = timezone.now()
    attempt = LoginAttempt(account="a@example.org", address="192.0.2.1", at=now)
    for _ in range(MOST_PER_ACCOUNT):
        assert memory.has_room(attempt)

    attempt.at = now + timedelta(minutes=14)
    assert not memory.has_room(attempt)
    attempt.at = now + timedelta(minutes=40)
    assert memory.has_room(attempt)


def test_a_fault_of_another_kind_is_not_taken_for_an_outage(client):
    user = make_user()
    client.raise_request_exception = False

    with nothing_can_be_written(sqlite3.SQLITE_ERROR):
        assert sign_in(client, user.email).status_code == 500
