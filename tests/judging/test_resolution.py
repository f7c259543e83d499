"""Resolution as a product: every multiset of answers of up to four seats, against a plain restatement."""

from itertools import product

import pytest

from apps.judging.core.resolution import (
    PairState,
    Resolution,
    ResolutionRule,
    Resolved,
    Ruling,
    lower_of_neighbours,
    near_median,
    resolve,
    settled_by,
    spread,
)

ANSWERS = (0, 1, 2, 3, None)
PARTLY = Resolved(PairState.PARTLY, Resolution.UNRESOLVED, None)
SPLIT = Resolved(PairState.DISAGREED, Resolution.UNRESOLVED, None)

TABLE = [
    (1, [], Resolved(PairState.UNJUDGED, Resolution.UNRESOLVED, None)),
    (1, [0], Resolved(PairState.AGREED, Resolution.SINGLE, 0)),
    (1, [3], Resolved(PairState.AGREED, Resolution.SINGLE, 3)),
    (1, [None], Resolved(PairState.AGREED, Resolution.UNRESOLVED, None)),
    (2, [], Resolved(PairState.UNJUDGED, Resolution.UNRESOLVED, None)),
    (2, [2], PARTLY),
    (2, [None], PARTLY),
    (2, [2, 2], Resolved(PairState.AGREED, Resolution.UNANIMOUS, 2)),
    (2, [0, 0], Resolved(PairState.AGREED, Resolution.UNANIMOUS, 0)),
    (2, [0, 3], SPLIT),
    (2, [2, None], SPLIT),
    (2, [None, None], Resolved(PairState.AGREED, Resolution.UNRESOLVED, None)),
    (3, [1, 1], PARTLY),
    (3, [1, 1, 1], Resolved(PairState.AGREED, Resolution.UNANIMOUS, 1)),
    (3, [1, 3, 1], Resolved(PairState.DISAGREED, Resolution.MAJORITY, 1)),
    (3, [0, 0, None], Resolved(PairState.DISAGREED, Resolution.MAJORITY, 0)),
    (3, [None, None, 2], SPLIT),
    (3, [0, 1, 2], SPLIT),
    (4, [0, 0, 3, 3], SPLIT),
    (4, [3, 0, 3, 3], Resolved(PairState.DISAGREED, Resolution.MAJORITY, 3)),
]


@pytest.mark.parametrize(("planned", "answers", "expected"), TABLE)
def test_answers_resolve_as_the_table_says(planned, answers, expected):
    assert resolve(answers, planned=planned) == expected


@pytest.mark.parametrize("planned", [1, 2, 3, 4])
def test_every_combination_follows_the_rules(planned):
    for given in range(planned + 1):
        for answers in product(ANSWERS, repeat=given):
            resolved = resolve(answers, planned=planned)

            assert resolve(answers[::-1], planned=planned) == resolved
            if resolved.grade is not None:
                assert answers.count(resolved.grade) * 2 > planned
                assert given == planned
            else:
                assert resolved.resolution is Resolution.UNRESOLVED
            if given == planned:
                majority = any(answers.count(grade) * 2 > planned for grade in range(4))
                assert resolved.needs_lead is not majority


@pytest.mark.parametrize("planned", [1, 2, 3])
@pytest.mark.parametrize("grade", [0, 2, None])
def test_a_ruling_ends_every_combination(planned, grade):
    for answers in product(ANSWERS, repeat=planned):
        expected = Resolved(PairState.ADJUDICATED, Resolution.ADJUDICATED, grade)

        assert resolve(answers, planned=planned, ruling=Ruling(grade)) == expected


def test_grades_are_never_averaged():
    assert resolve([0, 3], planned=2).grade is None
    assert resolve([1, 3], planned=2).grade is None


def test_more_answers_than_seats_are_an_error():
    with pytest.raises(ValueError, match="2 answers for 1 seats"):
        resolve([1, 1], planned=1)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([], 0), ([2], 0), ([0, 3], 3), ([1, 2], 1), ([2, None], 3), ([None, None], 0), ([0, 3, None], 6)],
)
def test_spread_orders_disagreements(answers, expected):
    assert spread(answers) == expected


NEAR_MEDIANS = [
    ([], None),
    ([2], 2),
    ([1, 2], None),
    ([0, 1, 2], 1),
    ([3, 1, 2], 2),
    ([0, 0, 1], 0),
    ([0, 1, 1], 1),
    ([0, 1, 3], None),
    ([0, 2, 3], None),
    ([0, 0, 2], None),
    ([0, 1, None], None),
    ([0, 1, 2, None], None),
    ([0, 1, 1, 2], None),
    ([0, 1, 1, 2, 2], 1),
    ([0, 1, 1, 2, 3], None),
]


@pytest.mark.parametrize(("answers", "expected"), NEAR_MEDIANS)
def test_the_middle_of_an_odd_number_of_near_grades_settles(answers, expected):
    assert near_median(answers) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([], None), ([1, 2], 1), ([3, 2], 2), ([0, 0], 0), ([1, 3], None), ([1, None], None), ([2, 3, 3, 2], 2)],
)
def test_the_lower_of_two_neighbours_settles(answers, expected):
    assert lower_of_neighbours(answers) == expected


@pytest.mark.parametrize("judges", [1, 2, 3, 4, 5])
def test_no_rule_gives_a_grade_that_nobody_gave_or_one_far_from_any(judges):
    for answers in product(ANSWERS, repeat=judges):
        for rule in ResolutionRule:
            grade = settled_by(rule, answers)

            assert settled_by(rule, answers[::-1]) == grade
            assert grade is None or grade in answers
            if grade is not None:
                assert None not in answers
                assert max(abs(answer - grade) for answer in answers) <= 1


def test_a_rule_never_overturns_a_majority():
    for answers in product(ANSWERS, repeat=3):
        majority = resolve(answers, planned=3).grade

        assert near_median(answers) in {None, majority} or majority is None


def test_the_majority_alone_settles_nothing_more():
    assert [settled_by(ResolutionRule.MAJORITY, answers) for answers in ([0, 1], [0, 1, 2], [2, 2, 3])] == [
        None,
        None,
        None,
    ]
