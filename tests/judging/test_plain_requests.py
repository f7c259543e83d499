"""The short way to the two requests of the judging screen: the answers of the view, behind the same doors."""

import json
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import DatabaseError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.projects import archive_project
from apps.accounts.models import Membership
from apps.corpus.models import Document
from apps.judging.actions.rounds import close_round
from apps.judging.api import decisions as views
from apps.judging.edges import plain_requests
from apps.judging.models import Judgement, Seat
from tests.factories import lead_of, make_project
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db

BY_THE_VIEW = "application/json;q=0.9"
"""An Accept header that says the same as `application/json`, and is not plain."""
CHANGING = {"X-Request-Id", "Content-Length"}


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=3, overlap=1.0, at=timezone.now())


@pytest.fixture
def mara(round_, client):
    mara = people_of(round_)[0]
    mara.time_zone = "Asia/Kolkata"
    mara.save()
    client.force_login(mara)
    return mara


@pytest.fixture
def answered(monkeypatch):
    """Which requests were answered the short way, by their names."""
    names = []
    answer = plain_requests._answer

    def noted(status, value, *, allow):
        names.append(allow.split(",")[0])
        return answer(status, value, allow=allow)

    monkeypatch.setattr(plain_requests, "_answer", noted)
    return names


def url(round_, name):
    return reverse(f"judging-api:{name}", args=[round_.project.slug, round_.pk])


def get(client, round_, query="?n=2", accept="application/json"):
    return client.get(url(round_, "pairs") + query, headers={"Accept": accept})


def post(client, round_, accept="application/json", **body):
    body = {"grade": 2, "idempotency_key": f"key-{body.get('seat')}", **body}
    path = url(round_, "judgements")
    return client.post(path, json.dumps(body), content_type="application/json", headers={"Accept": accept})


def headers_of(answer) -> dict:
    return {name: value for name, value in answer.headers.items() if name not in CHANGING}


@pytest.mark.parametrize("query", ["", "?n=1", "?n=2", "?n=20"])
def test_pairs_are_those_of_the_view(client, round_, mara, answered, query):
    short, full = get(client, round_, query), get(client, round_, query, BY_THE_VIEW)

    assert answered == ["GET"]
    assert short.json() == full.json()
    assert short.content == full.content
    assert (short.status_code, headers_of(short)) == (full.status_code, headers_of(full))


def test_documents_of_one_title_are_told_apart_as_by_the_view(client, round_, mara, answered):
    Document.objects.update(title="Handbook")

    short, full = get(client, round_, "?n=6"), get(client, round_, "?n=6", BY_THE_VIEW)

    assert answered == ["GET"]
    assert short.json() == full.json()


def test_a_grade_is_answered_as_by_the_view(client, round_, mara, answered):
    first, second = (pair["seat"] for pair in get(client, round_).json()["pairs"])

    short = post(client, round_, seat=first, note="Says it.", active_ms=900)
    full = post(client, round_, BY_THE_VIEW, seat=second, note="Says it.", active_ms=900)

    assert answered == ["GET", "POST"]
    assert (short.status_code, headers_of(short)) == (full.status_code, headers_of(full))
    one, other = short.json(), full.json()
    assert list(one) == list(other)
    assert {**one, "id": 0, "seat": 0, "given_at": 0} == {**other, "id": 0, "seat": 0, "given_at": 0}
    assert one["given_at"].endswith("+05:30")
    rows = [
        {name: value for name, value in row.items() if name not in ("id", "seat_id", "entry_id", "given_at")}
        for row in Judgement.objects.order_by("pk").values()
    ]
    assert {**rows[0], "idempotency_key": ""} == {**rows[1], "idempotency_key": ""}


def test_the_same_key_again_gets_the_same_answer(client, round_, mara, answered):
    seat = get(client, round_).json()["pairs"][0]["seat"]

    first, again = post(client, round_, seat=seat), post(client, round_, seat=seat)

    assert answered == ["GET", "POST"]
    assert (first.status_code, first.json()) == (again.status_code, again.json())


