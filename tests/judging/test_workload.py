"""How long judging takes, in words; the page says the same while choices change (static/js/editions.js)."""

import pytest

from apps.judging.core.eta import TimePerPair

SECOND = 1_000


@pytest.mark.parametrize(
    ("pairs", "low", "high", "words"),
    [
        (0, 120, 180, ""),
        (1, 10, 10, "about 1 min"),
        (7, 120, 180, "14 min to 21 min"),
        (113, 106, 106, "about 3 h 20 min"),
        (30, 120, 180, "1 h to 1 h 30 min"),
        (2, 20, 40, "about 1 min"),
    ],
)
def test_the_time_is_in_hours_and_minutes(pairs, low, high, words):
    assert TimePerPair(low * SECOND, high * SECOND).of(pairs) == words
