import numpy as np
import pytest

from apps.retrieval.core.engines.encoder import nearest, unit, unit_rows


def slowly(rows, vector, k):
    """Every cosine by itself, sorted by the rule."""
    scores = [float((row.astype(np.float64) * vector).sum()) for row in rows]
    order = sorted(range(len(rows)), key=lambda place: (scores[place], place), reverse=True)
    kept = [place for place in order if scores[place] > 0][:k]
    return kept, [scores[place] for place in kept]


@pytest.fixture(scope="module")
def crowd():
    """Many rows, a third of them twice, and one of them as the question."""
    draw = np.random.default_rng(3)
    rows = unit_rows(draw.standard_normal((6_000, 24)))
    return np.concatenate([rows, rows[:3_000]])[draw.permutation(9_000)]


@pytest.mark.parametrize("k", [1, 2, 10, 333, 9_000])
def test_the_nearest_are_those_of_a_slow_search(crowd, k):
    vector = unit(crowd[17].astype(np.float64))

    positions, scores = nearest(crowd, vector, k)

    assert (positions.tolist(), scores.tolist()) == slowly(crowd, vector, k)


def test_equal_rows_tie_wherever_they_are():
    row = unit_rows(np.random.default_rng(5).standard_normal((1, 128)))
    rows = np.repeat(row, 1_003, axis=0)

    positions, scores = nearest(rows, unit(row[0].astype(np.float64)), 7)

    assert positions.tolist() == [1_002, 1_001, 1_000, 999, 998, 997, 996]
    assert len(set(scores.tolist())) == 1


def test_a_right_angle_and_beyond_is_not_returned():
    rows = np.array([[1, 0], [0, 1], [-1, 0], [0, 0]], dtype=np.float32)

    positions, scores = nearest(rows, np.array([1.0, 0.0]), 4)

    assert (positions.tolist(), scores.tolist()) == ([0], [1.0])


def test_no_rows_are_near_to_nothing():
    assert nearest(np.zeros((0, 4), dtype=np.float32), np.ones(4), 3)[0].tolist() == []


def test_what_has_no_direction_stays_zero():
    assert unit(np.zeros(3)) is None
    assert unit_rows(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], [np.float32(0.6), np.float32(0.8)]]