@pytest.mark.parametrize(
    "body",
    [
        {"grade": 2.0}, {"grade": True}, {"grade": "2"}, {"spans": [[0, 3]]}, {"note": "a\u0000b"}, {"note": " so "},
        {"idempotency_key": " k "}, {"cant_judge": "bored", "grade": None}, {"active_ms": -1}, {"again": "no"},
        {"more": 1}, {"note": "x" * 20_000}, {"grade": 9},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_not_plain_is_answered_by_the_view(client, round_, mara, answered, body):
    seat = get(client, round_).json()["pairs"][0]["seat"]
    answered.clear()

    post(client, round_, seat=seat, **body)

    assert answered == []


@pytest.mark.parametrize("query", ["?n=0", "?n=21", "?n=two", "?n=1&n=2", "?format=json", "?n=%31"])
def test_other_questions_are_answered_by_the_view(client, round_, mara, answered, query):
    get(client, round_, query)

    assert answered == []


def leave(round_, mara):
    Membership.objects.filter(user=mara).update(ended_at=timezone.now())


def deactivate(round_, mara):
    mara.is_active, mara.deactivated_at = False, timezone.now()
    mara.save()


def choose_another_password(round_, mara):
    mara.set_password("another password entirely")
    mara.save()


def end_the_session(round_, mara):
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def sign_out(round_, mara):
    Session.objects.all().delete()


def close(round_, mara):
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=timezone.now())


def archive(round_, mara):
    archive_project(project_id=round_.project_id, actor=lead_of(round_.project), at=timezone.now())


CLOSED_DOORS = [leave, deactivate, choose_another_password, end_the_session, sign_out, close, archive]


@pytest.mark.parametrize("happens", CLOSED_DOORS, ids=lambda happens: happens.__name__)
def test_a_closed_door_counts_at_the_next_request(client, round_, mara, answered, happens):
    first, second = (pair["seat"] for pair in get(client, round_).json()["pairs"])
    assert post(client, round_, seat=first).status_code == 201
    answered.clear()

    happens(round_, mara)

    refused = post(client, round_, seat=second)
    assert refused.status_code in (401, 403, 404, 409), refused.content
    assert get(client, round_).status_code in (401, 403, 404, 409)
    assert answered == []
    assert Judgement.objects.count() == 1


def test_another_project_or_round_is_not_found(client, round_, mara, answered):
    other = make_round(make_project(), at=timezone.now())

    assert get(client, other).status_code == 404
    mixed = reverse("judging-api:pairs", args=[round_.project.slug, other.pk])
    assert client.get(mixed).status_code == 404
    assert answered == []


def test_a_grade_without_its_csrf_token_is_refused(round_, mara, client, answered):
    seat = get(client, round_).json()["pairs"][0]["seat"]
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies

    refused = post(strict, round_, seat=seat)
    strict.cookies["karat-csrf"] = "b" * 32
    body = json.dumps({"seat": seat, "grade": 2, "idempotency_key": "k"})
    taken = strict.post(
        url(round_, "judgements"), body, content_type="application/json", headers={"X-CSRFToken": "b" * 32}
    )

    assert (refused.status_code, taken.status_code) == (403, 201)
    assert answered == ["GET", "POST"]


def test_an_unknown_host_is_refused(client, round_, mara, answered, settings):
    settings.ALLOWED_HOSTS = ["karat.example"]

    assert get(client, round_).status_code == 400
    assert answered == []


def test_a_planned_round_is_answered_by_the_view(client, answered):
    round_ = make_round(queries=2, blocks=3, again=0.5, at=timezone.now())
    client.force_login(people_of(round_)[0])

    seat = get(client, round_).json()["pairs"][0]["seat"]

    assert post(client, round_, seat=seat).status_code == 201
    assert answered == []


def test_an_outage_is_answered_by_the_view(client, round_, mara, monkeypatch):
    def fail(*_, **__):
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(plain_requests, "lease_seats", fail)
    seen = []
    monkeypatch.setattr(views.PairsView, "get", lambda view, *_, **__: seen.append(view) or views.Response({}))

    assert get(client, round_).status_code == 200
    assert len(seen) == 1


def test_each_request_takes_few_statements(client, round_, mara, django_assert_num_queries):
    """Who asks; the place, the lease and the texts; the seat and the judgement. On PostgreSQL a step is one."""
    get(client, round_, "?n=1")  # the first of a session reads whose it is
    Seat.objects.update(state="open", annotator=None, lease_expires_at=None)
    savepoint, step = 2, 1 if connection.vendor == "postgresql" else 2

    with django_assert_num_queries(2 + savepoint + step):
        seat = get(client, round_, "?n=1").json()["pairs"][0]["seat"]
    with django_assert_num_queries(1 + savepoint + step):
        assert post(client, round_, seat=seat).status_code == 201
