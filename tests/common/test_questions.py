"""Several figures in one statement, and what a request that only reads is told once."""

import pytest
from django.db.models import Count, F, Q, Subquery

from apps.accounts.models import Membership
from apps.common.database.batched_reads import (
    BatchedRead,
    CountOf,
    DistinctOf,
    ListOf,
    MeanOf,
    answer_to,
    first_with,
    forget,
    is_known,
    joined,
    once,
    reading_once,
)
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    make_member(project, "annotator", "reviewer")
    return project


def test_many_questions_are_one_statement(project, django_assert_num_queries):
    roles = Membership.objects.filter(project=project).order_by()
    first = roles.order_by("pk").values("granted_at")[:1]
    asked = {
        "roles": BatchedRead({"n": CountOf(roles.values("pk"))}, lambda found: found["n"]),
        "people": BatchedRead({"n": DistinctOf(roles.values("user"))}, lambda found: found["n"]),
        "two": BatchedRead({"n": CountOf(roles.values("pk")[:2])}, lambda found: found["n"]),
        "none": BatchedRead({"n": CountOf(roles.filter(Q(pk__in=[])).values("pk"))}, lambda found: found["n"]),
        "mean": BatchedRead({"n": MeanOf(roles.values(value=F("pk")))}, lambda found: type(found["n"])),
        "first": BatchedRead({"at": Subquery(first)}, lambda found: found["at"].tzinfo is not None),
    }

    with django_assert_num_queries(1):
        answers = answer_to(project, joined(asked))

    assert answers == {
        "roles": roles.count(),
        "people": roles.count() - 1,
        "two": 2,
        "none": 0,
        "mean": float,
        "first": True,
    }


def test_a_short_list_comes_in_the_same_statement(project, django_assert_num_queries):
    roles = Membership.objects.filter(project=project).order_by("role")
    counted = roles.order_by().values("project__slug").annotate(n=Count("pk"))
    asked = {
        "rows": ListOf(roles.values_list("user_id", "role", "granted_by__name")),
        "json": ListOf(roles.values_list("project__policies", "role")[:1], json=["project__policies"]),
        "counted": ListOf(counted.values_list("project__slug", "n")),
        "unlike": ListOf(roles.order_by("user").values_list("user").distinct()),
        "nobody": ListOf(roles.filter(role="").values_list("user", "role")),
        "nothing": ListOf(roles.filter(pk__in=[]).values_list("user", "role")),
    }

    with django_assert_num_queries(1):
        found = answer_to(project, BatchedRead(asked, dict))

    assert found == {
        "rows": [list(row) for row in roles.values_list("user_id", "role", "granted_by__name")],
        "json": [[project.policies, roles[0].role]],
        "counted": [[project.slug, roles.count()]],
        "unlike": [[user] for user in sorted(set(roles.values_list("user_id", flat=True)))],
        "nobody": [],
        "nothing": [],
    }


def test_a_question_that_asks_nothing_takes_no_statement(project, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert answer_to(project, BatchedRead({}, lambda found: "nothing")) == "nothing"


def test_a_row_comes_with_its_answer_in_one_statement(project, django_assert_num_queries):
    rows = Membership.objects.filter(project=project).order_by("-pk")
    people = BatchedRead({"n": CountOf(rows.order_by().values("pk"))}, lambda found: f"{found['n']} of us")
    latest, n = rows[0], rows.count()

    with django_assert_num_queries(1):
        assert first_with(rows, people) == (latest, f"{n} of us")
    assert first_with(rows.none(), people) is None


def test_what_is_read_once_is_read_anew_by_the_next_request():
    values = iter("abcdef")

    def read() -> str:
        return once("key", lambda: next(values))

    assert [read(), read()] == ["a", "b"]
    with reading_once():
        assert [read(), read()] == ["c", "c"]
        forget("key")
        assert read() == "d"
        is_known("key", "known")
        assert read() == "known"
    assert read() == "e"
