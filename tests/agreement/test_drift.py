"""Whether grading moves over the weeks: figures worked out by hand."""

from datetime import date, timedelta

import numpy as np
import pytest

from apps.agreement.core.drift import (
    ConsistencyDrop,
    DriftCheck,
    FigureWeek,
    advice,
    alike_by_week,
    change_of,
    consistency_drop,
    first_week,
    grade_shift,
    lately_from,
    line_of,
    mean_by_week,
)
from apps.agreement.core.weeks import EPOCH
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.ratings import Dated, Rate, Ratings
from apps.metrics.estimate import Estimate

TODAY = date(2026, 11, 22)  # a Sunday
MONDAY = date(2026, 11, 16)
NO_LEAN = Estimate.of(None, None, 0)
NO_DROP = ConsistencyDrop(Rate(0, 0), Rate(0, 0), None)


def ago(weeks):
    return MONDAY - timedelta(weeks=weeks)


def dated(rows):
    """Two people; each row holds for either their grade (None for none) and how many weeks ago it came."""
    codes = [[MISSING if grade is None else grade for grade, _ in row] for row in rows]
    days = [[(ago(weeks) - EPOCH).days + 2 for _, weeks in row] for row in rows]
    items = np.array([[1, number] for number in range(len(rows))])
    ratings = Ratings((7, 8), (0, 1, 2, 3), np.array(codes), items)
    return Dated(ratings, np.array(days, dtype=np.int32))


def test_the_twelve_weeks_end_with_this_one():
    assert (first_week(TODAY), lately_from(TODAY)) == (ago(11), ago(3))


def test_a_week_shows_the_share_that_was_graded_alike():
    looks = [
        DriftCheck(ago(0), 2, 2),
        DriftCheck(ago(1), 0, 1),
        DriftCheck(ago(0), 3, 1),
        DriftCheck(ago(0), 1, 1),
        DriftCheck(ago(0), 0, 0),
    ]

    assert alike_by_week(looks) == [FigureWeek(ago(1), 0.0, 1), FigureWeek(ago(0), 0.75, 4)]


def test_the_mean_grade_is_of_pairs_that_two_people_graded_in_the_chosen_weeks():
    grades = dated([((1, 2), (2, 1)), ((3, 1), (None, 0)), ((0, 1), (3, 1)), ((2, 20), (2, 20))])

    assert mean_by_week(grades, ago(11)) == [FigureWeek(ago(2), 1.0, 1), FigureWeek(ago(1), pytest.approx(5 / 3), 3)]


def test_grades_crept_when_the_same_pairs_got_higher_ones_lately():
    rows = [((1, 8), (2, 1)), ((1, 8), (3, 0)), ((0, 8), (1, 3)), ((2, 8), (2, 2))]
    late_only, early_only = ((3, 0), (3, 1)), ((0, 9), (0, 4))

    found = grade_shift(dated([*rows, late_only, early_only]), ago(3))

    assert (found.value, found.n) == (1.0, 4)
    assert found.interval == pytest.approx((1 - 5.841 * 0.8165 / 2, 1 + 5.841 * 0.8165 / 2), abs=1e-3)


def test_other_pairs_in_a_week_are_not_a_grade_shift():
    grades = dated([((0, 9), (0, 8)), ((0, 8), (0, 7)), ((3, 0), (3, 1)), ((3, 0), (3, 1))])

    assert grade_shift(grades, ago(3)).n == 0


def test_a_change_has_the_interval_of_newcombes_paper():
    """Table II, case (a): 56 of 70 against 48 of 80."""
    assert change_of(Rate(48, 80), Rate(56, 70), 0.95) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_fall_sets_the_last_four_weeks_beside_those_before():
    looks = [DriftCheck(ago(4), 0, int(place >= 56)) for place in range(70)]
    looks += [DriftCheck(ago(3), 0, int(place >= 48)) for place in range(80)]

    found = consistency_drop(looks, ago(3))

    assert (found.before, found.lately) == (Rate(56, 70), Rate(48, 80))
    assert found.interval[0] < -0.3339 < -0.0524 < found.interval[1], "wider at 99 %"


def test_without_earlier_checks_there_is_no_interval():
    assert consistency_drop([DriftCheck(ago(0), 1, 1)], ago(3)).interval is None


def line(values, n=9):
    """A line through weeks, the last of which is this one."""
    weeks = [FigureWeek(ago(len(values) - 1 - place), value, n) for place, value in enumerate(values)]
    return line_of(weeks, ago(3), low=0, high=1)


def test_the_usual_range_is_of_the_weeks_before_the_last_four():
    found = line([0.5, 0.6, 0.7, 0, 0, 0, 0])

    half = 4.3027 * 0.1 * (4 / 3) ** 0.5
    assert found.usual == pytest.approx((0.6 - half, min(1, 0.6 + half)), abs=1e-4)


def test_a_range_stays_within_the_scale():
    assert line([0.2, 0.9, 0.5, 0, 0, 0, 0]).usual == (0, 1)


def test_two_earlier_weeks_make_no_usual_range():
    assert line([0.5, 0.6, 0, 0, 0, 0]).usual is None


def test_two_weeks_make_no_line():
    assert line([0.5, 0.6]) is None


def test_weeks_of_few_grades_make_no_line():
    assert line([0.5] * 8, n=4) is None


def test_nothing_is_advised_where_nothing_is_sure():
    unsure = Estimate.of(0.2, (-0.1, 0.5), 90)
    few = Estimate.of(0.9, (0.5, 1.3), 19)
    steady = ConsistencyDrop(Rate(80, 90), Rate(78, 90), (-0.15, 0.1))

    assert [advice(unsure, steady), advice(few, steady), advice(NO_LEAN, NO_DROP)] == ["", "", ""]


def test_the_advice_on_drift_has_its_n_and_what_to_do():
    crept = Estimate.of(0.21, (0.05, 0.37), 64)
    fallen = ConsistencyDrop(Rate(90, 100), Rate(30, 50), (-0.5, -0.1))

    assert advice(crept, NO_DROP) == (
        "The same pairs got grades 0.21 higher in the last four weeks than before (n 64). "
        "Discuss such pairs together before the next version."
    )
    assert advice(crept, fallen).replace("\N{NO-BREAK SPACE}", " ") == (
        "The same pairs got grades 0.21 higher in the last four weeks than before (n 64), and people repeat "
        "their own grade less often: on 60 % of 50 repeated pairs, before on 90 % of 100. "
        "Discuss such pairs together before the next version."
    )
    assert advice(Estimate.of(-0.21, (-0.37, -0.05), 64), NO_DROP).startswith("The same pairs got grades 0.21 lower")
