"""When an item was asked or added, as its metadata or its file says."""

from datetime import UTC, datetime

import pytest

from apps.goldsets.core.splits import ItemTime, query_time, triple_time

ADDED = datetime(2026, 11, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2026-03-14", datetime(2026, 3, 14, tzinfo=UTC)),
        ("2026-03-14 09:30", datetime(2026, 3, 14, 9, 30, tzinfo=UTC)),
        ("2026-03-14T09:30:00+01:00", datetime(2026, 3, 14, 8, 30, tzinfo=UTC)),
        ("2026-03-14T09:30:00Z", datetime(2026, 3, 14, 9, 30, tzinfo=UTC)),
    ],
)
def test_a_query_is_as_old_as_its_metadata_says(written, at):
    assert query_time({"asked_at": written}, ADDED) == ItemTime(at, is_asked=True)


@pytest.mark.parametrize("metadata", [{}, {"asked_at": ""}, {"asked_at": None}, {"topic": "2026-03-14"}])
def test_a_query_that_says_nothing_is_as_old_as_its_row(metadata):
    assert query_time(metadata, ADDED) == ItemTime(ADDED)


@pytest.mark.parametrize("written", ["last spring", "14.03.2026", "2026-02-30", "0001-01-01T00:00+09:00", 20, ["x"]])
def test_a_date_that_cannot_be_read_is_no_time_and_is_kept_as_written(written):
    assert query_time({"asked_at": written}, ADDED) == ItemTime(None, written=str(written))


def test_asked_at_goes_before_recorded_at_and_date():
    metadata = {"date": "2026-01-01", "recorded_at": "2026-02-01", "asked_at": "2026-03-01"}

    assert query_time(metadata, ADDED).at == datetime(2026, 3, 1, tzinfo=UTC)
    del metadata["asked_at"]
    assert query_time(metadata, ADDED).at == datetime(2026, 2, 1, tzinfo=UTC)


def test_a_triple_is_as_old_as_its_file_says_else_as_its_row():
    assert triple_time({"added_at": "2026-11-20"}, ADDED) == ItemTime(datetime(2026, 11, 20, tzinfo=UTC))
    assert triple_time({}, ADDED) == ItemTime(ADDED)
