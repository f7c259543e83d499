import json

from django.http import Http404

from apps.common.errors import PROBLEM_TYPE, Refusal
from apps.common.web.problems import problem_handler
from apps.dashboard.pages.errors import forbidden, not_found


def test_an_unknown_address_of_the_api_is_returned_as_a_problem(rf):
    answer = not_found(rf.get("/api/nowhere/"), Http404())

    assert (answer.status_code, answer["Content-Type"]) == (404, PROBLEM_TYPE)
    assert json.loads(answer.content) == {
        "type": "urn:karat:problem:not_found",
        "title": "Not found",
        "status": 404,
        "detail": "There is nothing here that you can see.",
        "code": "not_found",
    }


def test_both_ways_to_a_problem_give_the_same_facts(rf):
    outside = json.loads(forbidden(rf.get("/api/nowhere/"), Exception()).content)
    inside = problem_handler(Refusal("Freeze it first.", code="draft"), {})

    assert inside is not None
    assert inside.data.keys() == outside.keys()
    assert inside.content_type == PROBLEM_TYPE
