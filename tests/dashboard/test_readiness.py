"""/readyz: 200 only where a server can do its work."""

import pytest
from django.db import DatabaseError, connection

from apps.common.database.functions import from_now
from apps.dashboard.pages import health
from apps.jobs.execution import sweep
from apps.jobs.models import WorkerBeat
from tests.test_statements import Statements

pytestmark = pytest.mark.django_db(transaction=True)

FUTURE = "INSERT INTO django_migrations (app, name, applied) VALUES ('jobs', '9999_of_tomorrow', '2030-01-01')"
PAST = "DELETE FROM django_migrations WHERE app = 'backups' AND name = '0001_initial'"


@pytest.fixture
def worker() -> str:
    sweep.beat("one")
    return "one"


@pytest.fixture
def migrations():
    """Changes the list of applied migrations, and puts it back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, app, name, applied FROM django_migrations")
        before = cursor.fetchall()
        yield cursor.execute
        cursor.execute("DELETE FROM django_migrations")
        cursor.executemany("INSERT INTO django_migrations (id, app, name, applied) VALUES (%s, %s, %s, %s)", before)


def not_ready(**parts: str) -> dict[str, str]:
    return {"status": "not ready", "database": "ok", "schema": "ok", "worker": "ok", **parts}


def test_it_is_ready_when_database_schema_and_worker_are(client, worker):
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


def test_it_is_not_ready_while_no_worker_was_ever_seen(client):
    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()) == (503, not_ready(worker="not ready"))


def test_that_it_is_not_ready_is_no_error_in_the_log(client, caplog):
    assert client.get("/readyz").status_code == 503
    assert caplog.records == []


@pytest.mark.parametrize(("seconds", "status"), [(50, 200), (70, 503)])
def test_a_worker_that_was_seen_in_the_last_minute_is_enough(client, worker, seconds, status):
    WorkerBeat.objects.update(seen_at=from_now(-seconds))

    assert client.get("/readyz").status_code == status


@pytest.mark.parametrize(("change", "words"), [(FUTURE, "newer"), (PAST, "older")])
def test_a_schema_of_another_version_is_not_ready(client, worker, migrations, monitor, change, words):
    assert client.get("/readyz").status_code == 200
    migrations(change)

    answer, more = client.get("/readyz"), client.get("/readyz", headers=monitor)

    assert (answer.status_code, answer.json()) == (503, not_ready(schema="not ready", worker="not ready"))
    assert more.json()["schema_is"] == f"{words} than this version of Karat"


def test_a_schema_that_is_brought_up_to_date_is_ready_without_a_restart(client, worker, migrations):
    migrations(FUTURE)
    assert client.get("/readyz").status_code == 503

    migrations("DELETE FROM django_migrations WHERE name = '9999_of_tomorrow'")

    assert client.get("/readyz").status_code == 200


def test_a_database_that_does_not_answer_is_not_ready_and_nothing_else_is_said(client, monkeypatch, monitor):
    def away():
        raise DatabaseError("connection refused at 10.0.0.3 by user karat")

    monkeypatch.setattr(health, "schema_gap", away)

    answer = client.get("/readyz", headers=monitor)

    assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "database": "not ready"})


def test_versions_and_seconds_are_for_those_who_have_the_token(client, worker, monitor):
    assert client.get("/readyz", headers={"Authorization": "Bearer sesame"}).json() == {"status": "ready"}
    assert set(client.get("/readyz", headers=monitor).json()) == {"status", "karat", "schema_is", "worker_seconds"}


def test_it_answers_by_any_address_over_http_and_without_a_sign_in(client, worker, settings):
    settings.ALLOWED_HOSTS = ["karat.example.org"]
    settings.SECURE_SSL_REDIRECT = True

    assert client.get("/readyz", headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert client.post("/readyz", headers={"host": "10.1.2.3:8000"}).status_code == 405


def test_a_session_is_not_even_looked_at(client, worker, settings):
    client.cookies[settings.SESSION_COOKIE_NAME] = "of-somebody"

    with Statements() as found:
        assert client.get("/readyz").status_code == 200
    assert not any("django_session" in query["sql"] for query in found.captured_queries)


def test_it_takes_two_statements_once_the_schema_is_known_to_fit(client, worker):
    client.get("/readyz")

    with Statements() as found:
        health._look()

    assert found.number == 2
