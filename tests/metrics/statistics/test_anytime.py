"""Evidence that may be looked at after every query: against products by hand, and by simulation."""

import itertools
import math

import numpy as np
import pytest

from apps.metrics.estimate import QUESTIONS
from apps.metrics.statistics.anytime import BETS, Evidence, evidence_of, evidence_words, fixed_words, joining_order
from benchmarks.coverage import BETTER, EQUALS, LOOKS, evidence_wins, fixed_wins, price


def alone(*change):
    (found,) = evidence_of(np.array(change)[:, None])
    return found


def test_the_evidence_is_the_mean_capital_of_the_same_bets_on_either_side():
    change = [0.3, -1.0, 0.05, 0.0, 1.0, -0.2]

    found = alone(*change)

    for n in range(1, len(change) + 1):
        capitals = [math.prod(1 + side * bet * d for d in change[:n]) for bet in BETS for side in (1, -1)]
        assert found.alone[n - 1] == pytest.approx(sum(capitals) / len(capitals), rel=1e-12)
    assert found.value == found.alone[-1]
    assert found.strongest == max(1.0, *found.alone)


def test_runs_that_differ_by_1_on_every_query_are_told_apart_after_seven():
    """The closed form: each bet λ has (1 + λ)ⁿ, and (1 − λ)ⁿ on the other side."""
    found = alone(*[1.0] * 9)

    closed = [sum((1 + bet) ** n + (1 - bet) ** n for bet in BETS) / 6 for n in range(1, 10)]
    assert found.alone == pytest.approx(closed, rel=1e-12)
    assert found.settled_after == 7 == next(n for n, value in enumerate(closed, 1) if value >= 20)
    assert alone(*[-1.0] * 9).alone == pytest.approx(closed, rel=1e-12)


def test_no_bet_grows_on_average_whatever_the_population_with_a_mean_of_0():
    """Every sequence of four differences, weighed by its chance: skewed, and with the greatest that there are."""
    for values, chances in (
        ([-0.5, 0.5 / 9], [0.1, 0.9]),
        ([-1.0, 0.0, 1.0], [0.3, 0.4, 0.3]),
        ([-1.0, 0.25], [0.2, 0.8]),
    ):
        mean = 0.0
        for places in itertools.product(range(len(values)), repeat=4):
            chance = math.prod(chances[place] for place in places)
            mean += chance * alone(*(values[place] for place in places)).value
        assert mean == pytest.approx(1.0, rel=1e-12)


def test_what_was_settled_stays_so_and_equal_runs_have_no_evidence():
    there_and_back = alone(*[0.8] * 9, *[-0.8] * 9)
    equal = alone(*[0.0] * 5)

    assert there_and_back.value < 1 < 20 < there_and_back.strongest
    assert there_and_back.is_settled
    assert (equal.value, equal.strongest, equal.settled_after) == (1.0, 1.0, None)


def test_several_differences_are_corrected_as_holm_corrects_p():
    """Of three the strongest is divided by 3, the next by 2; none counts for more than one that is stronger."""
    rising = np.column_stack([np.full(40, 0.5), np.full(40, 0.25), np.zeros(40)])

    first, second, third = evidence_of(rising)

    n = 12
    assert first.corrected[n] == pytest.approx(first.alone[n] / 3)
    assert second.corrected[n] == pytest.approx(min(second.alone[n] / 2, first.corrected[n]))
    assert third.strongest_corrected == 1.0
    assert first.settled_after == next(n for n, value in enumerate(first.alone, 1) if value >= 60)
    assert alone(*[0.5] * 40).settled_after < first.settled_after


def test_queries_count_in_the_order_they_joined_whatever_their_values():
    ids = ["Q1", "Q2", "Q3", "Q4", "Q5"]
    order = joining_order(ids, {"Q1": 2, "Q2": 1, "Q3": 1, "Q4": 3, "Q5": 1})
    change = np.array([[0.1], [0.2], [0.3], [0.4], [0.5]])

    (found,) = evidence_of(change, order)

    came = [ids[row] for row in order]
    assert came[3:] == ["Q1", "Q4"]
    assert sorted(came[:3]) == ["Q2", "Q3", "Q5"]
    assert found.alone == pytest.approx(alone(*change[order, 0]).alone)
    fewer = joining_order(ids[1:], dict.fromkeys(ids, 1))
    assert [ids[1:][row] for row in fewer] == [ids[row] for row in joining_order(ids, dict.fromkeys(ids, 1)) if row]


def test_the_sentence_says_when_it_was_settled_or_how_far_it_is():
    often = "looks again and again while queries are added"
    reached = "the evidence reached 20 after 7 of 9 queries."

    assert alone(*[1.0] * 9).words() == f"Whoever {often} may decide: {reached}"
    assert (
        alone(*[1.0] * 9).words(is_sure=True)
        == f"This holds for whoever looks once, and for whoever {often}: {reached}"
    )
    assert alone(1.0, 1.0).words() == f"Whoever {often} cannot decide yet: the evidence is 1.4, and 20 is needed."
    assert alone(1.0, 1.0).words(is_sure=True).startswith("Whoever looks once, at a number of queries set before, may ")
    assert alone(0.0).words(" after Holm over 6").endswith("the evidence after Holm over 6 is 1.0, and 20 is needed.")
    assert fixed_words(QUESTIONS).startswith("Interval and p are right for one look, at a number of questions set")
    assert [evidence_words(value) for value in (0.0812, 19.99, 1250.4, 1e9)] == [
        "0.08",
        "19.9",
        "1,250",
        "over a million",
    ]


def test_endless_evidence_stays_a_number_and_what_cannot_be_bet_on_is_refused():
    found = alone(*[1.0] * 5_000)

    assert found.value == found.strongest_corrected == pytest.approx(1e300)
    assert isinstance(found, Evidence)
    for values in ([], [1.5], [math.nan]):
        with pytest.raises(ValueError, match="between -1 and 1"):
            evidence_of(np.array(values, dtype=float).reshape(-1, 1))


@pytest.mark.parametrize("name", EQUALS)
def test_however_often_it_is_looked_at_equal_runs_are_hardly_ever_called_different(name):
    """At most 5 % by Ville's inequality, after any of 300 queries; with 800 samples its error is .8 points."""
    assert evidence_wins(EQUALS[name], 800) <= 0.06


def test_the_fixed_test_is_right_once_and_wrong_when_it_is_looked_at_again():
    draw = EQUALS["every query differs, as nDCG"]

    assert fixed_wins(draw, [100], 400) <= 0.075
    assert 0.2 <= fixed_wins(draw, LOOKS, 400) <= 0.32


@pytest.mark.parametrize(
    ("name", "half", "most"),
    [
        ("nDCG +.10, half of the queries differ", 1.5, 2.1),
        ("+.10, standard deviation .3", 1.2, 1.9),
        ("success from 80 to 90 %", 1.2, 2.0),
        ("+.05, standard deviation .1", 3.4, 4.1),
    ],
)
def test_a_true_difference_is_settled_for_its_price(name, half, most):
    _, often, nearly_always = price(BETTER[name], 400)

    assert often <= half
    assert nearly_always <= most


def test_variants_of_a_question_count_once_where_the_first_of_them_came():
    change = np.array([[0.2], [0.5], [0.4], [-0.1]])

    (found,) = evidence_of(change, np.array([2, 0, 3, 1]), np.array([7, 3, 7, 5]))

    (expected,) = evidence_of(np.array([[0.3], [-0.1], [0.5]]))
    assert found.alone == pytest.approx(expected.alone)
