"""Who is marked on Home: slow, too fast, far from others, each only with its figure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.agreement.core.attention import Word, marks_of
from apps.judging.core.eta import Workload
from apps.metrics.estimate import Estimate

CALM = Workload(done=50, share=100, timed=50, mean_ms=60_000, fast=0, lately=20, days=7)
NO_LEAN = Estimate.of(None, None, 0)
OTHERS = [50_000.0, 60_000.0, 90_000.0]


def marks(pace=CALM, lean=NO_LEAN, others=OTHERS, *, is_open=True):
    return [str(mark) for mark in marks_of(pace, others, lean, is_open=is_open)]


def lean(value, half, n):
    return Estimate.of(value, (value - half, value + half), n, "Student")


def test_who_works_as_expected_is_not_marked():
    assert marks() == []


class TestTooFast:
    def test_pairs_under_three_seconds_are_counted(self):
        assert marks(CALM._replace(fast=5)) == ["too fast: 5 of 50 pairs under 3 s"]

    def test_four_of_them_or_less_than_a_tenth_are_no_mark(self):
        assert marks(CALM._replace(fast=4, timed=4)) == []
        assert marks(CALM._replace(fast=9, timed=91)) == []


class TestFarFromOthers:
    def test_half_a_grade_with_an_interval_beyond_zero_is_far(self):
        assert marks(lean=lean(-1.1, 0.3, 52)) == ["far from others: 1.1 lower, 0.8 to 1.4, on 52 pairs"]
        assert marks(lean=lean(0.5, 0.4, 10)) == ["far from others: 0.5 higher, 0.1 to 0.9, on 10 pairs"]

    @pytest.mark.parametrize(
        "near",
        [lean(0.4, 0.1, 90), lean(1.2, 1.3, 12), lean(2.0, 0.1, 9), Estimate.of(2.0, None, 40)],
        ids=["less than half a grade", "interval over zero", "nine pairs", "no interval"],
    )
    def test_what_may_be_chance_is_no_mark(self, near):
        assert marks(lean=near) == []


class TestSlow:
    def test_twice_the_usual_time_of_the_others(self):
        assert marks(CALM._replace(mean_ms=150_000)) == ["slow: 2.5 times the others’ time a pair, on 50 pairs"]
        assert marks(CALM._replace(mean_ms=110_000)) == []

    def test_nothing_in_a_week_with_pairs_to_go(self):
        assert marks(CALM._replace(lately=0)) == ["slow: nothing in 7 days, 50 to go"]
        assert marks(CALM._replace(lately=0, days=6)) == []

    def test_who_has_finished_or_works_alone_is_not_slow(self):
        assert marks(CALM._replace(done=100, mean_ms=900_000)) == []
        assert marks(CALM._replace(mean_ms=900_000), others=[]) == []

    def test_nobody_is_slow_in_a_closed_round(self):
        assert marks(CALM._replace(lately=0), is_open=False) == []


@given(
    st.builds(
        Workload,
        done=st.integers(0, 99),
        share=st.integers(0, 99),
        timed=st.integers(0, 99),
        mean_ms=st.none() | st.floats(1, 1e6),
        fast=st.integers(0, 99),
        lately=st.integers(0, 9),
        days=st.integers(1, 7),
    ),
    st.lists(st.floats(1, 1e6), max_size=5),
    st.floats(-3, 3),
    st.integers(0, 60),
)
def test_every_mark_has_one_of_three_words_a_figure_and_its_count(pace, others, value, n):
    found = marks_of(pace, others, lean(value, 0.2, n), is_open=True)

    assert [mark.word for mark in found] == [word for word in Word if word in {mark.word for mark in found}]
    assert all(re.search(r"\d+ (?:pairs|of \d+ pairs|to go)", mark.figure) for mark in found)
