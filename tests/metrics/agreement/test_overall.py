"""All coefficients at once, each pair, each category: the same figures as one by one, and those of the libraries."""

import json

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import cohens_kappa as their_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as their_fleiss

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts, pair_table, table_counts
from apps.metrics.agreement.multi_rater import conger_kappa, fleiss_kappa, gwet_ac
from apps.metrics.agreement.overall import (
    COEFFICIENTS,
    FURTHER,
    Scale,
    all_coefficients,
    by_category,
    every_pair,
    table_figures,
)
from apps.metrics.agreement.pairs import kappa_of_maximum
from apps.metrics.agreement.results import Coefficient, standard_interval
from apps.metrics.agreement.uncertainty import Settings

NUMBERS = Scale(4, (0.0, 1.0, 2.0, 3.0), is_numeric=True)
FAST = Settings(resamples=200)


def ratings(items: int, raters: int, *, missing: float = 0.0, seed: int = 1) -> np.ndarray:
    """Items by raters who see the true grade in most cases."""
    dice = np.random.default_rng(seed)
    true = dice.integers(0, 4, (items, 1))
    rated = np.where(dice.random((items, raters)) < 0.7, true, dice.integers(0, 4, (items, raters)))
    return np.where(dice.random((items, raters)) < missing, MISSING, rated)


def facts_of(figure: Coefficient) -> tuple[list[float], tuple[object, ...]]:
    """The numbers of a coefficient, those that it has, and all else that it says."""
    numbers = [figure.value, figure.standard_error, *(figure.interval or ())]
    return [one for one in numbers if one is not None], (figure.name, figure.n, figure.reason, figure.method)


def test_together_they_are_what_they_are_alone():
    rated = ratings(200, 3)
    counts = category_counts(rated, 4)
    options = {"values": NUMBERS.values, "settings": FAST}

    found = all_coefficients(rated, NUMBERS, FAST)

    assert list(found) == [*COEFFICIENTS, *FURTHER]
    assert found["fleiss_kappa"] == fleiss_kappa(counts, **options)
    assert found["conger_kappa"] == conger_kappa(rated, 4, settings=FAST)
    assert found["krippendorff_alpha_ratio"] == krippendorff_alpha(counts, level="ratio", **options)
    assert found["gwet_ac2_linear"] == gwet_ac(counts, kind="linear", **options)


def test_missing_cells_leave_alphas_to_items_that_two_rated():
    rated = ratings(300, 3, missing=0.5)
    counts = category_counts(rated, 4)

    found = all_coefficients(rated, NUMBERS, FAST)

    alone = krippendorff_alpha(counts, level="ordinal", values=NUMBERS.values, settings=FAST)
    assert found["krippendorff_alpha_ordinal"] == alone
    assert found["krippendorff_alpha_ordinal"].n == found["gwet_ac1"].n == (counts.sum(axis=1) >= 2).sum()


def test_for_two_raters_they_equal_scikit_learn_and_statsmodels():
    rated = ratings(150, 2)
    first, second = rated.T
    table = pair_table(first, second, 4)

    found = all_coefficients(rated, NUMBERS, FAST)

    for key, kind in (
        ("cohen_kappa", None),
        ("weighted_kappa_linear", "linear"),
        ("weighted_kappa_quadratic", "quadratic"),
    ):
        theirs = their_kappa(table, wt=kind)
        assert found[key].value == pytest.approx(cohen_kappa_score(first, second, weights=kind, labels=range(4)))
        assert found[key].value == pytest.approx(theirs.kappa)
        assert found[key].standard_error == pytest.approx(theirs.std_kappa)
        assert standard_interval(found[key]) == pytest.approx((theirs.kappa_low, theirs.kappa_upp))
    assert found["cohen_kappa_of_maximum"].value == pytest.approx(
        found["cohen_kappa"].value / their_kappa(table).kappa_max
    )
    assert found["conger_kappa"].value == pytest.approx(found["cohen_kappa"].value)


@pytest.mark.parametrize("raters", [2, 3, 5])
def test_fleiss_equals_statsmodels(raters):
    rated = ratings(80, raters)
    counts, _ = aggregate_raters(rated, n_cat=4)

    assert fleiss_kappa(category_counts(rated, 4), settings=FAST).value == pytest.approx(their_fleiss(counts))


@pytest.mark.once
def test_every_error_is_that_of_many_samples():
    """The spread of each coefficient over repeated samples is what its analytic error says, within a sixth."""
    samples = [
        all_coefficients(ratings(150, 3, missing=0.2, seed=seed), NUMBERS, Settings(resamples=0)) for seed in range(120)
    ]

    for key in (*COEFFICIENTS, *FURTHER):
        values = [found[key].value for found in samples]
        if None not in values:
            errors = [found[key].standard_error for found in samples]
            assert np.std(values) == pytest.approx(np.mean(errors), rel=1 / 6), key


def test_every_pair_has_its_own_table_most_items_first():
    rated = ratings(60, 4, missing=0.4)
    rated[rated[:, 0] != MISSING, 3] = MISSING

    found = every_pair(rated, NUMBERS, FAST)

    assert {(pair.first, pair.second) for pair in found} == {(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)}
    assert [pair.n for pair in found] == sorted((pair.n for pair in found), reverse=True)
    for pair in found:
        table = pair_table(rated[:, pair.first], rated[:, pair.second], 4)
        assert pair.n == table.sum()
        assert pair.figures == table_figures(table, NUMBERS, FAST)


