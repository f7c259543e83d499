from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.queries import actions
from apps.queries.enums import Difficulty
from apps.queries.models import Query
from apps.queries.selectors import valid_permission
from tests.factories import AT, lead_of, make_project
from tests.queries.factories import import_csv, make_permission, make_query, make_source

pytestmark = pytest.mark.django_db


def lock(query: Query) -> None:
    actions.lock_queries([query.pk], at=AT)


def edit(query: Query, **changes) -> Query:
    return actions.edit_query(query_id=query.pk, actor=lead_of(query.project), at=AT, **changes)


def test_create_query_refuses_an_id_that_is_taken():
    query = make_query()

    with pytest.raises(actions.QueryRefused, match=f"already has a query {query.outside_id}"):
        make_query(query.project, outside_id=query.outside_id)


def test_edit_query_records_what_changed():
    query = make_query(text="old words")

    edit(query, text="new words", difficulty=Difficulty.HARD, label="")

    event = Event.objects.get(action="query.edited")
    assert event.before == {"text": "old words", "difficulty": ""}
    assert event.after == {"text": "new words", "difficulty": "hard"}


def test_edit_query_without_a_change_leaves_no_trace():
    query = make_query(text="words")

    edit(query, text="words")

    assert not Event.objects.filter(action="query.edited").exists()


def set_source(project, queries, source):
    ids = [query.pk for query in queries]
    return actions.set_source(project=project, query_ids=ids, source=source, actor=lead_of(project), at=AT)


def test_set_source_changes_many_and_records_each():
    project = make_project()
    old, new = make_source(project), make_source(project)
    first, second, third = make_query(project), make_query(project, source=old), make_query(project, source=new)
    lock(first)

    assert set_source(project, [first, second, third], new) == 2

    assert set(Query.objects.values_list("source__slug", flat=True)) == {new.slug}
    events = Event.objects.filter(action="query.edited").order_by("pk")
    assert [(event.object_label, event.before, event.after) for event in events] == [
        (first.outside_id, {"source": None}, {"source": new.slug}),
        (second.outside_id, {"source": old.slug}, {"source": new.slug}),
    ]


def test_set_source_takes_a_source_away():
    project = make_project()
    query, other = make_query(project, source=make_source(project)), make_query(project)

    assert set_source(project, [query, other], None) == 1

    query.refresh_from_db()
    assert query.source is None


def test_set_source_passes_over_retired_queries_and_those_of_other_projects():
    project = make_project()
    retired, foreign = make_query(project), make_query()
    actions.retire_query(query_id=retired.pk, reason="Doubled", actor=lead_of(project), at=AT)

    assert set_source(project, [retired, foreign], make_source(project)) == 0


def test_set_source_refuses_a_source_of_another_project_and_too_many(monkeypatch):
    project = make_project()
    queries = [make_query(project), make_query(project)]

    with pytest.raises(actions.QueryRefused, match="belongs to another project"):
        set_source(project, queries, make_source())
    monkeypatch.setattr("apps.queries.rules.MOST_AT_ONCE", 1)
    with pytest.raises(actions.QueryRefused, match="Filter the list first"):
        set_source(project, queries, make_source(project))


def test_set_source_takes_as_many_statements_for_one_and_ten(django_assert_num_queries):
    project = make_project()
    source = make_source(project)

    for number in (1, 10):
        queries = [make_query(project) for _ in range(number)]
        with django_assert_num_queries(8):
            set_source(project, queries, source)


def test_the_words_of_a_used_query_are_fixed():
    query = make_query(text="words")
    lock(query)

    with pytest.raises(actions.QueryRefused, match="cannot be changed: it was used in a run"):
        edit(query, text="other words")
    edit(query, text="words", domain="security")

    query.refresh_from_db()
    assert (query.text, query.domain) == ("words", "security")


def test_lock_queries_keeps_the_first_time():
    query = make_query()
    lock(query)

    count = actions.lock_queries([query.pk], at=AT + timedelta(days=1))

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


