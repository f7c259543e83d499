import pytest

from apps.jobs.core.progress import percent_done, progress_line, seconds_left, spoken


def test_a_line_says_done_total_and_time_left():
    assert progress_line(412_000, 1_000_000, 40) == "412,000 of 1,000,000, 40 s left"


@pytest.mark.parametrize(
    ("done", "total", "left", "line"),
    [
        (0, None, None, ""),
        (7, None, None, "7 so far"),
        (0, 10, None, "0 of 10"),
        (10, 10, 0, "10 of 10, 0 s left"),
    ],
)
def test_a_line_says_only_what_is_known(done, total, left, line):
    assert progress_line(done, total, left) == line


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "left"),
    [
        (50, 100, 10.0, 10),
        (25, 100, 10.0, 30),
        (0, 100, 10.0, None),
        (50, None, 10.0, None),
        (50, 100, 0.5, None),
        (50, 100, None, None),
        (120, 100, 10.0, None),
    ],
)
def test_time_left_follows_the_pace_or_is_not_guessed(done, total, elapsed, left):
    assert seconds_left(done, total, elapsed) == left


@pytest.mark.parametrize(
    ("done", "total", "percent"), [(0, 10, 0), (1, 3, 33), (10, 10, 100), (12, 10, 100), (5, None, None), (5, 0, None)]
)
def test_per_cent_is_whole_and_never_above_a_hundred(done, total, percent):
    assert percent_done(done, total) == percent


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.2, "under 1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (7200, "2 h"), (200_000, "2 days")],
)
def test_time_spans_are_written_in_one_unit(seconds, words):
    assert spoken(seconds) == words
