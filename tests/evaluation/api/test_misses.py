"""Missed questions over the API: as the pages of misses, and key `a` of them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.goldsets.enums import VersionState
from apps.review.actions.candidate_blocks import note_miss
from apps.review.models import CandidateBlock
from tests.evaluation.hits import places, run_that, run_that_cuts, score
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.review.candidates import say

pytestmark = pytest.mark.django_db


def make_evaluation(*ranks, test_share=0.0, **options):
    version = make_version(VersionState.RELEASED, make_bench(triples=len(ranks)), test_share=test_share)
    return score(version, run_that(version, "ours", places(version, *ranks)), measures="Success@2 Success@1", **options)


@pytest.fixture
def evaluation():
    """The first question has its passage first, the second at rank 3, the third nowhere: two are missed."""
    return make_evaluation(1, 3, 0)


@pytest.fixture
def lead(client, evaluation):
    client.force_login(lead_of(evaluation.project))
    return client


def url(evaluation):
    return f"/api/v1/projects/{evaluation.project.slug}/evaluation/{evaluation.pk}/misses/"


def misses(client, evaluation, **query):
    return client.get(url(evaluation), query).json()


def send(client, evaluation, **body):
    return client.post(url(evaluation), body, content_type="application/json")


def test_each_miss_says_why_and_what_stood_first(lead, evaluation):
    found = misses(lead, evaluation)

    second, third = found["misses"]
    assert (found["measure"], found["cutoff"], found["count"], found["next"]) == ("Success@2", 2, 2, None)
    assert (second["place"], second["triple"], second["first_right_rank"]) == (1, "T-0002", 3)
    assert (third["place"], third["triple"], third["first_right_rank"]) == (2, "T-0003", None)
    assert second["finding"] == "Expected at rank 3; only the first 2 count."
    assert second["expected_blocks"] == ["access"]
    assert second["first"]["block_id"] in ("backups", "rotation")
    assert (second["hidden"], second["known"], second["unclear"]) == (False, "", False)


def test_another_measure_has_another_cutoff(lead, evaluation):
    found = misses(lead, evaluation, measure="Success@1")

    assert found["misses"][0]["finding"] == "Expected at rank 3; only the first counts."


def test_a_measure_that_was_not_scored_is_named(lead, evaluation):
    answered = lead.get(url(evaluation), {"measure": "RR"})

    assert answered.status_code == 400
    assert answered.json()["errors"]["measure"] == ["One of Success@2, Success@1."]


def test_a_score_by_grades_has_no_misses(lead, evaluation):
    by_grades = score(evaluation.version, evaluation.run, hit="")

    assert lead.get(url(by_grades)).status_code == 404


def test_a_long_list_comes_in_pages(lead, evaluation):
    first = misses(lead, evaluation, limit=1)
    rest = misses(lead, evaluation, limit=1, after=first["next"])

    assert [one["triple"] for one in first["misses"] + rest["misses"]] == ["T-0002", "T-0003"]
    assert rest["next"] is None


@pytest.mark.parametrize("ranks", [(0,), (0, 3, 0, 0)])
def test_the_number_of_queries_does_not_depend_on_the_misses(client, ranks):
    evaluation = make_evaluation(*ranks)
    client.force_login(lead_of(evaluation.project))
    misses(client, evaluation)

    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert misses(client, evaluation)["count"] == len(ranks)

    assert len(queries) == 12


def test_what_people_said_since_is_told(lead, evaluation):
    first = misses(lead, evaluation)["misses"][0]
    send(lead, evaluation, triple=first["triple"])
    unclear = {"kind": "unclear", "person": lead_of(evaluation.project), "at": AT}
    note_miss(project=evaluation.project, triple_id=first["triple_id"], **unclear)

    again = misses(lead, evaluation)["misses"][0]

    assert (again["known"], again["unclear"]) == ("open", True)


def test_a_returned_passage_is_proposed_as_on_the_page(lead, evaluation):
    answered = send(lead, evaluation, triple="T-0003", rank=2)

    candidate = CandidateBlock.objects.get()
    assert answered.status_code == 201
    assert answered.json() == {"id": candidate.pk, "triple_id": candidate.triple_id, "state": "open"}
    assert (candidate.triple.label, candidate.evaluation) == ("T-0003", evaluation.pk)
    assert candidate.proposed_by == lead_of(evaluation.project)


def test_the_words_that_count_go_with_it(lead, evaluation):
    text = misses(lead, evaluation)["misses"][0]["first"]["text"]

    send(lead, evaluation, triple="T-0002", quote=text[:12])

    assert CandidateBlock.objects.get().spans == [[0, 12]]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"triple": "T-0001"}, 404, "not_found"),
        ({"triple": "T-0002", "rank": 3}, 409, "not_also_right"),
        ({"triple": "T-0002", "quote": "never written"}, 409, "not_marked"),
        ({"triple": "T-0002", "block_id": "nowhere"}, 400, "invalid"),
        ({}, 400, "invalid"),
    ],
)
def test_what_cannot_be_proposed_is_refused_by_name(lead, evaluation, body, status, code):
    answered = send(lead, evaluation, **body)

    assert (answered.status_code, answered.json()["code"]) == (status, code)
    assert not CandidateBlock.objects.exists()


def test_of_a_passage_that_the_system_cut_one_says_which_of_ours_it_is(client, evaluation):
    scored = score(evaluation.version, run_that_cuts(evaluation.version), hit="evidence", measures="Success@1")
    client.force_login(lead_of(evaluation.project))

    first = misses(client, scored)["misses"][0]["first"]
    refused = send(client, scored, triple="T-0001")
    proposed = send(client, scored, triple="T-0001", block_id="backups")

    assert (first["block_id"], first["text"]) == (None, "Every datastore is copied twice a day. Archives")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_also_right")
    assert proposed.status_code == 201
    assert CandidateBlock.objects.get().version.block.outside_id == "backups"


def test_a_reviewer_who_is_asked_is_told_nothing_of_what_was_returned(client, lead, evaluation):
    send(lead, evaluation, triple="T-0002")
    reviewer = make_member(evaluation.project, Role.REVIEWER, name="Third")
    client.force_login(reviewer)

    second, third = misses(client, evaluation)["misses"]
    refused = send(client, evaluation, triple="T-0002", rank=2)

    assert (second["hidden"], second["first"], second["first_right_rank"], second["finding"]) == (True, None, None, "")
    assert (second["returned"], second["known"]) == (None, "")
    assert third["hidden"] is False
    assert (refused.status_code, refused.json()["code"]) == (409, "hidden")


def test_once_they_have_answered_it_is_shown_again(client, lead, evaluation):
    send(lead, evaluation, triple="T-0002")
    reviewer = make_member(evaluation.project, Role.REVIEWER, name="Third")
    for person in (reviewer, make_member(evaluation.project, Role.REVIEWER, name="Fourth")):
        say(CandidateBlock.objects.get(), person, "reject")
    client.force_login(reviewer)

    assert misses(client, evaluation)["misses"][0]["known"] == "rejected"


def test_test_questions_are_for_leads_and_each_look_is_logged(client):
    evaluation = make_evaluation(0, 0, 1, 1, 1, test_share=1.0, split="test")
    looks = Event.objects.filter(action="version.test_seen")
    before = looks.count()
    client.force_login(make_member(evaluation.project, Role.REVIEWER))
    assert (misses(client, evaluation)["count"], looks.count()) == (0, before)

    client.force_login(lead_of(evaluation.project))

    assert (misses(client, evaluation)["count"], looks.count()) == (2, before + 1)


def test_a_viewer_reads_misses_and_proposes_none(client, evaluation):
    client.force_login(make_member(evaluation.project, Role.VIEWER))

    assert misses(client, evaluation)["count"] == 2
    assert send(client, evaluation, triple="T-0002").status_code == 403
