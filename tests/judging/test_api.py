"""Judging over HTTP, as machines and the screen's script do it."""

import json

import pytest
from django.urls import reverse

from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement
from tests.factories import AT
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=3, overlap=1.0)


@pytest.fixture
def mara(round_, client):
    mara = people_of(round_)[0]
    client.force_login(mara)
    return mara


def url(round_, name):
    return reverse(f"judging-api:{name}", args=[round_.project.slug, round_.pk])


def get_pairs(client, round_, **query):
    return client.get(url(round_, "pairs"), query)


def post(client, round_, **body):
    return client.post(url(round_, "judgements"), json.dumps(body), content_type="application/json")


def test_an_annotator_sees_the_rounds_they_were_assigned_to(client, round_, mara):
    other = make_round(round_.project)

    answer = client.get(reverse("judging-api:rounds", args=[round_.project.slug])).json()

    assert [row["id"] for row in answer["rounds"]] == [round_.pk]
    assert get_pairs(client, other).status_code == 404


def test_pairs_contain_query_and_block_without_provenance(client, round_, mara):
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]

    assert set(pair) == {"seat", "query", "block"}
    assert set(pair["query"]) == {"id", "text", "intent", "description", "facets"}
    assert set(pair["block"]) == {
        "id", "document", "title", "section", "page_start", "page_end", "text", "digest",
    }  # fmt: skip


def test_a_grade_is_taken_once_and_answered_the_same_each_time(client, round_, mara):
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]
    body = {"seat": pair["seat"], "grade": 2, "note": "Names it.", "spans": [[0, 8]], "idempotency_key": "k"}

    first, again = post(client, round_, **body), post(client, round_, **body)

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    judgement = Judgement.objects.get()
    assert (judgement.annotator, judgement.grade, judgement.spans) == (mara, 2, [[0, 8]])


def test_the_key_may_come_as_a_header(client, round_, mara):
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]
    body = json.dumps({"seat": pair["seat"], "cant_judge": "needs_expert"})

    for _ in range(2):
        answer = client.post(
            url(round_, "judgements"), body, content_type="application/json", headers={"Idempotency-Key": "h"}
        )
        assert answer.status_code == 201

    assert Judgement.objects.get().cant_judge == "needs_expert"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"grade": 2, "idempotency_key": "k"}, 400),
        ({"seat": "x", "grade": 2, "idempotency_key": "k"}, 400),
        ({"seat": 10**15, "grade": 2, "idempotency_key": "k"}, 404),
        ({"seat": 10**30, "grade": 2, "idempotency_key": "k"}, 400),
        ({"seat": 0, "grade": 2, "idempotency_key": "k"}, 400),
        ({"grade": 2}, 400),
        ({"grade": 2, "idempotency_key": ""}, 400),
        ({"grade": 2, "idempotency_key": "k" * 65}, 400),
        ({"cant_judge": "bored", "idempotency_key": "k"}, 400),
        ({"grade": 1.5, "idempotency_key": "k"}, 400),
        ({"grade": 10**12, "idempotency_key": "k"}, 409),
        ({"grade": 2, "active_ms": -1, "idempotency_key": "k"}, 400),
        ({"grade": 9, "idempotency_key": "k"}, 409),
        ({"idempotency_key": "k"}, 409),
        ({"grade": 2, "cant_judge": "unreadable", "idempotency_key": "k"}, 409),
        ({"grade": 2, "spans": [[0, 99999]], "idempotency_key": "k"}, 409),
        ({"grade": 2, "spans": {"start": 1}, "idempotency_key": "k"}, 409),
        ({"grade": 2, "note": "a\u0000b", "idempotency_key": "k"}, 400),
    ],
)
def test_an_invalid_grade_is_rejected_in_words(client, round_, mara, body, status):
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]
    if body and "idempotency_key" in body and body != {"grade": 2, "idempotency_key": "k"}:
        body = {"seat": pair["seat"], **body}

    answer = post(client, round_, **body)

    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("body", ["[]", "3", '"x"', "null", "not json"])
def test_a_body_that_is_not_an_object_is_rejected(client, round_, mara, body):
    answer = client.post(url(round_, "judgements"), body, content_type="application/json")

    assert answer.status_code == 400


@pytest.mark.parametrize("n", ["0", "21", "-1", "x", "1.5", "²", "9" * 40])
def test_a_senseless_number_of_pairs_is_refused(client, round_, mara, n):
    assert get_pairs(client, round_, n=n).status_code == 400


def test_fields_that_nobody_may_set_are_left_alone(client, round_, mara):
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]
    sef = people_of(round_)[1]

    post(
        client, round_, seat=pair["seat"], grade=1, idempotency_key="k", annotator=sef.pk, annotator_id=sef.pk,
        round=99, given_at="2001-01-01", supersedes=1, pass_number=5, guideline=None,
    )  # fmt: skip

    judgement = Judgement.objects.get()
    assert (judgement.annotator, judgement.pass_number, judgement.supersedes) == (mara, 1, None)
    assert judgement.given_at.year > 2001


def test_another_rounds_seat_is_not_found(client, round_, mara):
    other = make_round(round_.project, annotators=[mara], overlap=0.0)
    seat = claim_seats(round_=other, annotator=mara, n=1, at=AT)[0]

    assert post(client, round_, seat=seat.pk, grade=1, idempotency_key="k").status_code == 404
