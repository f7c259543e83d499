"""The rounds of a project over the API, for leads: listed, opened after a pilot, closed."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.judging.models import PilotDecision
from tests.factories import lead_of
from tests.judging.factories import judge_all, make_pool, make_round, people_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_():
    return make_round(queries=4, blocks=3, annotators=2, overlap=0.0, pilot=2, pilot_bar=0.7)


@pytest.fixture
def lead(client, round_):
    """Asks as the lead, an endpoint by its name."""
    client.force_login(lead_of(round_.project))

    def ask(name: str, body: dict | None = None, *ids):
        address = reverse(f"judging-api:{name}", args=[round_.project.slug, *ids])
        return client.get(address) if body is None else client.post(address, body, content_type="application/json")

    return ask


def test_every_round_is_listed_with_its_seats_counted(round_, lead):
    judge_all(round_, people_of(round_)[0])

    (row,) = lead("all-rounds").json()["rounds"]

    assert (row["round"]["id"], row["round"]["state"], row["round"]["pool"]) == (round_.pk, "open", round_.pool_id)
    assert (row["done"], row["people"]) == (6, 2)
    assert row["planned"] >= 12


def test_the_list_asks_as_much_for_three_rounds_as_for_one(round_, lead, django_assert_num_queries):
    with CaptureQueriesContext(connection) as for_one:
        lead("all-rounds")
    for _ in range(2):
        make_round(round_.project, pool=make_pool(round_.project))

    with django_assert_num_queries(len(for_one)):
        assert len(lead("all-rounds").json()["rounds"]) == 3


def test_the_rest_is_opened_for_a_reason_and_once(round_, lead):
    without = lead("open-the-rest", {"reason": "  "}, round_.pk)
    opened = lead("open-the-rest", {"reason": "The guideline was read together."}, round_.pk)
    again = lead("open-the-rest", {"reason": "Once more."}, round_.pk)

    assert [each.status_code for each in (without, opened, again)] == [409, 200, 409]
    assert again.json()["code"] == "pilot_not_open"
    assert PilotDecision.objects.get().reason == "The guideline was read together."


def test_a_round_is_closed_once(round_, lead):
    closed = lead("close", {}, round_.pk)
    again = lead("close", {}, round_.pk)

    assert (closed.status_code, closed.json()["state"]) == (200, "closed")
    assert (again.status_code, again.json()["code"]) == (409, "round_not_closable")
    assert lead("all-rounds").json()["rounds"][0]["round"]["closed_at"] is not None
