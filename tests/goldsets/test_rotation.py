from datetime import date

import pytest

from apps.goldsets.core.slice_sampling import (
    LEFT,
    NEXT,
    NOW,
    USED,
    Turn,
    balance,
    first_day,
    furthest,
    next_quarter,
    quarter_of,
    turns,
)


@pytest.mark.parametrize(
    ("day", "quarter", "after", "begins"),
    [
        (date(2026, 1, 1), "2026-Q1", "2026-Q2", date(2026, 1, 1)),
        (date(2026, 11, 25), "2026-Q4", "2027-Q1", date(2026, 10, 1)),
    ],
)
def test_quarters(day, quarter, after, begins):
    assert (quarter_of(day), next_quarter(quarter), first_day(quarter)) == (quarter, after, begins)


@pytest.mark.parametrize("text", ["2026-Q5", "2026Q4", "", "26-Q1"])
def test_what_is_no_quarter_is_refused(text):
    with pytest.raises(ValueError, match="write it as 2026-Q4"):
        first_day(text)


def test_the_balance_has_every_kind_of_the_full_set_and_names_the_furthest():
    everything = [("tax", "q"), ("tax", "q"), ("tax", "q"), ("access", "q")]

    rows = balance(("domain", "source"), everything, [True, False, False, True])

    assert [(row.field, row.value, row.inside, row.overall) for row in rows] == [
        ("domain", "tax", 1, 3),
        ("domain", "access", 1, 1),
    ]
    assert [row.points for row in rows] == [-25.0, 25.0]
    assert furthest(rows) in rows
    assert furthest([]) is None


def test_the_rotation_shows_what_was_used_what_is_now_and_what_comes():
    used = ["2026-Q3"] * 3 + ["2026-Q4"] * 3 + [""] * 5

    assert turns(used, "2026-Q4", 3) == [
        Turn("2026-Q3", 3, USED),
        Turn("2026-Q4", 3, NOW),
        Turn("2027-Q1", 3, NEXT),
        Turn("", 2, LEFT),
    ]
