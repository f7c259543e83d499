import pytest
from django.db import DatabaseError, connection

from apps.dashboard.pages import health
from apps.jobs.execution import sweep
from tests.factories import make_user

pytestmark = pytest.mark.django_db

ENGINE = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}


@pytest.fixture
def monitor(settings) -> dict[str, str]:
    settings.HEALTH_TOKEN = "sesame-open-3"
    return {"Authorization": "Bearer sesame-open-3"}


def test_strangers_get_ok_and_nothing_else(client, monitor):
    answer = client.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    wrong = ("Bearer sesame", "Basic sesame-open-3", "Bearer", "")
    assert [client.get("/healthz", headers={"Authorization": word}).json() for word in wrong] == [{"status": "ok"}] * 4


def test_without_a_token_of_the_server_none_opens_it(client, settings):
    settings.HEALTH_TOKEN = ""

    assert client.get("/healthz", headers={"Authorization": "Bearer "}).json() == {"status": "ok"}


def test_a_monitor_with_the_token_gets_versions_and_that_no_worker_was_seen(client, monitor):
    answer = client.get("/healthz", headers=monitor)

    about = answer.json()
    assert answer.status_code == 200
    assert set(about) == {"status", "karat", "python", "django", "database", "worker", "worker_seconds"}
    assert (about["status"], about["database"]["engine"]) == ("ok", ENGINE[connection.vendor])
    assert about["database"]["version"][0].isdigit()
    assert (about["worker"], about["worker_seconds"]) == ("worker never seen", None)


def test_health_shows_when_the_worker_was_last_seen(client, monitor):
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


def test_health_is_only_read(client):
    assert client.post("/healthz").status_code == 405


def test_health_is_not_sent_elsewhere_under_https(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    assert client.get("/healthz").status_code == 200


def test_health_answers_a_probe_by_any_address_and_nothing_else_does(client, settings):
    settings.ALLOWED_HOSTS = ["karat.example.org"]

    assert client.get("/healthz", headers={"host": "10.1.2.3:8000"}).status_code == 200
    assert client.get("/login/", headers={"host": "10.1.2.3:8000"}).status_code == 400


def test_health_carries_the_headers_of_every_answer(client):
    answer = client.get("/healthz")

    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer["Cache-Control"] == "no-store, private"