def test_retire_query_needs_a_reason_and_happens_once():
    query = make_query()
    lead = lead_of(query.project)

    with pytest.raises(actions.QueryRefused, match="needs a reason"):
        actions.retire_query(query_id=query.pk, reason=" ", actor=lead, at=AT)
    actions.retire_query(query_id=query.pk, reason="out of scope", actor=lead, at=AT)
    with pytest.raises(actions.QueryRefused, match="already retired"):
        actions.retire_query(query_id=query.pk, reason="again", actor=lead, at=AT)
    with pytest.raises(actions.QueryRefused, match="is retired"):
        edit(query, label="x")


def test_import_counts_new_changed_and_unchanged():
    project = make_project()
    import_csv(project, "query_id,text\nQ1,one\nQ2,two\n")

    plan = import_csv(project, "query_id,text\nQ1,one\nQ2,TWO\nQ3,three\n")

    assert plan.counts == {"new": 1, "changed": 1, "unchanged": 1}
    assert dict(Query.objects.values_list("outside_id", "text")) == {"Q1": "one", "Q2": "TWO", "Q3": "three"}


def test_what_a_file_does_not_name_stays():
    project = make_project()
    source = make_source(project)
    make_query(project, outside_id="Q1", text="one", domain="security", tags=["a"], source=source)

    plan = import_csv(project, "query_id,text\nQ1,one\n")

    query = Query.objects.get()
    assert plan.changes_nothing
    assert (query.domain, query.tags, query.source) == ("security", ["a"], source)


def test_a_cell_that_is_there_and_empty_empties_the_field():
    project = make_project()
    make_query(project, outside_id="Q1", text="one", domain="security")

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


def test_revoking_the_only_permission_retires_the_queries_of_the_source():
    source = make_source()
    permission = make_permission(source)
    query, other = make_query(source.project, source=source), make_query(source.project)

    retired = actions.revoke_permission(
        permission_id=permission.pk, reason="asked back", actor=lead_of(source.project), at=AT
    )

    query.refresh_from_db()
    other.refresh_from_db()
    assert retired.queries == [query]
    assert retired.sentence == "The permission is revoked. 1 query: is retired."
    assert query.retired_reason == "permission of Data office revoked"
    assert other.retired_at is None
    assert Event.objects.filter(action__in=["permission.revoked", "query.retired"]).count() == 2


def test_a_source_falls_back_to_a_permission_that_is_still_valid():
    source = make_source()
    first = make_permission(source, owner="First")
    second = make_permission(source, owner="Second", granted_at=AT + timedelta(days=1))
    query = make_query(source.project, source=source)

    retired = actions.revoke_permission(
        permission_id=second.pk, reason="asked back", actor=lead_of(source.project), at=AT
    )

    query.refresh_from_db()
    assert retired.queries == []
    assert "has another valid one, so nothing is retired" in retired.sentence
    assert query.retired_at is None
    assert valid_permission(source, AT) == first


def test_a_permission_that_ended_is_not_valid():
    source = make_source()
    make_permission(source, expires_at=AT + timedelta(days=1))

    assert valid_permission(source, AT) is not None
    assert valid_permission(source, AT + timedelta(days=1)) is None


def test_revoke_refuses_without_reason_and_twice():
    permission = make_permission(make_source())
    lead = lead_of(permission.source.project)

    with pytest.raises(actions.SourceRefused, match="needs a reason"):
        actions.revoke_permission(permission_id=permission.pk, reason="", actor=lead, at=AT)
    actions.revoke_permission(permission_id=permission.pk, reason="asked back", actor=lead, at=AT)
    with pytest.raises(actions.SourceRefused, match="already revoked"):
        actions.revoke_permission(permission_id=permission.pk, reason="again", actor=lead, at=AT)


def test_a_source_name_is_taken_once():
    source = make_source(name="Log")

    with pytest.raises(actions.SourceRefused, match="already has a source log"):
        make_source(source.project, name="Log")
