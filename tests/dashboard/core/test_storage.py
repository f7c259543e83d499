"""What a server stores, as a job remembers it."""

import json

import pytest

from apps.dashboard.core.storage import CLEARABLE, KINDS, Measured, ProjectSize, measured_from, pace

FOUND = Measured(
    host="one",
    total=200,
    free=100,
    is_beside=True,
    sizes={"database": 40, "indexes": 20, "backups": 30},
    clearable={"indexes": 5, "figures": 1},
    projects={7: ProjectSize(passages=3, upload_bytes=9)},
)


def test_a_measurement_comes_back_from_json_as_it_was():
    assert measured_from(json.loads(json.dumps(FOUND.as_json()))) == FOUND
    assert FOUND.can_be_cleared == 6


def test_a_kind_of_another_version_is_left_out():
    stored = FOUND.as_json() | {"sizes": {"database": 40, "of tomorrow": 1}}

    assert measured_from(stored).sizes == {"database": 40}


def test_on_the_disk_of_the_data_directory_are_no_backups_and_only_a_database_beside_it():
    assert FOUND.on_disk == {"database": 40, "indexes": 20}
    assert FOUND._replace(is_beside=False).on_disk == {"indexes": 20}


def test_what_can_be_cleared_says_why_it_may_go():
    assert {name for name, kind in KINDS.items() if kind.clears} == CLEARABLE


@pytest.mark.parametrize(
    ("free_then", "free_now", "words"),
    [
        (1_000, 930, "At the pace of the last 7 days the disk is full in about 3 months."),
        (1_000, 300, "At the pace of the last 7 days the disk is full in about 3 days."),
        (1_000, 1, "At the pace of the last 7 days the disk is full in about 2 days."),
        (1_000, 1_000, ""),
        (900, 1_000, ""),
        (1_000_000, 999_990, ""),
    ],
)
def test_a_disk_that_fills_is_told_with_its_pace(free_then, free_now, words):
    earlier, later = (FOUND._replace(total=10**7, free=free) for free in (free_then, free_now))

    assert pace(earlier, later, 7.0) == words
    assert pace(earlier._replace(host="two"), later, 7.0) == "", "another machine has another disk"