def test_many_pairs_take_the_standard_error(monkeypatch):
    monkeypatch.setattr("apps.metrics.agreement.overall.MOST_RESAMPLED", 2)

    found = every_pair(ratings(60, 3), NUMBERS, FAST)

    kappa = found[0].figures["cohen_kappa"]
    assert kappa.method == "standard error"
    assert kappa.interval == standard_interval(kappa)


@pytest.mark.parametrize("scale", [NUMBERS, Scale(4)], ids=["numbers", "words"])
def test_figures_of_many_pairs_are_those_of_each_table_alone(monkeypatch, scale):
    """Few shared items, so that there are tables of one item, of one category, and of totals that leave no room."""
    monkeypatch.setattr("apps.metrics.agreement.overall.MOST_RESAMPLED", 2)
    rated = ratings(40, 12, missing=0.7)
    rated[:6, :2] = 3
    rated[6:, :2] = MISSING

    found = every_pair(rated, scale, FAST)

    reasons = {figure.reason for pair in found for figure in pair.figures.values()}
    assert len(reasons - {""}) >= 3
    for pair in found:
        table = pair_table(rated[:, pair.first], rated[:, pair.second], 4)
        alone = table_figures(table, scale, Settings(resamples=0))
        assert list(pair.figures) == list(alone)
        for key, figure in pair.figures.items():
            numbers, words = facts_of(figure)
            assert (pytest.approx(numbers, rel=1e-12, abs=1e-12), words) == facts_of(alone[key])


def test_words_have_no_order_and_ranks_are_not_numbers():
    rated = ratings(50, 3)

    words = all_coefficients(rated, Scale(4), FAST)
    ranks = all_coefficients(rated, Scale(4, (0.0, 1.0, 2.0, 3.0)), FAST)

    assert words["krippendorff_alpha_nominal"].is_defined
    assert words["krippendorff_alpha_ordinal"].reason == "The labels are words without an order."
    assert words["gwet_ac2_quadratic"].reason == "The labels are words without an order."
    assert ranks["krippendorff_alpha_ordinal"].is_defined
    assert ranks["krippendorff_alpha_interval"].reason == "The labels are no numbers."


@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        (0, "There is no label."),
        (1, "It takes two annotators."),
        (3, "Cohen's κ is for two annotators and here are 3: see each pair, or Conger's κ for all together."),
    ],
)
def test_cohen_is_for_two(raters, reason):
    found = all_coefficients(ratings(20, raters), NUMBERS, FAST)

    assert found["cohen_kappa"].reason == reason
    assert found["cohen_kappa_of_maximum"].reason == reason


def test_a_ratio_needs_a_zero_with_no_value_below():
    found = all_coefficients(ratings(20, 3), Scale(4, (-1.0, 0.0, 1.0, 2.0), is_numeric=True), FAST)

    assert found["krippendorff_alpha_interval"].is_defined
    assert found["krippendorff_alpha_ratio"].reason.startswith("The ratio level needs labels from 0")


def test_one_item_has_a_share_and_nothing_else():
    found = all_coefficients(np.array([[0, 0, 1]]), NUMBERS, FAST)

    assert found["percent_agreement"].value == pytest.approx(1 / 3)
    assert found["percent_agreement"].interval is None
    assert {found[key].value for key in COEFFICIENTS[1:]} == {None}


# Against the highest that the totals allow


def test_kappa_against_its_maximum_is_cohens_example():
    """Cohen (1960), p. 42: with these totals the highest share is .80 and the highest kappa (.80 - .41) / .59."""
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    most = 100 / 200 + 60 / 200 + 20 / 200

    assert kappa_of_maximum(table).value == pytest.approx((0.70 - 0.41) / (most - 0.41))


def test_totals_that_allow_no_agreement_are_reported():
    found = kappa_of_maximum(np.array([[0, 5], [0, 0]]))

    assert found.reason == "The two raters' totals allow no agreement beyond chance."


# By category


def test_each_category_against_the_rest_is_fleiss_example(shared_data):
    """R's irr prints 0.245, 0.245, 0.520, 0.471 and 0.566 for the diagnoses of Fleiss (1971)."""
    cases = json.loads((shared_data / "agreement_reference.json").read_text())["cases"]
    case = next(case for case in cases if case["id"] == "fleiss_1971")

    found = by_category(np.array(case["counts"]), case["categories"], FAST)

    assert [one.used for one in found] == [26, 26, 30, 55, 43]
    assert [round(one.kappa.value, 3) for one in found] == [0.245, 0.245, 0.52, 0.471, 0.566]


def test_specific_agreement_of_two_raters_is_twice_the_cell_by_its_totals():
    """Dice (1945): 2a / (2a + b + c)."""
    counts = table_counts(np.array([[20, 5], [10, 15]]))

    yes, no = by_category(counts, ["yes", "no"], FAST)

    assert yes.specific.value == pytest.approx(2 * 20 / (2 * 20 + 5 + 10))
    assert no.specific.value == pytest.approx(2 * 15 / (2 * 15 + 5 + 10))
    assert yes.specific.interval[0] < yes.specific.value < yes.specific.interval[1]
    assert yes.kappa.value == pytest.approx(no.kappa.value)


def test_a_category_that_nobody_used_says_so():
    counts = np.array([[2, 0, 0], [1, 1, 0], [0, 2, 0]])

    assert by_category(counts, "abc", FAST)[2].specific.reason == "Nobody chose it for an item that two people rated."
