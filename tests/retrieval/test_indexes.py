from datetime import timedelta

import pytest
from django.utils import timezone

from apps.common.files.private import open_to_others
from apps.jobs.execution import periodic
from apps.retrieval.core.engines.store import stored_indexes
from apps.retrieval.execution.indexes import (
    folder,
    known_indexes,
    open_built,
    open_signatures,
    open_system,
    tidy_indexes,
)
from apps.retrieval.execution.passage_location import open_texts
from tests.retrieval.factories import make_snapshot, make_system

pytestmark = pytest.mark.django_db


@pytest.fixture
def snapshot(project):
    return make_snapshot(project)


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def test_what_is_known_stays_and_what_nothing_leads_to_goes(project, snapshot):
    open_system(make_system(project), snapshot)
    open_signatures(snapshot)
    open_texts(snapshot)
    (folder() / "0123").mkdir()
    (folder() / "0123.lock").touch()

    assert [index.digest for index in tidy_indexes(timezone.now())] == ["0123"]
    assert {index.digest for index in stored_indexes(folder())} == set(known_indexes())


def test_a_long_unused_index_goes_and_is_built_again_when_needed(project, snapshot, settings):
    settings.INDEX_MAX_DAYS = 30
    system = make_system(project)
    open_system(system, snapshot)
    assert open_built(system, snapshot) is not None

    assert len(tidy_indexes(timezone.now() + timedelta(days=29))) == 0
    assert len(tidy_indexes(timezone.now() + timedelta(days=31))) == 1

    assert open_built(system, snapshot) is None
    assert open_system(system, snapshot).blocks == 4


def test_zero_sets_no_limit(project, snapshot, settings):
    settings.INDEX_MAX_DAYS = settings.INDEX_MAX_BYTES = 0
    open_system(make_system(project), snapshot)

    assert tidy_indexes(timezone.now() + timedelta(days=10_000)) == []


def test_indexes_beyond_the_size_limit_are_removed(project, snapshot, settings):
    settings.INDEX_MAX_BYTES = 1
    open_system(make_system(project), snapshot)

    assert len(tidy_indexes(timezone.now())) == 1


def test_indexes_are_tidied_as_a_periodic_task(project, snapshot, settings):
    settings.INDEX_MAX_BYTES = 1
    open_system(make_system(project), snapshot)

    assert periodic.do("retrieval.indexes", at=timezone.now())

    assert stored_indexes(folder()) == []


def test_nobody_else_of_the_machine_can_read_the_folder_of_indexes(project, snapshot, settings):
    open_system(make_system(project), snapshot)

    assert folder().is_dir()
    assert open_to_others(settings.DATA_DIR) == []
