"""Stability reports: their figures and their page; and the interval over queries and people."""

import pytest
from django.db import connection
from django.urls import reverse

from apps.accounts.enums import Role
from apps.common.database import triggers
from apps.judging.enums import RoundState
from apps.reports.models import StabilityReport
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score
from tests.factories import make_member
from tests.reading import words
from tests.reports.factories import USUAL, compute

pytestmark = pytest.mark.django_db
DECIDED = qrels_of(6)
# Anna says what was decided; for Bert it is the other way round, so that the worse run leads.
ANNA = DECIDED
BERT = {query: {"a": 0, "b": 1, "c": 3} for query in DECIDED}
SCENE = {"qrels": DECIDED, "ratings": {"Anna": ANNA, "Bert": BERT}, "test_share": 0.0}


def test_a_report_by_hand(scene):
    """By RR "better" (a, b, c, d) is 1, "base" (d, c, b, a) 1/3; for Bert, to whom c and b are relevant, 1/2 each."""
    result = compute(StabilityReport, scene).result

    people = [scene.version.rounds.get().annotators.get(annotator__name=name).annotator_id for name in ("Anna", "Bert")]
    assert result["people"] == sorted(people)
    assert (result["grades"], result["shared"]) == (18, 18)
    assert [run["tag"] for run in result["runs"]] == ["base", "better"]
    found = {(each["kind"], *(result["people"][at] for at in each["people"])): each for each in result["grounds"]}
    anna, bert = ("person", people[0]), ("person", people[1])
    assert (found[anna]["graded"], found[anna]["changed"]) == (18, 0)
    assert (found[bert]["graded"], found[bert]["changed"]) == (18, 12)
    means = {key: [mean for mean, _ in found[key]["orders"][1]["means"]] for key in (("released",), anna, bert)}
    assert means == {("released",): [1 / 3, 1.0], anna: [1 / 3, 1.0], bert: [0.5, 0.5]}
    assert found[anna]["orders"][0]["tau"] == 1.0
    assert found[bert]["orders"][0]["tau"] == -1.0
    (swap,) = found[bert]["orders"][0]["swaps"]
    assert (swap["ahead"], swap["behind"]) == (1, 0)
    assert {key[0] for key in found} == {"released", "person", "higher", "lower"}
    assert [row["orders"][0]["tau"] for row in result["between"]] == [-1.0]


def test_a_pair_that_one_person_graded_keeps_the_others_released_grade():
    half = {"Q01": BERT["Q01"]}
    scene = make_scene(qrels=DECIDED, ratings={"Anna": ANNA, "Bert": half}, test_share=0.0)

    result = compute(StabilityReport, scene).result

    graded = sorted((ground["graded"], ground["changed"]) for ground in result["grounds"] if ground["kind"] == "person")
    assert graded == [(3, 2), (18, 0)]
    assert result["shared"] == 3


def test_grades_without_a_name_leave_nobody_to_score_under():
    result = compute(StabilityReport, make_scene(queries=4, test_share=0.0)).result

    assert (result["people"], result["shared"], len(result["grounds"])) == ([], 0, 1)


def page(client, scene, report, person, **query):
    client.force_login(person)
    return client.get(reverse("reports:stability", args=[scene.project.slug, report.pk]), query)


def test_the_page_says_who_turns_the_order_in_names_for_leads_and_letters_for_others(scene, client):
    report = compute(StabilityReport, scene)

    lead = words(page(client, scene, report, scene.lead))
    viewer = words(page(client, scene, report, make_member(scene.project, Role.VIEWER)))

    assert "better is ahead of base by nDCG@10, and behind it under the grades of Bert" in lead
    assert "the higher grades of Anna and Bert" in lead
    assert "Anna" not in viewer
    assert "Bert" not in viewer
    assert "under the grades of Person B" in viewer


def test_the_page_of_another_measure(scene, client):
    said = words(page(client, scene, compute(StabilityReport, scene), scene.lead, measure="RR"))

    assert "The order of 2 runs by RR is the same under the grades of each of 2 people." in said
    assert "not defined: all runs tie" in said


def test_the_page_says_when_nobody_is_known(client):
    scene = make_scene(queries=4, test_share=0.0)

    assert "have no names" in words(page(client, scene, compute(StabilityReport, scene), scene.lead))


def set_rounds(version, state) -> None:
    """A version whose round is open yet: no row gets there from a closed one while the guards stand."""
    connection.check_constraints()  # PostgreSQL alters no table with checks of foreign keys still to come
    statements = triggers.drop_all(connection)
    version.rounds.update(state=state)
    connection.check_constraints()
    triggers.restore_all(connection, statements)


@pytest.mark.parametrize("roles", [[Role.VIEWER], [Role.VIEWER, Role.ANNOTATOR]])
def test_while_a_round_is_open_what_each_ones_grades_do_is_for_leads(scene, client, roles):
    report = compute(StabilityReport, scene)
    both = make_member(scene.project, *roles)
    set_rounds(scene.version, RoundState.OPEN)

    refused = page(client, scene, report, both)
    api = client.get(reverse("reports-api:stability", args=[scene.project.slug, report.pk]))

    assert (refused.status_code, api.status_code) == (409, 409)
    assert "Agreement in a round is shown once a lead closes it." in words(refused)
    set_rounds(scene.version, RoundState.CLOSED)
    assert page(client, scene, report, both).status_code == 200


def test_api_clients_read_letters_where_they_may_not_read_names(scene, client):
    report = compute(StabilityReport, scene)
    people = {}
    for role, person in (("lead", scene.lead), ("viewer", make_member(scene.project, Role.VIEWER))):
        client.force_login(person)
        read = client.get(reverse("reports-api:stability", args=[scene.project.slug, report.pk])).json()
        people[role] = read["result"]["people"]

    assert people == {"lead": ["Anna", "Bert"], "viewer": ["Person A", "Person B"]}


def test_a_score_has_an_interval_over_people_that_ends_where_the_measure_does(scene):
    """Anna and Bert turn the order: two people who differ so much leave any mean possible.

    All queries score alike: without people the interval is narrow.
    """
    evaluation = score(scene, "base", measures=USUAL[StabilityReport]["measures"])

    row, judged = (evaluation.scores.get(measure=name) for name in ("nDCG@10", "Judged@10"))
    assert row.ci_low < row.mean < row.ci_high < row.ci_low + 0.4
    assert (row.people_low, row.people_high) == (0.0, 1.0)
    assert (judged.people_low, judged.people_high) == (None, None)
    assert (evaluation.counts["people"], evaluation.counts["shared"]) == (2, 18)


def test_people_who_agree_leave_the_interval_of_the_queries():
    qrels = {**qrels_of(5), "Q06": {"a": 0, "b": 0, "c": 1}}
    runs = {"mixed": {query: GOOD if query < "Q04" else BAD for query in qrels}}
    scene = make_scene(qrels=qrels, runs=runs, ratings={"Anna": qrels, "Bert": qrels}, test_share=0.0)

    row = score(scene, "mixed", measures="RR").scores.get(measure="RR")

    assert (row.people_low, row.people_high) == pytest.approx((row.ci_low, row.ci_high))


def test_without_a_second_grade_there_is_no_such_interval():
    scene = make_scene(queries=4, test_share=0.0)

    row = score(scene, "base", measures="RR").scores.get(measure="RR")

    assert (row.people_low, row.people_high) == (None, None)
    assert row.ci_low is not None
