"""Undoing an import of queries: everything that it added, or a reason."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.audit.models import Event
from apps.corpus.actions import imports
from apps.corpus.execution.import_reading import ImportRefused
from apps.corpus.models import Import
from apps.queries.actions import queries as queries_actions
from apps.queries.models import Query
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_project
from tests.naming import tables_that_name
from tests.queries.factories import make_query
from tests.retrieval.factories import make_pool, make_snapshot
from tests.triples.factories import make_draft, make_team

pytestmark = pytest.mark.django_db


def applied(project, lines: str, minute: int = 0) -> Import:
    item = imports.start_import(
        project=project,
        kind="queries",
        file=SimpleUploadedFile("searches.txt", lines.encode()),
        options={"format": "lines", "ids": "file", "source": ""},
        actor=lead_of(project),
        at=AT + timedelta(minutes=minute),
    )
    return imports.confirm_import(import_id=item.pk, actor=lead_of(project), at=AT + timedelta(minutes=minute))


def undo(item: Import) -> Import:
    return imports.undo_import(import_id=item.pk, actor=lead_of(item.project), at=AT + timedelta(hours=1))


def texts(project) -> list[str]:
    return list(Query.objects.filter(project=project).order_by("pk").values_list("text", flat=True))


def test_undoing_removes_what_the_import_added_and_nothing_else():
    project = make_project()
    applied(project, "first\n")
    item = applied(project, "first\nsecond\nthird\n", minute=1)

    undo(item)

    assert texts(project) == ["first"]
    assert item.result["counts"]["new"] == 2
    assert Event.objects.filter(action="import.undone").count() == 1


def test_the_same_file_can_be_imported_again_afterwards():
    project = make_project()
    undo(applied(project, "first\n"))

    applied(project, "first\n", minute=2)

    assert texts(project) == ["first"]


def test_queries_that_were_used_stay(client):
    project = make_project()
    item = applied(project, "key rotation\n")
    make_pool(project, make_snapshot(project))

    with pytest.raises(ImportRefused, match="Used in a run or a pool since: 1 query"):
        undo(item)

    client.force_login(lead_of(project))
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    assert "Used in a run or a pool since: 1 query. Retire what is not wanted instead." in page
    assert texts(project) == ["key rotation"]


def edit(project):
    query = Query.objects.get(text="first")
    queries_actions.edit_query(
        query_id=query.pk, actor=lead_of(project), at=AT + timedelta(minutes=5), intent="Wants it."
    )


def ask(project):
    Triple.objects.filter(pk=make_draft(project).pk).update(query=Query.objects.get(text="first"))


@pytest.mark.parametrize(
    ("then", "line", "refusal"),
    [
        (edit, "first", "Edited since, which would be lost: 1 query"),
        (ask, "first", "Asked in a Q&A since: 1 query"),
        (lambda project: None, "Q1\tafter", "It also changed 1 query from before it"),
    ],
)
def test_what_was_edited_asked_or_changed_stays(then, line, refusal):
    project = make_team()
    make_query(project, outside_id="Q1", text="before")
    item = applied(project, f"{line}\nsecond\n")
    then(project)

    with pytest.raises(ImportRefused, match=refusal):
        undo(item)


def test_the_page_says_until_when_and_undoes(client):
    project = make_project()
    item = applied(project, "first\n")
    client.force_login(lead_of(project))
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()

    client.post(reverse("corpus:import-undo", args=[project.slug, item.pk]))

    assert "Possible until one of its queries is used or edited." in page
    assert texts(project) == []


def test_every_table_that_names_a_query_locks_its_words_or_is_asked_about():
    """Runs, pools, rounds, versions and frozen sets lock the words of their queries; think of each new table.

    A report names the query that taking it made, which no import did; marking an offered query as the same as another
    is an edit of that one. A vote is on a query of a pool, whose words that pool has locked.
    """
    assert tables_that_name(Query) == {
        "goldsets.VersionQuery",
        "judging.Seat",
        "judging.UnanswerableVote",
        "queries.FailureReport",
        "queries.SetMember",
        "querylogs.OfferedQuery",
        "retrieval.PoolEntry",
        "retrieval.PoolQuery",
        "retrieval.Ranking",
        "triples.AskedRevision",
        "triples.Triple",
    }
