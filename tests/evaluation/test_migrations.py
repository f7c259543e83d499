"""Migrations of scores and gates, walked both ways with rows in the tables."""

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from apps.evaluation.models import Score
from apps.gates.actions import create_gate
from apps.gates.models import GateResult
from tests.evaluation.factories import GOOD, Scene, make_scene, qrels_of, score
from tests.factories import AT

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = "0004_numbers_that_can_be_defended"
AFTER = "0005_intervals_of_gates"
((_, NEWEST),) = MigrationLoader(None).graph.leaf_nodes("evaluation")
NEW = {"ci_low", "ci_high", "n", "gap"}


@pytest.fixture
def scene() -> Scene:
    """A gate that has said something of one run."""
    made = make_scene(queries=6, test_share=0, runs={"first": dict.fromkeys(qrels_of(6), GOOD)})
    create_gate(
        gold_set=made.version.gold_set,
        system_id=made.runs["first"].system_id,
        facts={"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9},
        actor=made.lead,
        at=AT,
    )
    score(made, "first")
    return made


def migrate(name: str) -> None:
    MigrationExecutor(connection).migrate([("evaluation", name)])


@pytest.fixture
def before(scene):
    """The tables as they were before, with the rows of the scene in them."""
    migrate(BEFORE)
    yield scene
    migrate(NEWEST)


def columns() -> set[str]:
    with connection.cursor() as cursor:
        return {
            column.name for column in connection.introspection.get_table_description(cursor, "evaluation_gateresult")
        }


def said() -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT state, value, bound, words FROM evaluation_gateresult ORDER BY id")
        return cursor.fetchall()


def test_results_survive_the_way_back_and_forth_without_what_only_the_newer_table_holds(before):
    (there,) = said()
    scores = list(Score.objects.values_list("pk", "mean", "people_low"))
    assert columns() & NEW == set()

    migrate(AFTER)

    kept = GateResult.objects.get()
    assert columns() >= NEW
    assert (kept.state, kept.value, kept.bound, kept.words) == tuple(there)
    assert (kept.ci_low, kept.ci_high, kept.n, kept.gap) == (None, None, None, None)
    assert list(Score.objects.values_list("pk", "mean", "people_low")) == scores


@pytest.mark.parametrize("name", [BEFORE, AFTER])
def test_what_a_gate_said_stays_guarded_on_either_side(before, name):
    migrate(name)

    with pytest.raises(DatabaseError, match="what a gate said"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE evaluation_gateresult SET words = 'another'")


def test_a_run_scored_after_it_is_kept_with_its_interval(before):
    migrate(NEWEST)
    older = GateResult.objects.get()

    create_gate(
        gold_set=before.version.gold_set,
        system_id=before.runs["first"].system_id,
        facts={"name": "Another", "figure": "P@1", "at_least": 0.1},
        actor=before.lead,
        at=AT,
    )
    score(before, "first", measures="RR")

    newer = GateResult.objects.exclude(pk=older.pk).get()
    assert (newer.n, newer.ci_low, older.n) == (6, 1.0, None)
