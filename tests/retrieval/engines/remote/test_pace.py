import pytest

from apps.retrieval.core.engines.base import BadParameters
from apps.retrieval.core.engines.remote.search import LONGEST_WAIT, Pace, RateLimiter


def test_a_pace_is_read_from_plain_values_and_back():
    assert Pace.of({}) == Pace()
    assert Pace.of({"at_once": 8.0, "per_second": 5}).values() == {**Pace().values(), "at_once": 8, "per_second": 5.0}


@pytest.mark.parametrize("values", [{"at_once": 0}, {"at_once": 33}, {"tries": True}, {"read": "1"}, {"speed": 1}])
def test_a_pace_out_of_bounds_is_refused(values):
    with pytest.raises(BadParameters):
        Pace.of(values)


def test_waits_double_less_up_to_half_and_are_the_querys_own():
    pace = Pace(first_wait=1.0)
    waits = [pace.wait_before(attempt, "Q1") for attempt in (2, 3, 4)]

    assert all(top / 2 <= wait <= top for wait, top in zip(waits, (1, 2, 4), strict=True))
    assert waits == [pace.wait_before(attempt, "Q1") for attempt in (2, 3, 4)]
    assert waits[0] != pace.wait_before(2, "Q2")
    assert pace.wait_before(60, "Q1") <= LONGEST_WAIT


def test_a_gate_spaces_requests_evenly():
    now = [100.0]
    limiter = RateLimiter(4, clock=lambda: now[0])

    assert [limiter.reserve() for _ in range(3)] == [0.0, 0.25, 0.5]

    now[0] = 200.0
    assert limiter.reserve() == 0.0


def test_an_open_gate_lets_everybody_through():
    limiter = RateLimiter(0, clock=lambda: 1.0)

    assert [limiter.reserve() for _ in range(3)] == [0.0, 0.0, 0.0]


def test_a_held_gate_lets_nobody_begin():
    limiter = RateLimiter(2, clock=lambda: 10.0)
    limiter.pause(5)

    assert [limiter.reserve(), limiter.reserve()] == [5.0, 5.5]


def test_a_stopped_gate_wakes_those_who_wait():
    limiter = RateLimiter(0)
    assert limiter.sleep(0)

    limiter.stop()

    assert not limiter.sleep(3600)
    assert not limiter.sleep(0)
