"""Somebody uses a query while its import is undone, on PostgreSQL: the later of the two hears what happened."""

import pytest

from apps.queries.actions import queries as queries_actions
from apps.queries.models import Query
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.actions.runs import request_run
from apps.retrieval.models import Pool, Run
from apps.triples.actions.triples import start_draft
from apps.triples.models import Triple
from tests.factories import AT, lead_of
from tests.judging.test_imports import read, take
from tests.queries.test_undoing import applied as applied_queries
from tests.queries.test_undoing import undo
from tests.races import overlapping
from tests.retrieval.factories import make_snapshot, make_system
from tests.triples.factories import make_team

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

GONE = "1 query is no longer here: the import was undone meanwhile. Load the page again and choose anew."
DRAFT_GONE = "The query of this Q&A is no longer here: its import was undone. Start from another query, or without one."
EDIT_GONE = "This query is no longer here: its import was undone meanwhile. Go back to the list of queries."


@pytest.fixture
def project():
    return make_team()


@pytest.fixture
def item(project):
    return applied_queries(project, "key rotation\n")


@pytest.fixture
def snapshot(project):
    return make_snapshot(project)


def test_grades_that_are_imported_while_their_query_goes_are_refused(project, item, snapshot):
    query = Query.objects.get()
    pool = Pool(project=project, snapshot=snapshot)
    draft = read(pool, f"{query.outside_id} 0 {snapshot.entries.first().block.outside_id} 1\n")

    _, refused = overlapping(lambda: undo(item), lambda: take(pool, draft))

    assert (refused.sentence, Pool.objects.count()) == (GONE, 0)


def test_of_two_undos_at_once_the_later_hears_that_it_is_done(item):
    _, refused = overlapping(lambda: undo(item), lambda: undo(item))

    assert refused.sentence == "This import has been undone."


def make_a_pool(project, query, snapshot):
    system = make_system(project)
    return lambda: request_pool(
        project=project, name="First", snapshot_id=snapshot.pk, system_ids=[system.pk], depth=2,
        actor=lead_of(project), at=AT,
    )  # fmt: skip


def make_a_run(project, query, snapshot):
    system = make_system(project)
    return lambda: request_run(
        project=project, system_id=system.pk, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT
    )


def edit(project, query, snapshot):
    return lambda: queries_actions.edit_query(
        query_id=query.pk, actor=lead_of(project), at=AT, intent="Wants the rule."
    )


def retire(project, query, snapshot):
    return lambda: queries_actions.retire_query(query_id=query.pk, reason="Not asked.", actor=lead_of(project), at=AT)


def draft(project, query, snapshot):
    return lambda: start_draft(project=project, author=lead_of(project), snapshot=snapshot, query=query, at=AT)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (make_a_pool, GONE),
        (make_a_run, GONE),
        (edit, EDIT_GONE),
        (retire, EDIT_GONE),
        (draft, DRAFT_GONE),
    ],
)
def test_who_meets_an_undo_is_refused_and_leaves_nothing(project, item, snapshot, act, sentence):
    late = act(project, Query.objects.get(), snapshot)

    undone, refused = overlapping(lambda: undo(item), late)

    assert undone.undone_at is not None
    assert refused.sentence == sentence
    assert [kind.objects.count() for kind in (Query, Pool, Run, Triple)] == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (make_a_pool, "Used in a run or a pool since: 1 query. Retire what is not wanted instead."),
        (edit, "Edited since, which would be lost: 1 query. Retire what is not wanted instead."),
        (draft, "Asked in a Q&A since: 1 query. Retire what is not wanted instead."),
    ],
)
def test_an_undo_that_meets_somebody_is_refused(project, item, snapshot, act, sentence):
    early = act(project, Query.objects.get(), snapshot)

    done, refused = overlapping(early, lambda: undo(item))

    assert done.pk
    assert (refused.code, refused.sentence) == ("import_not_undone", sentence)
    assert Query.objects.get().text == "key rotation"
