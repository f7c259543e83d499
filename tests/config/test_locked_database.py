"""The real server while another process keeps the database locked: written words within seconds, and free threads."""

import json
import re
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connection
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.judging.actions.seats import claim_seats
from tests.config.running_server import Server, answer_of, request, running_server
from tests.judging.factories import make_round, people_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
WRITERS = 24  # more than there are threads
PASSWORD = "a-long-enough-password"


@pytest.fixture
def grader() -> tuple[str, bytes, str]:
    """Where a grade goes, the whole request, and the address of its person, who signs in with PASSWORD."""
    if connection.vendor != "sqlite":
        pytest.skip("SQLite has one lock for all")
    round_ = make_round()
    person = people_of(round_)[0]
    person.password = Argon2PasswordHasher().encode(PASSWORD, "saltsaltsalt")
    person.save(update_fields=["password"])
    (seat,) = claim_seats(round_=round_, annotator=person, n=1, at=timezone.now())
    _, secret = create_token(
        project=round_.project,
        user=person,
        name="t",
        scopes=[Scope.JUDGING_WRITE],
        at=timezone.now(),
        lasts=timedelta(days=1),
    )
    body = json.dumps({"seat": seat.pk, "grade": 2, "idempotency_key": "one"}).encode()
    words = request(
        f"/api/v1/projects/{round_.project.slug}/judging/rounds/{round_.pk}/judgements/",
        f"Authorization: Bearer {secret}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        method="POST",
        body=body,
    )
    return person.email, words, secret


@pytest.fixture
def server(tmp_path, grader) -> Iterator[Server]:
    where = {"DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}", "SECRET_KEY": settings.SECRET_KEY}
    with running_server(tmp_path / "data", KARAT_DB_PATIENCE="2", **where) as server:
        yield server


def sign_in(server: Server, email: str) -> str:
    """The session cookie of somebody who fills in the form."""
    with server.connect() as browser:
        browser.sendall(request("/login/", closes=False))
        page = answer_of(browser).decode()
        (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        (cookie,) = re.findall(r"Set-Cookie: +(karat-csrf=\w+)", page)
        form = urlencode({"email": email, "password": PASSWORD, "csrfmiddlewaretoken": token}).encode()
        kind = "Content-Type: application/x-www-form-urlencoded"
        words = request("/login/", kind, f"Cookie: {cookie}", f"Content-Length: {len(form)}", method="POST", body=form)
        browser.sendall(words)
        answer = answer_of(browser).decode()
    return re.findall(r"Set-Cookie: +(karat-session=[^;]+)", answer)[0]


def test_while_the_database_stays_locked_writers_get_an_error_and_readers_are_served(server, grader):
    email, grade, _ = grader
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(WRITERS) as people:
            writing = [people.submit(server.ask, grade) for _ in range(WRITERS)]
            session = sign_in(server, email)
            (project,) = re.findall(rb"Location: (\S+)", server.ask(request("/", f"Cookie: {session}")))
            home = server.ask(request(project.decode(), f"Cookie: {session}"))
            refused = [one.result() for one in writing]
        other.execute("ROLLBACK")
    taken = server.ask(grade)

    assert home.startswith(b"HTTP/1.1 200 OK")
    for answer in refused:
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable")
        assert b"Retry-After: 5" in head
        assert json.loads(body)["code"] == "database_busy"
    assert taken.startswith(b"HTTP/1.1 201 Created")
