import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.judging.core.table_roles import is_same_grade, propose_grades

SCALE = {0: "Not relevant", 1: "Related", 2: "Answers part", 3: "Answers all"}


@pytest.mark.parametrize(
    ("values", "grades"),
    [
        (["0", "2", "3"], ["0", "2", "3"]),
        (["1", "2", "3", "4", "5"], ["0", "1", "1", "2", "3"]),
        (["1", "4"], ["0", "3"]),
        (["0", "50", "100"], ["0", "1", "3"]),
        (["Relevant", "Partly", "Not"], ["3", "1", "0"]),
        (["answers all", "RELATED"], ["3", "1"]),
    ],
)
def test_grades_of_another_scale_have_an_obvious_place(values, grades):
    assert propose_grades(values, SCALE) == dict(zip(values, grades, strict=True))


def test_codes_means_and_unknown_words_have_none():
    assert propose_grades(["-1", "meh", "2", ""], SCALE) == {"2": "2"}
    assert propose_grades(["1", "1.5", "2,5", "3.0", "2"], SCALE) == {"1": "1", "3.0": "3", "2": "2"}
    assert propose_grades(["4,5", "5"], SCALE) == {"5": "3"}


@pytest.mark.parametrize("slip", ["33", "220", "10"])
def test_a_number_far_from_the_others_moves_none_of_them(slip):
    assert propose_grades(["0", "1", "2", "3", slip], SCALE) == {"0": "0", "1": "1", "2": "2", "3": "3"}
    assert propose_grades(["2", "330"], SCALE) == {"2": "2"}


@given(st.sets(st.integers(0, 100), min_size=1, max_size=12))
def test_a_higher_number_never_becomes_a_lower_grade(numbers):
    proposed = propose_grades(map(str, numbers), SCALE)

    grades = [int(proposed[str(number)]) for number in sorted(numbers) if str(number) in proposed]
    assert grades == sorted(grades)
    assert set(grades) <= set(SCALE)


@pytest.mark.parametrize(
    ("value", "grade", "is_same"),
    [("1", "1", True), ("1.0", "1", True), ("1.5", "1", False), ("yes", "1", False), ("", "0", False)],
)
def test_a_grade_with_a_point_is_the_same_grade(value, grade, is_same):
    assert is_same_grade(value, grade) == is_same
