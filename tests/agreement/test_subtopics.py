"""How far judges agree which subtopics a passage answers."""

import csv
import io

import pytest
from django.urls import reverse

from apps.agreement.selectors.agreement import subtopic_agreement
from apps.judging.actions.rounds import close_round
from tests.factories import AT, lead_of
from tests.judging.factories import entries_of
from tests.judging.test_facets import faceted, give_both

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_():
    """Of three passages both name "a" for the first, neither for the second, and one of them for the third."""
    made = faceted(overlap=1.0)
    answers = [((2, ["a"]), (3, ["a"])), ((1, []), (2, [])), ((2, ["a", "b"]), (2, ["b"]))]
    for entry, both in zip(entries_of(made), answers, strict=True):
        give_both(made, entry, *both)
    return close_round(round_id=made.pk, actor=lead_of(made.project), at=AT)


def test_it_is_the_kappa_of_each_subtopic_and_of_all_together(round_):
    """By hand for a: 2 of 3 agree, half of the answers name it, so that chance agrees on half."""
    found = subtopic_agreement(round_.project, [round_])

    a, b = found.rows
    assert (a.facet, a.kappa.value, a.kappa.n, a.answered, a.asked) == (
        "a",
        pytest.approx((2 / 3 - 0.5) / 0.5),
        3,
        3,
        6,
    )
    assert (b.facet, b.kappa.value, b.kappa.n, b.answered) == ("b", 1.0, 3, 2)
    share = 5 / 12
    chance = share**2 + (1 - share) ** 2
    assert found.pooled.value == pytest.approx((5 / 6 - chance) / (1 - chance))
    assert (found.pooled.n, found.pooled.clusters) == (6, 1)


def test_nobody_was_asked_twice_without_an_overlap():
    made = faceted(annotators=1, overlap=0.0)

    assert subtopic_agreement(made.project, [made]) == (None, [])


def test_the_page_the_file_and_the_api_have_it(round_, client):
    client.force_login(lead_of(round_.project))
    slug = round_.project.slug

    page = client.get(reverse("agreement:overview", args=[slug])).content.decode()
    rows = list(
        csv.DictReader(
            io.StringIO(client.get(reverse("agreement:subtopics-file", args=[slug])).content.decode("utf-8-sig"))
        )
    )
    api = client.get(reverse("agreement-api:agreement", args=[slug])).json()["subtopics"]

    assert "Subtopics, between judges" in page
    assert "When accounts are closed" in page
    assert [(row["facet"], float(row["kappa"]), row["passages"]) for row in rows] == [
        ("a", pytest.approx(1 / 3), "3"),
        ("b", 1.0, "3"),
    ]
    assert [one["facet"] for one in api["subtopics"]] == ["a", "b"]
    assert api["pooled"]["n"] == 6
