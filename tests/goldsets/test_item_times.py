"""When an item was asked or added, as its metadata or its file says."""

from datetime import UTC, datetime

import pytest

from apps.goldsets.core.splits import ItemTime, query_time, triple_time

ADDED = datetime(2026, 11, 1, 9, tzinfo=UTC)
NO_DATES = ("last spring", "14.03.2026", "2026-02-30", "0001-01-01T00:00+09:00", 20, ["x"])


def asked(*at: int) -> ItemTime:
    return ItemTime(datetime(*at, tzinfo=UTC), is_asked=True)


@pytest.mark.parametrize(
    ("metadata", "time"),
    [
        ({"asked_at": "2026-03-14"}, asked(2026, 3, 14)),
        ({"asked_at": "2026-03-14 09:30"}, asked(2026, 3, 14, 9, 30)),
        ({"asked_at": "2026-03-14T09:30:00+01:00"}, asked(2026, 3, 14, 8, 30)),
        ({"asked_at": "2026-03-14T09:30:00Z"}, asked(2026, 3, 14, 9, 30)),
        ({"date": "2026-01-01", "recorded_at": "2026-02-01", "asked_at": "2026-03-01"}, asked(2026, 3, 1)),
        ({"date": "2026-01-01", "recorded_at": "2026-02-01"}, asked(2026, 2, 1)),
        *((metadata, ItemTime(ADDED)) for metadata in ({}, {"asked_at": ""}, {"asked_at": None}, {"topic": "2026"})),
        *(({"asked_at": written}, ItemTime(None, written=str(written))) for written in NO_DATES),
    ],
)
def test_a_query_is_as_old_as_its_metadata_says_else_as_its_row_and_a_date_that_cannot_be_read_is_kept(metadata, time):
    assert query_time(metadata, ADDED) == time


def test_a_triple_is_as_old_as_its_file_says_else_as_its_row():
    assert triple_time({"added_at": "2026-11-20"}, ADDED) == ItemTime(datetime(2026, 11, 20, tzinfo=UTC))
    assert triple_time({}, ADDED) == ItemTime(ADDED)
