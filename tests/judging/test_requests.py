"""The two requests of the judging screen: behind the doors of every endpoint, and in few statements."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.projects import archive_project
from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.accounts.models import Membership
from apps.corpus.models import Document
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement, Seat
from apps.judging.selectors.reading import readings
from tests.factories import lead_of, make_project
from tests.judging.factories import make_round, people_of
from tests.judging.kinds import KINDS, round_of_kind
from tests.test_statements import Statements

pytestmark = pytest.mark.django_db

IS_LOCKING = connection.vendor == "postgresql"
"""Which locks a person's place, and their role, by a statement of its own."""


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


def url(round_, name):
    return reverse(f"judging-api:{name}", args=[round_.project.slug, round_.pk])


def get(client, round_, n=2, **headers):
    return client.get(url(round_, "pairs"), {"n": n}, headers=headers)


def post(client, round_, headers=None, **body):
    body = {"grade": 2, "idempotency_key": f"key-{body.get('seat')}", **body}
    return client.post(
        url(round_, "judgements"), json.dumps(body), content_type="application/json", headers=headers or {}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_come_in_the_order_and_under_the_names_of_the_page(client, kind):
    round_ = round_of_kind(kind, at=timezone.now())
    mara = people_of(round_)[0]
    client.force_login(mara)
    Document.objects.update(title="Handbook")

    for _ in range(3):
        pairs = get(client, round_, n=3).json()["pairs"]
        seats = claim_seats(round_=round_, annotator=mara, n=3, at=timezone.now())
        shown = readings(seats, annotator_id=mara.pk)
        assert [(pair["seat"], pair["query"]["text"], pair["block"]["document"]) for pair in pairs] == [
            (reading.seat_id, reading.query.text, reading.document) for reading in shown
        ]
        assert all(post(client, round_, seat=pair["seat"]).status_code == 201 for pair in pairs[:1])


def test_a_grade_is_answered_in_ones_own_time_zone(client, round_, mara):
    seat = get(client, round_).json()["pairs"][0]["seat"]

    given = post(client, round_, seat=seat, note=" Says it. ", active_ms=900).json()

    assert given.pop("given_at").endswith("+05:30")
    assert given == {
        "id": Judgement.objects.get().pk, "seat": seat, "grade": 2, "cant_judge": "", "note": "Says it.", "spans": [],
        "facets": None, "supersedes": None,
    }  # fmt: skip


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
def test_a_closed_door_counts_at_the_next_request(client, round_, mara, happens):
    first, second = (pair["seat"] for pair in get(client, round_).json()["pairs"])
    assert post(client, round_, seat=first).status_code == 201

    happens(round_, mara)

    refused = post(client, round_, seat=second)
    assert refused.status_code in (401, 403, 404, 409), refused.content
    assert refused["Content-Type"] == "application/problem+json"
    assert get(client, round_).status_code in (401, 403, 404, 409)
    assert Judgement.objects.count() == 1


def test_another_project_or_round_is_not_found(client, round_, mara):
    other = make_round(make_project(), at=timezone.now())

    assert get(client, other).status_code == 404
    mixed = reverse("judging-api:pairs", args=[round_.project.slug, other.pk])
    assert client.get(mixed).status_code == 404
    assert client.get(mixed.replace(str(other.pk), "9" * 30)).status_code == 404


def test_a_grade_of_a_session_without_its_csrf_token_is_refused(round_, mara, client):
    seat = get(client, round_).json()["pairs"][0]["seat"]
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies

    refused = post(strict, round_, seat=seat)
    strict.cookies["karat-csrf"] = "b" * 32
    taken = post(strict, round_, seat=seat, headers={"X-CSRFToken": "b" * 32})

    assert (refused.status_code, taken.status_code) == (403, 201)


@pytest.mark.parametrize(("scope", "status"), [(Scope.JUDGING_WRITE, 201), (Scope.RUNS_WRITE, 403)])
def test_a_token_needs_its_scope_and_no_csrf_token(round_, scope, status):
    mara, now = people_of(round_)[0], timezone.now()
    (seat,) = claim_seats(round_=round_, annotator=mara, n=1, at=now)
    _, secret = create_token(
        project=round_.project, user=mara, name="t", scopes=[scope], at=now, lasts=timedelta(days=1)
    )
    by_token = {"Authorization": f"Bearer {secret}"}
    strict = Client(enforce_csrf_checks=True)

    assert get(strict, round_, **by_token).status_code == (200 if status == 201 else status)
    assert post(strict, round_, seat=seat.pk, headers=by_token).status_code == status
    assert post(strict, make_round(at=now), seat=seat.pk, headers=by_token).status_code == 404


def test_an_unknown_host_is_refused(client, round_, mara, settings):
    settings.ALLOWED_HOSTS = ["karat.example"]

    assert get(client, round_).status_code == 400


def test_a_session_of_an_earlier_version_goes_on(client, round_, mara):
    session = client.session
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session.save()

    assert get(client, round_).status_code == 200


def test_each_request_takes_few_statements(client, round_, mara):
    """Whose session, who that is, in which round; the place, the lease, the texts; what is there, seat and grade."""
    get(client, round_, n=1)
    Seat.objects.update(state="open", annotator=None, lease_expires_at=None)

    with Statements() as fetching:
        seat = get(client, round_, n=1).json()["pairs"][0]["seat"]
    with Statements() as grading:
        assert post(client, round_, seat=seat).status_code == 201

    assert (fetching.number, grading.number) == (6 + IS_LOCKING, 6 + IS_LOCKING)
