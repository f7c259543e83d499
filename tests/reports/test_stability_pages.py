"""Stability reports from asking to the page, and the interval over queries and people."""

from copy import deepcopy

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.database import triggers
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.judging.enums import RoundState
from apps.reports.actions.analyses import request_report
from apps.reports.models import StabilityReport
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score
from tests.factories import AT, lead_of, make_member, make_project
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
MEASURES = "nDCG@10 RR"
DECIDED = qrels_of(6)
# Anna says what was decided; for Bert it is the other way round, so that the worse run leads.
ANNA = DECIDED
BERT = {query: {"a": 0, "b": 1, "c": 3} for query in DECIDED}


@pytest.fixture(scope="module")
def _scene(module_rows):
    return make_scene(qrels=DECIDED, ratings={"Anna": ANNA, "Bert": BERT}, test_share=0.0)


@pytest.fixture
def scene(db, _scene):
    return deepcopy(_scene)


def request_stability(scene, **options) -> StabilityReport:
    return request_report(
        **{
            "kind": StabilityReport,
            "project": scene.project,
            "run_ids": [run.pk for run in scene.runs.values()],
            "version_id": scene.version.pk,
            "measures": MEASURES,
            "actor": scene.lead,
            "at": AT,
            **options,
        }
    )


def compute(scene, **options) -> StabilityReport:
    report = request_stability(scene, **options)
    run_jobs()
    report.refresh_from_db()
    assert report.is_computed, report.job.error
    return report


def test_a_report_by_hand(scene):
    """By RR "better" (a, b, c, d) is 1, "base" (d, c, b, a) 1/3; for Bert, to whom c and b are relevant, 1/2 each."""
    result = compute(scene).result

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

    result = compute(scene).result

    graded = sorted((ground["graded"], ground["changed"]) for ground in result["grounds"] if ground["kind"] == "person")
    assert graded == [(3, 2), (18, 0)]
    assert result["shared"] == 3


def test_grades_without_a_name_leave_nobody_to_score_under():
    result = compute(make_scene(queries=4, test_share=0.0)).result

    assert (result["people"], result["shared"], len(result["grounds"])) == ([], 0, 1)


def test_requesting_again_adds_no_rows(scene):
    report = compute(scene)
    counted = StabilityReport.objects.count(), scene.project.jobs.count(), Event.objects.count()

    again = request_stability(scene, run_ids=[run.pk for run in reversed(scene.runs.values())], measures="RR nDCG@10")

    assert again.pk == report.pk
    assert (StabilityReport.objects.count(), scene.project.jobs.count(), Event.objects.count()) == counted
    assert request_stability(scene, split="dev").pk != report.pk
    assert request_stability(scene, measures="RR").pk != report.pk


def test_a_report_that_is_computed_never_changes(scene):
    report = compute(scene)

    for change in (lambda rows: rows.update(result={}), lambda rows: rows.delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            change(StabilityReport.objects.filter(pk=report.pk))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"run_ids": []}, "Choose at least two"),
        ({"split": "train"}, "no split called train"),
        ({"measures": "nope"}, "not a measure"),
        ({"measures": "AP Judged@10"}, "Judged@10 measures how much was judged"),
    ],
)
def test_what_cannot_be_reported_is_refused(scene, options, said):
    with pytest.raises(EvaluationRefused, match=said):
        request_stability(scene, **options)


def page(client, scene, report, person, **query):
    client.force_login(person)
    return client.get(reverse("reports:stability", args=[scene.project.slug, report.pk]), query)


def words(response) -> str:
    return " ".join(response.content.decode().split()).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_who_turns_the_order_in_names_for_leads_and_letters_for_others(scene, client):
    report = compute(scene)

    lead = words(page(client, scene, report, scene.lead))
    viewer = words(page(client, scene, report, make_member(scene.project, Role.VIEWER)))

    assert "better is ahead of base by nDCG@10, and behind it under the grades of Bert" in lead
    assert "the higher grades of Anna and Bert" in lead
    assert "Anna" not in viewer
    assert "Bert" not in viewer
    assert "under the grades of Person B" in viewer


def test_the_page_of_another_measure(scene, client):
    said = words(page(client, scene, compute(scene), scene.lead, measure="RR"))

    assert "The order of 2 runs by RR is the same under the grades of each of 2 people." in said
    assert "not defined: all runs tie" in said


