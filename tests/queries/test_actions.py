from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.queries.actions import queries as queries_actions
from apps.queries.actions import sources as sources_actions
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.enums import Difficulty
from apps.queries.models import Query
from apps.queries.selectors import valid_permission
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import import_csv, make_permission, make_query, make_source

pytestmark = pytest.mark.django_db


def lock(query: Query) -> None:
    queries_actions.lock_queries([query.pk], at=AT)


def edit(query: Query, **changes) -> Query:
    return queries_actions.edit_query(query_id=query.pk, actor=lead_of(query.project), at=AT, **changes)


def test_edit_query_records_what_changed():
    query = make_query(text="old words")

    edit(query, text="new words", difficulty=Difficulty.HARD, label="")

    event = Event.objects.get(action="query.edited")
    assert event.before == {"text": "old words", "difficulty": ""}
    assert event.after == {"text": "new words", "difficulty": "hard"}


def set_source(project, queries, source):
    ids, change = [query.pk for query in queries], BulkChange({"source": source})
    return queries_actions.change_queries(project=project, query_ids=ids, change=change, actor=lead_of(project), at=AT)


def test_a_change_of_many_records_each_and_passes_over_retired_queries_and_those_of_other_projects():
    project = make_project()
    old, new = make_source(project), make_source(project)
    first, second, third = make_query(project), make_query(project, source=old), make_query(project, source=new)
    lock(first)
    retired, foreign = make_query(project), make_query()
    queries_actions.retire_query(query_id=retired.pk, reason="Doubled", actor=lead_of(project), at=AT)

    assert set_source(project, [first, second, third, retired, foreign], new) == 2

    assert set(Query.objects.filter(source=new)) == {first, second, third}
    events = Event.objects.filter(action="query.edited").order_by("pk")
    assert [(event.object_label, event.before, event.after) for event in events] == [
        (first.outside_id, {"source": None}, {"source": new.slug}),
        (second.outside_id, {"source": old.slug}, {"source": new.slug}),
    ]


def test_a_change_of_many_refuses_a_source_of_another_project_and_too_many(monkeypatch):
    project = make_project()
    queries = [make_query(project), make_query(project)]

    with pytest.raises(queries_actions.QueryRefused, match="belongs to another project"):
        set_source(project, queries, make_source())
    monkeypatch.setattr("apps.queries.rules.MOST_AT_ONCE", 1)
    with pytest.raises(queries_actions.QueryRefused, match="Filter the list first"):
        set_source(project, queries, make_source(project))


def test_a_change_of_many_takes_as_many_statements_for_one_and_ten(django_assert_num_queries):
    project = make_project()
    source = make_source(project)

    for number in (1, 10):
        queries = [make_query(project) for _ in range(number)]
        with django_assert_num_queries(6):
            set_source(project, queries, source)


def test_lock_queries_keeps_the_first_time():
    query = make_query()
    lock(query)

    count = queries_actions.lock_queries([query.pk], at=AT + timedelta(days=1))

    query.refresh_from_db()
    assert (count, query.locked_at) == (0, AT)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE queries_query SET text = 'other'",
        "UPDATE queries_query SET intent = 'other'",
        "UPDATE queries_query SET locked_at = NULL",
        "DELETE FROM queries_query",
    ],
)
def test_the_database_itself_protects_the_text_of_a_used_query(statement):
    lock(make_query())

    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


def test_import_counts_new_changed_and_unchanged():
    project = make_project()
    import_csv(project, "query_id,text\nQ1,one\nQ2,two\n")

    plan = import_csv(project, "query_id,text\nQ1,one\nQ2,TWO\nQ3,three\n")

    assert plan.counts == {"new": 1, "changed": 1, "unchanged": 1}
    assert dict(Query.objects.values_list("outside_id", "text")) == {"Q1": "one", "Q2": "TWO", "Q3": "three"}


def test_what_a_file_does_not_name_stays_and_an_empty_cell_empties_its_field():
    project = make_project()
    source = make_source(project)
    make_query(project, outside_id="Q1", text="one", domain="security", tags=["a"], source=source)

    plan = import_csv(project, "query_id,text\nQ1,one\n")

    query = Query.objects.get()
    assert plan.changes_nothing
    assert (query.domain, query.tags, query.source) == ("security", ["a"], source)

    import_csv(project, "query_id,text,domain\nQ1,one,\n")
    assert Query.objects.get().domain == ""


def test_the_default_source_is_for_new_queries_only():
    project = make_project()
    source = make_source(project)
    make_query(project, outside_id="Q1", text="one")

    import_csv(project, "query_id,text\nQ1,one\nQ2,two\n", default_source=source)

    assert dict(Query.objects.values_list("outside_id", "source")) == {"Q1": None, "Q2": source.pk}


def test_a_source_nobody_knows_is_an_error():
    project = make_project()
    make_source(project, name="Log")

    with pytest.raises(InputErrors) as caught:
        import_csv(project, "query_id,text,source\nQ1,one,blog\n")

    error = caught.value.errors[0]
    assert (error.line, error.field, error.value) == (2, "source", "blog")
    assert error.message == "no source has this name; there are: log"


@pytest.mark.parametrize(
    ("line", "said"),
    [("Q1,again", "is in the file twice, first in line 2"), ("Q9,other words", "The text of Q9 cannot be changed")],
)
def test_one_mistake_stops_the_whole_file(line, said):
    project = make_project()
    lock(make_query(project, outside_id="Q9", text="words"))

    with pytest.raises(InputErrors, match=said):
        import_csv(project, f"query_id,text\nQ1,one\n{line}\n")

    assert list(Query.objects.values_list("outside_id", "text")) == [("Q9", "words")]


def test_all_mistakes_are_listed_at_once_and_by_line():
    lines = ["K9,one,,hardest", "K9,two,blog,", "K8,three,,hardest"]

    with pytest.raises(InputErrors) as caught:
        import_csv(make_project(), "\n".join(["query_id,text,source,difficulty", *lines]))

    assert [(error.line, error.field) for error in caught.value.errors] == [
        (2, "difficulty"),
        (3, "query_id"),
        (3, "source"),
        (4, "difficulty"),
    ]


def test_a_permission_that_ended_is_not_valid():
    source = make_source()
    make_permission(source, expires_at=AT + timedelta(days=1))

    assert valid_permission(source, AT) is not None
    assert valid_permission(source, AT + timedelta(days=1)) is None


def test_retiring_a_query_and_revoking_a_permission_need_a_reason_and_happen_once():
    query, permission = make_query(), make_permission(make_source())
    lead, other_lead = lead_of(query.project), lead_of(permission.source.project)

    def retire(reason):
        queries_actions.retire_query(query_id=query.pk, reason=reason, actor=lead, at=AT)

    def revoke(reason):
        sources_actions.revoke_permission(permission_id=permission.pk, reason=reason, actor=other_lead, at=AT)

    for act, refusal, done in (
        (retire, queries_actions.QueryRefused, "already retired"),
        (revoke, sources_actions.SourceRefused, "already revoked"),
    ):
        with pytest.raises(refusal, match="needs a reason"):
            act(" ")
        act("asked back")
        with pytest.raises(refusal, match=done):
            act("again")
    with pytest.raises(queries_actions.QueryRefused, match="is retired"):
        edit(query, label="x")
