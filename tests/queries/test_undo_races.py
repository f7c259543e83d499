"""Somebody uses a query while its import is undone, on PostgreSQL: the later of the two hears what happened."""

import pytest

from apps.queries import actions
from apps.queries.models import Query
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Pool, Run
from apps.triples.actions.triples import start_draft
from apps.triples.models import Triple
from tests.factories import AT, lead_of, make_project
from tests.judging.test_imports import read, take
from tests.queries.test_undoing import applied as applied_queries
from tests.queries.test_undoing import undo
from tests.races import overlapping
from tests.retrieval.factories import make_snapshot, make_system
from tests.triples.factories import make_snapshot as make_pinned
from tests.triples.factories import make_team

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

GONE = "1 query is no longer here: the import was undone meanwhile. Load the page again and choose anew."
USED = "Used in a run or a pool since: 1 query. Retire what is not wanted instead."


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def item(project):
    return applied_queries(project, "key rotation\n")


@pytest.fixture
def pool_of(project):
    snapshot, system = make_snapshot(project), make_system(project)
    return lambda: request_pool(
        project=project, name="First", snapshot_id=snapshot.pk, system_ids=[system.pk], depth=2,
        actor=lead_of(project), at=AT,
    )  # fmt: skip


@pytest.fixture
def run_of(project):
    snapshot, system = make_snapshot(project), make_system(project)
    return lambda: request_run(
        project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT
    )


def test_a_pool_that_meets_an_undo_is_refused_and_leaves_nothing(item, pool_of):
    undone, refused = overlapping(lambda: undo(item), pool_of)

    assert undone.undone_at is not None
    assert (refused.code, refused.sentence) == ("query_gone", GONE)
    assert (Query.objects.count(), Pool.objects.count()) == (0, 0)


def test_an_undo_that_meets_a_pool_is_refused(item, pool_of):
    pool, refused = overlapping(pool_of, lambda: undo(item))

    assert (refused.code, refused.sentence) == ("import_not_undone", USED)
    assert pool.pool_queries.get().query == Query.objects.get()


def test_a_run_that_meets_an_undo_is_refused(item, run_of):
    _, refused = overlapping(lambda: undo(item), run_of)

    assert (refused.sentence, Run.objects.count()) == (GONE, 0)


def test_grades_that_are_imported_while_their_query_goes_are_refused(project, item):
    snapshot = make_snapshot(project)
    query = Query.objects.get()
    pool = Pool(project=project, snapshot=snapshot)
    draft = read(pool, f"{query.outside_id} 0 {snapshot.entries.first().block.outside_id} 1\n")

    _, refused = overlapping(lambda: undo(item), lambda: take(pool, draft))

    assert (refused.sentence, Pool.objects.count()) == (GONE, 0)


@pytest.mark.parametrize(
    "change",
    [
        lambda pk, lead: actions.edit_query(query_id=pk, actor=lead, at=AT, intent="Wants the rule."),
        lambda pk, lead: actions.retire_query(query_id=pk, reason="Not asked.", actor=lead, at=AT),
    ],
)
def test_an_edit_that_meets_an_undo_is_refused(project, item, change):
    query, lead = Query.objects.get().pk, lead_of(project)

    _, refused = overlapping(lambda: undo(item), lambda: change(query, lead))

    assert refused.sentence == (
        "This query is no longer here: its import was undone meanwhile. Go back to the list of queries."
    )
    assert not Query.objects.exists()


def test_an_undo_that_meets_an_edit_is_refused(project, item):
    query, lead = Query.objects.get().pk, lead_of(project)

    _, refused = overlapping(
        lambda: actions.edit_query(query_id=query, actor=lead, at=AT, intent="Wants the rule."), lambda: undo(item)
    )

    assert refused.sentence == "Edited since, which would be lost: 1 query. Retire what is not wanted instead."
    assert Query.objects.get().intent == "Wants the rule."


def draft_on(project, query, snapshot):
    return start_draft(project=project, author=lead_of(project), snapshot=snapshot, query=query, at=AT)


def test_a_triple_that_meets_an_undo_is_refused():
    project = make_team()
    item, snapshot = applied_queries(project, "key rotation\n"), make_pinned(project)
    query = Query.objects.get()

    _, refused = overlapping(lambda: undo(item), lambda: draft_on(project, query, snapshot))

    assert (refused.code, Triple.objects.count(), Query.objects.count()) == ("query_gone", 0, 0)
    assert "Start from another query, or without one." in refused.sentence


def test_an_undo_that_meets_a_triple_is_refused():
    project = make_team()
    item, snapshot = applied_queries(project, "key rotation\n"), make_pinned(project)
    query = Query.objects.get()

    triple, refused = overlapping(lambda: draft_on(project, query, snapshot), lambda: undo(item))

    assert refused.sentence == "Asked in a Q&A since: 1 query. Retire what is not wanted instead."
    assert triple.query == Query.objects.get()


def test_of_two_undos_at_once_the_later_hears_that_it_is_done(item):
    _, refused = overlapping(lambda: undo(item), lambda: undo(item))

    assert refused.sentence == "This import has been undone."
