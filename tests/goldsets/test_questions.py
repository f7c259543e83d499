"""The questions of a version: its queries and those of its Q&As, each once, in few statements."""

import pytest
from django.http import Http404

from apps.goldsets.enums import VersionState
from apps.goldsets.models import VersionQuery
from apps.goldsets.selectors.questions import VersionQuestion, questions_of
from apps.queries.actions.queries import retire_query
from apps.queries.models import Query
from apps.retrieval.selectors.question_sets import question_set, question_sets
from tests.factories import AT, make_project
from tests.goldsets.factories import draft, make_gold_set, make_version
from tests.review.factories import make_accepted


@pytest.mark.parametrize("state", list(VersionState))
def test_a_version_asks_its_queries_and_the_questions_of_its_triples(state, bench):
    version = make_version(state, bench)
    project = version.gold_set.project
    asked = Query.everything.filter(project=project).order_by("outside_id")

    assert set(asked.values_list("is_asked", flat=True)) == {True, False}
    assert questions_of(version) == [VersionQuestion(query.pk, query.outside_id, query.text) for query in asked]


def test_a_released_version_asks_the_same_whatever_comes_later(bench):
    version = make_version(VersionState.RELEASED, bench)
    before = questions_of(version)

    make_accepted(version.gold_set.project)
    retire_query(query_id=VersionQuery.objects.first().query_id, reason="Old.", actor=version.created_by, at=AT)

    assert questions_of(version) == before


def test_the_present_content_is_that_of_the_newest_version_also_of_a_draft(bench):
    released = make_version(VersionState.RELEASED, bench)
    triple = make_accepted(bench.project)

    newest = draft(bench, released.gold_set)

    names = {question.outside_id for question in questions_of(newest)}
    assert names == {question.outside_id for question in questions_of(released)} | {triple.label}
    present = Query.everything.filter(question_set(bench.project, "handbook").condition)
    assert {query.outside_id for query in present} == names


def test_a_gold_set_without_a_version_asks_nothing(db):
    gold_set = make_gold_set(make_project())

    assert question_sets(gold_set.project) == []


def test_runs_are_offered_the_questions_of_each_frozen_version_and_of_what_is_there_now(bench):
    released = make_version(VersionState.RELEASED, bench)
    draft(bench, released.gold_set)

    offered = question_sets(bench.project)

    assert [(one.key, one.name) for one in offered] == [
        ("handbook/v1", "questions of Handbook v1, whose snapshot is v1"),
        ("handbook", "questions of Handbook as it is now"),
    ]
    for one in offered:
        found = Query.everything.filter(question_set(bench.project, one.key).condition)
        assert set(found) == set(Query.everything.filter(one.condition)) != set()


@pytest.mark.parametrize("key", ["", "handbook/v2", "handbook/vx", "handbook/v999999999", "other", "other/v1", "\x00"])
def test_an_unknown_key_names_no_questions(bench, key):
    draft(bench, make_version(VersionState.RELEASED, bench).gold_set)

    with pytest.raises(Http404):
        question_set(bench.project, key)
    with pytest.raises(Http404):
        question_set(make_project(), "handbook/v1")


def test_questions_are_read_in_one_go_however_many(bench, django_assert_max_num_queries):
    version = make_version(VersionState.RELEASED, bench)

    with django_assert_max_num_queries(2):
        questions_of(version)
