"""The day a round ends, by what was done of late: named only when something was done."""

from datetime import date

import pytest

from apps.judging.core.eta import Lately, estimate

TODAY = date(2026, 11, 20)
HOUR = 3_600_000


def test_a_round_ends_when_people_go_on_as_they_did():
    lately = Lately(days=7, judgements=140, timed=140, timed_ms=4 * HOUR)

    found = estimate(50, lately, today=TODAY)

    assert (found.days, found.day) == (3, date(2026, 11, 23))
    assert round(lately.hours_per_day, 3) == 0.571


def test_what_was_not_timed_is_taken_to_be_like_the_rest():
    assert Lately(days=2, judgements=10, timed=5, timed_ms=HOUR).hours_per_day == 1.0


@pytest.mark.parametrize(
    ("timed_ms", "said"), [(0, "0 minutes"), (60_000, "1 minute"), (HOUR, "60 minutes"), (5 * HOUR, "5.0 hours")]
)
def test_work_per_day_is_shown_in_the_unit_that_people_would_use(timed_ms, said):
    assert Lately(days=1, judgements=4, timed=4, timed_ms=timed_ms).time_per_day == said
    assert Lately(days=1, judgements=4, timed=0, timed_ms=0).time_per_day == ""


@pytest.mark.parametrize(
    ("to_go", "judgements", "days", "day"),
    [(10, 0, None, None), (6, 21, 2, date(2026, 11, 22)), (0, 35, 0, TODAY), (100_000, 20, None, None)],
)
def test_no_day_is_named_out_of_nothing_or_beyond_ten_years(to_go, judgements, days, day):
    found = estimate(to_go, Lately(7, judgements, 0, 0), today=TODAY)

    assert (found.days, found.day, bool(found.why_not)) == (days, day, day is None)


@pytest.mark.parametrize(
    ("lately", "why_not"),
    [
        (Lately(1, 0, 0, 0), "nothing was judged in this round yet"),
        (Lately(7, 0, 0, 0), "nothing was judged in this round in the last 7 days"),
        (Lately(1, 30, 30, 90_000), "the latest grades took 3 seconds each, too fast to go by"),
        (Lately(1, 30, 30, HOUR), "the round was opened less than a day ago"),
        (Lately(3, 19, 19, HOUR), "19 judgements in the last 3 days are too few to go by"),
        (Lately(3, 20, 20, HOUR), ""),
    ],
)
def test_no_day_follows_from_a_pace_that_tells_nothing(lately, why_not):
    assert estimate(300, lately, today=TODAY).why_not == why_not
