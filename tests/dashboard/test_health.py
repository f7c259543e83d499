import pytest
from django.db import DatabaseError, connection

from apps.dashboard.pages import health
from apps.jobs.execution import sweep
from tests.factories import make_user

pytestmark = pytest.mark.django_db

ENGINE = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@pytest.mark.parametrize("word", [None, "Bearer sesame", "Basic sesame-open-3", "Bearer", ""])
def test_strangers_get_ok_and_nothing_else(client, monitor, word):
    answer = client.get("/healthz", headers={"Authorization": word} if word is not None else {})

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_without_a_token_of_the_server_none_opens_it(client, settings):
    settings.HEALTH_TOKEN = ""

    assert client.get("/healthz", headers={"Authorization": "Bearer "}).json() == {"status": "ok"}


def test_a_monitor_with_the_token_gets_versions_and_when_a_worker_was_seen(client, monitor):
    answer = client.get("/healthz", headers=monitor)

    about = answer.json()
    assert answer.status_code == 200
    assert set(about) == {"status", "karat", "python", "django", "database", "worker", "worker_seconds"}
    assert (about["status"], about["database"]["engine"]) == ("ok", ENGINE[connection.vendor])
    assert about["database"]["version"][0].isdigit()
    assert (about["worker"], about["worker_seconds"]) == ("worker never seen", None)

    sweep.beat("one")
    assert client.get("/healthz", headers=monitor).json()["worker"] == "worker last seen 0 s ago"


@pytest.mark.parametrize("is_operator", [True, False])
def test_operators_who_are_signed_in_get_more_and_others_do_not(client, is_operator):
    client.force_login(make_user("Olga", is_operator=is_operator))

    assert ("worker" in client.get("/healthz").json()) is is_operator


def test_health_is_bad_when_the_database_does_not_answer(client, monkeypatch):
    def away():
        raise DatabaseError("connection refused at 10.0.0.3 by user karat")

    monkeypatch.setattr(health, "database_version", away)

    answer = client.get("/healthz")

    assert answer.status_code == 503
    assert answer.json() == {"status": "the database does not answer"}


def test_a_probe_by_any_address_and_over_http_is_answered_with_the_headers_of_every_answer(client, settings):
    settings.ALLOWED_HOSTS = ["karat.example.org"]
    probe = {"host": "10.1.2.3:8000"}
    assert client.get("/login/", headers=probe).status_code == 400
    settings.SECURE_SSL_REDIRECT = True

    answer = client.get("/healthz", headers=probe)

    assert (answer.status_code, client.post("/healthz", headers=probe).status_code) == (200, 405)
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer["Cache-Control"] == "no-store, private"
