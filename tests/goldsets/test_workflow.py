"""The state table of a version as a product, and the guards that hold it below the application."""

import pytest
from django.db import DatabaseError, connection, transaction

from apps.common.errors import IllegalStep
from apps.goldsets.enums import VersionState, VersionStep
from apps.goldsets.models import Version
from apps.goldsets.workflow import move
from tests.factories import AT
from tests.goldsets.factories import draft, make_bench, make_version

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _bench(module_rows):
    return make_bench(queries=1)


LEGAL = {
    (VersionState.DRAFT, VersionStep.FREEZE): VersionState.FROZEN,
    (VersionState.FROZEN, VersionStep.RELEASE): VersionState.RELEASED,
    (VersionState.RELEASED, VersionStep.SUPERSEDE): VersionState.SUPERSEDED,
}
TIMES = {
    VersionStep.FREEZE: {"frozen_at": AT, "digest": "d" * 64},
    VersionStep.RELEASE: {"released_at": AT},
    VersionStep.SUPERSEDE: {},
}


@pytest.mark.parametrize("state", VersionState)
def test_every_state_by_every_step(state, bench):
    pk = make_version(state, bench).pk

    for step in VersionStep:
        before = transaction.savepoint()
        version = Version.objects.get(pk=pk)
        if (state, step) in LEGAL:
            assert move(version, step, actor=bench.lead, at=AT, **TIMES[step]).state == LEGAL[state, step]
        else:
            with pytest.raises(IllegalStep, match=f"is {state}: “{step}” is no step from there"):
                move(version, step, actor=bench.lead, at=AT, **TIMES[step])
            version.refresh_from_db()
            assert version.state == state
        transaction.savepoint_rollback(before)


def refused(statement: str, *values) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)
    except DatabaseError:
        return
    pytest.fail(f"The database took: {statement}")


@pytest.mark.parametrize("state", [VersionState.FROZEN, VersionState.RELEASED, VersionState.SUPERSEDED])
def test_items_of_a_frozen_version_cannot_be_changed_by_any_client(state, bench):
    pk = make_version(state, bench).pk

    refused("UPDATE goldsets_versiongrade SET grade = 1 WHERE version_id = %s", pk)
    refused("UPDATE goldsets_versionquery SET split = 'dev', text = 'x' WHERE version_id = %s", pk)
    refused("UPDATE goldsets_versiontriple SET label = 'x' WHERE version_id = %s", pk)
    refused("DELETE FROM goldsets_versiongrade WHERE version_id = %s", pk)
    refused("DELETE FROM goldsets_versiontriple WHERE version_id = %s", pk)
    refused("DELETE FROM goldsets_version_rounds WHERE version_id = %s", pk)
    refused(
        "INSERT INTO goldsets_versiongrade"
        " (version_id, query_id, block_version_id, block_id, position, grade, resolution, judges)"
        " SELECT version_id, query_id, block_version_id + 1, 'x', 99, 3, 'single', 1"
        " FROM goldsets_versiongrade WHERE version_id = %s",
        pk,
    )


FACTS = (
    "state = 'draft', digest = '', frozen_at = NULL, released_at = NULL",
    "digest = 'x'",
    "manifest = '{}'",
    "seed = 99",
    "split_by = 'time'",
    "test_share = 0.9",
    "number = 99",
    "note = 'x'",
    "created_at = '2001-01-01'",
    "frozen_at = '2001-01-01'",
    "released_at = '2001-01-01'",
    "released_by_id = NULL",
    "state = 'frozen', released_at = NULL",
)


def test_facts_of_a_released_version_cannot_be_changed_by_any_client(bench):
    pk = make_version(VersionState.RELEASED, bench).pk

    for change in FACTS:
        refused(f"UPDATE goldsets_version SET {change} WHERE id = %s", pk)


def test_a_superseded_version_never_comes_back(bench):
    pk = make_version(VersionState.SUPERSEDED, bench).pk

    refused("UPDATE goldsets_version SET state = 'released' WHERE id = %s", pk)
    refused("DELETE FROM goldsets_version WHERE id = %s", pk)


def test_items_of_a_draft_can_be_written_and_removed(bench):
    version = draft(bench)

    version.rounds.clear()
    version.delete()

    assert not Version.objects.exists()


def test_two_versions_of_a_set_are_never_released_at_once(bench):
    make_version(VersionState.RELEASED, bench)
    second = make_version(VersionState.FROZEN, bench)

    refused("UPDATE goldsets_version SET state = 'released', released_at = frozen_at WHERE id = %s", second.pk)