def test_the_page_says_when_nobody_is_known(client):
    scene = make_scene(queries=4, test_share=0.0)

    assert "have no names" in words(page(client, scene, compute(scene), scene.lead))


def set_rounds(version, state) -> None:
    """A version whose round is open yet: no row gets there from a closed one while the guards stand."""
    connection.check_constraints()  # PostgreSQL alters no table with checks of foreign keys still to come
    statements = triggers.drop_all(connection)
    version.rounds.update(state=state)
    connection.check_constraints()
    triggers.restore_all(connection, statements)


@pytest.mark.parametrize("roles", [[Role.VIEWER], [Role.VIEWER, Role.ANNOTATOR]])
def test_while_a_round_is_open_what_each_ones_grades_do_is_for_leads(scene, client, roles):
    report = compute(scene)
    both = make_member(scene.project, *roles)
    set_rounds(scene.version, RoundState.OPEN)

    refused = page(client, scene, report, both)
    api = client.get(reverse("reports-api:stability", args=[scene.project.slug, report.pk]))

    assert (refused.status_code, api.status_code) == (409, 409)
    assert "Agreement in a round is shown once a lead closes it." in words(refused)
    set_rounds(scene.version, RoundState.CLOSED)
    assert page(client, scene, report, both).status_code == 200


def test_annotators_and_reviewers_see_no_report(scene, client):
    report = compute(scene)

    for role in (Role.ANNOTATOR, Role.REVIEWER):
        client.force_login(make_member(scene.project, role))
        for name, args in (("stability", [report.pk]), ("stability-reports", [])):
            assert client.get(reverse(f"reports:{name}", args=[scene.project.slug, *args])).status_code == 403


def test_a_report_of_another_project_is_not_found(scene, client):
    report = compute(scene)
    other = make_project()
    client.force_login(lead_of(other))

    assert client.get(reverse("reports:stability", args=[other.slug, report.pk])).status_code == 404


def test_the_form_requests_a_report_and_waits_for_it(scene, client):
    client.force_login(scene.lead)
    url = reverse("reports:request-stability", args=[scene.project.slug, scene.version.pk])
    runs = [run.pk for run in scene.runs.values()]

    answer = client.post(url, {"runs": runs, "measures": "RR", "split": ""}, follow=True)

    assert "waiting for a worker" in answer.content.decode()
    run_jobs()
    listed = client.get(reverse("reports:stability-reports", args=[scene.project.slug]))
    assert f"Report {StabilityReport.objects.get().pk}" in listed.content.decode()
    assert client.post(url, {"runs": runs, "measures": "nope"}).status_code == 400


def queries_of(client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_the_pages_run_as_many_queries_for_three_reports_as_for_one(scene, client):
    client.force_login(scene.lead)
    report = compute(scene)
    urls = [
        reverse("reports:stability-reports", args=[scene.project.slug]),
        reverse("reports:stability", args=[scene.project.slug, report.pk]),
    ]
    one = [queries_of(client, url) for url in urls]

    for measures in ("RR", "AP"):
        compute(scene, measures=measures)

    assert [queries_of(client, url) for url in urls] == one


def test_api_clients_request_a_report_and_read_letters_instead_of_names(scene, client):
    client.force_login(scene.lead)
    url = reverse("reports-api:stability-reports", args=[scene.project.slug])
    body = {"runs": [run.pk for run in scene.runs.values()], "version": scene.version.pk, "measures": "RR"}

    asked = client.post(url, body, content_type="application/json")
    run_jobs()
    again = client.post(url, body, content_type="application/json")

    assert (asked.status_code, again.status_code) == (202, 200)
    assert asked.json()["result"] == {}
    assert again.json()["result"]["people"] == ["Anna", "Bert"]
    client.force_login(make_member(scene.project, Role.VIEWER))
    read = client.get(reverse("reports-api:stability", args=[scene.project.slug, asked.json()["id"]])).json()
    assert read["result"]["people"] == ["Person A", "Person B"]


def test_a_score_has_an_interval_over_people_that_ends_where_the_measure_does(scene):
    """Anna and Bert turn the order: two people who differ so much leave any mean possible.

    All queries score alike: without people there is nothing to draw, and the interval has no width.
    """
    evaluation = score(scene, "base", measures=MEASURES)

    row, judged = (evaluation.scores.get(measure=name) for name in ("nDCG@10", "Judged@10"))
    assert [row.ci_low, row.ci_high, row.bca_low, row.bca_high] == pytest.approx([row.mean] * 4)
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
    assert row.bca_low is not None
