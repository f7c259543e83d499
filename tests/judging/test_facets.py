"""Judging by subtopics: what a grade may name, what it fixes, and which subtopics a pair has in the end."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from apps.common.errors import Refusal
from apps.judging.actions.adjudication import adjudicate, decide_held
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.core.resolution import settled_facets
from apps.judging.models import Adjudication, HeldDecision, Judgement
from apps.judging.selectors.pairs import live_judgements, resolved_grades
from apps.queries.actions.queries import edit_query
from apps.queries.models import Query
from tests.factories import AT, lead_of
from tests.judging.factories import entries_of, give, make_round, people_of
from tests.judging.test_api import get_pairs, post
from tests.module_rows import rows_of_module

FACETS = [{"id": "a", "words": "When accounts are closed"}, {"id": "b", "words": "Who closes them"}]


def faceted(**plan):
    round_ = make_round(queries=1, blocks=3, **plan)
    edit_query(query_id=Query.objects.get().pk, actor=lead_of(round_.project), at=AT, facets=FACETS)
    return round_


@rows_of_module
def round_():
    return faceted(overlap=1.0)


@pytest.fixture
def people(round_):
    return people_of(round_)


def seat_of(round_, person, entry):
    while seats := claim_seats(round_=round_, annotator=person, n=10, at=AT):
        return next(seat for seat in seats if seat.entry_id == entry.pk)


def give_both(round_, entry, *answers):
    """What both people answer on a pair: a grade and the subtopics."""
    for person, (grade, facets) in zip(people_of(round_), answers, strict=True):
        give(seat_of(round_, person, entry), person, grade, facets=facets)


pytestmark = pytest.mark.django_db


def test_a_grade_names_subtopics_in_the_order_of_the_query_and_fixes_them(round_, people):
    seat = claim_seats(round_=round_, annotator=people[0], n=1, at=AT)[0]

    given = give(seat, people[0], 2, facets=["b", "a"])

    given.refresh_from_db()
    assert given.facets == ["a", "b"]
    assert Query.objects.get().facets_locked_at == AT
    again = give(seat, people[0], 1, facets=[])
    assert (again.supersedes, again.facets) == (given, [])
    assert list(live_judgements(round_).values_list("facets", flat=True)) == [[]]


@pytest.mark.parametrize(
    ("grade", "facets", "said"),
    [(2, ["c"], "no subtopic c"), (0, ["a"], "from 1 on"), (None, ["a"], "from 1 on")],
)
def test_what_a_grade_cannot_name_is_refused_and_fixes_nothing(round_, people, grade, facets, said):
    seat = claim_seats(round_=round_, annotator=people[0], n=1, at=AT)[0]

    with pytest.raises(Refusal, match=said) as refusal:
        give(seat, people[0], grade, facets=facets)

    assert refusal.value.code == "facets_wrong"
    assert Query.objects.get().facets_locked_at is None


def test_an_answer_from_who_was_not_asked_says_nothing_of_subtopics(round_, people):
    first, second = claim_seats(round_=round_, annotator=people[0], n=2, at=AT)

    assert give(first, people[0], 2).facets is None
    assert give(second, people[0], None, facets=None).facets is None
    assert Query.objects.get().facets_locked_at is None
    plain = make_round(round_.project, queries=1, overlap=0.0)
    one = claim_seats(round_=plain, annotator=people_of(plain)[0], n=1, at=AT)[0]
    assert give(one, people_of(plain)[0], 2, facets=[]).facets is None


def test_one_key_is_for_one_choice_of_subtopics(round_, people):
    seat = claim_seats(round_=round_, annotator=people[0], n=1, at=AT)[0]
    first = give(seat, people[0], 2, key="k", facets=["a"])

    assert give(seat, people[0], 2, key="k", facets=["a"]) == first
    with pytest.raises(Refusal, match="used for another grade"):
        give(seat, people[0], 2, key="k", facets=["b"])


@pytest.mark.parametrize("values", ["2, '', '[\"a\"]'", "0, '', '[\"a\"]'", "NULL, 'unreadable', '[]'"])
def test_the_database_refuses_subtopics_that_no_grade_can_name(round_, people, values):
    seat = claim_seats(round_=round_, annotator=people[0], n=1, at=AT)[0]
    if not values.startswith("2"):
        Query.objects.update(facets_locked_at=AT)

    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO judging_judgement (round_id, seat_id, entry_id, annotator_id, pass_number, grade, cant_judge,"
            f" facets, note, spans, idempotency_key, given_at) VALUES (%s, %s, %s, %s, 1, {values}, '', '[]', 'k', %s)",
            [round_.pk, seat.pk, seat.entry_id, people[0].pk, AT],
        )
    assert not Judgement.objects.exists()


def test_the_api_shows_the_subtopics_and_takes_them(client, round_, people):
    client.force_login(people[0])
    (pair,) = get_pairs(client, round_, n=1).json()["pairs"]
    assert pair["query"]["facets"] == FACETS

    body = {"seat": pair["seat"], "grade": 3, "facets": ["b"], "idempotency_key": "k"}
    given, again = post(client, round_, **body), post(client, round_, **body)
    wrong = post(client, round_, **body | {"facets": ["z"], "idempotency_key": "l"})

    assert (given.status_code, given.json()["facets"], again.json()) == (201, ["b"], given.json())
    assert (wrong.status_code, wrong.json()["code"]) == (409, "facets_wrong")


@pytest.mark.parametrize(
    ("given", "grade", "settled"),
    [
        ([["a"]], 2, ["a"]),
        ([["a"], ["b"]], 2, ["a", "b"]),
        ([["a"], ["a", "b"], []], 2, ["a"]),
        ([["a"], None], 2, ["a"]),
        ([["a"], ["b"]], 0, []),
        ([["a"], ["b"]], None, None),
        ([None, None], 2, None),
        ([[], []], 1, []),
    ],
)
def test_a_subtopic_counts_when_at_least_half_of_those_asked_chose_it(given, grade, settled):
    assert settled_facets(given, grade) == settled


def test_a_pair_has_the_subtopics_of_its_judges_and_then_those_of_the_lead(client, round_, people):
    agreed, apart, left = entries_of(round_)
    give_both(round_, agreed, (2, ["a"]), (2, ["b"]))
    give_both(round_, apart, (1, ["a"]), (3, []))
    give_both(round_, left, (0, []), (3, ["b"]))
    lead = lead_of(round_.project)
    client.force_login(lead)

    page = reverse("judging:adjudicate-pair", args=[round_.project.slug, round_.pk, apart.pk])
    text = client.get(page).content.decode()
    assert text.count('<li class="tag" dir="auto">When accounts are closed</li>') == 1
    assert '<li class="faint">no subtopic</li>' in text
    assert 'value="a" form="holding" checked' in text
    assert 'value="b" form="holding">' in text
    client.post(page, {"hold": "2", "has_facets": "1", "facets": ["b"]})
    assert HeldDecision.objects.get().facets == ["b"]
    decide_held(round_=round_, entries=[apart.pk], lead=lead, reason="Read again.", error_type="slip", at=AT)
    adjudicate(round_=round_, entry=left, adjudicator=lead, grade=3, reason="It does.", error_type="slip", at=AT)
    close_round(round_id=round_.pk, actor=lead, at=AT)

    found = {pair.entry_id: (pair.grade, pair.facets) for pair in resolved_grades(round_)}
    assert found == {agreed.pk: (2, ["a", "b"]), apart.pk: (2, ["b"]), left.pk: (3, ["b"])}
    with pytest.raises(Refusal, match="no subtopic z"):
        adjudicate(
            round_=round_, entry=left, adjudicator=lead, grade=2, reason="x", error_type="slip", facets=["z"], at=AT
        )
    assert Adjudication.objects.count() == 2
