"""The migration that has the accepted questions of an older database asked, forward and back."""

from collections.abc import Iterator

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from apps.queries.actions import create_query
from apps.queries.models import Query
from apps.retrieval.models import Ranking
from apps.triples.enums import State
from apps.triples.models import AskedRevision
from tests.factories import AT, lead_of, make_project
from tests.retrieval.factories import import_lines, trec
from tests.review.factories import make_accepted, make_triple
from tests.triples.factories import make_team

BEFORE = [("triples", "0002_guards")]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def whole() -> Iterator[None]:
    leaves = MigrationExecutor(connection).loader.graph.leaf_nodes()
    yield
    migrate(leaves)


def migrate(targets) -> None:
    MigrationExecutor(connection).migrate(targets)


def ahead() -> None:
    migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())


def asked() -> dict[str, tuple[str, str]]:
    """The outside id and words of what is asked, by the label of the Q&A."""
    rows = AskedRevision.objects.select_related("revision__triple", "query")
    return {row.revision.triple.label: (row.query.outside_id, row.query.text) for row in rows}


def test_accepted_questions_of_an_older_database_are_asked_as_new_ones_are():
    project = make_team()
    create_query(project=project, outside_id="T-0002", text="red key", actor=lead_of(project), at=AT)
    for state, stale in [(State.ACCEPTED, False), (State.ACCEPTED, True), (State.RETIRED, False), (State.DRAFT, False)]:
        make_triple(project, state, stale=stale)
    new = asked()

    migrate(BEFORE)
    with connection.cursor() as cursor:
        cursor.execute("SELECT outside_id FROM queries_query ORDER BY 1")
        assert cursor.fetchall() == [("T-0002",)]
    ahead()

    assert new.keys() == {"T-0001", "T-0002", "T-0003"}
    assert asked() == {label: new[label] for label in ("T-0001", "T-0002")}
    assert asked()["T-0002"][0] == "T-0002-2"
    assert list(Query.objects.values_list("outside_id", flat=True)) == ["T-0002"]
    with pytest.raises(IntegrityError), transaction.atomic():
        Query.everything.filter(is_asked=True).delete()


def test_a_question_that_a_run_has_answered_stays_when_one_steps_back():
    project = make_team()
    make_accepted(project)
    snapshot = project.corpora.get().snapshots.get()
    run = import_lines(project, snapshot, trec([("T-0001", "access", 1.0)])).run

    migrate(BEFORE)
    ahead()

    assert Ranking.objects.get(run=run).query.outside_id == "T-0001"
    assert asked()["T-0001"][0] == "T-0001-2"


def test_a_database_without_accepted_questions_goes_forward_and_back():
    make_project()

    migrate(BEFORE)
    ahead()

    assert asked() == {}
