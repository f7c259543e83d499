"""Home and the board of somebody who has reviewed for years grow with their seats, and not with the square of them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from benchmarks.many_triples import fill

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

TRIPLES = 4_000
"""Two in twenty are in review, and this person has a seat in most."""


@pytest.mark.parametrize("page", ["dashboard:home", "review:board", "review:queue"])
def test_no_statement_walks_the_seats_of_a_person_for_each_triple(page):
    project, chief = fill(TRIPLES)
    client = Client()
    client.force_login(chief)
    address = reverse(page, args=[project.slug])
    client.get(address)

    with CaptureQueriesContext(connection) as asked:
        client.get(address)

    assert max(float(each["time"]) for each in asked.captured_queries) < 0.25
