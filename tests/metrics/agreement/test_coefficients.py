import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import MISSING, category_counts, chance_corrected, codes, pair_table
from apps.metrics.agreement.multi_rater import conger_kappa, fleiss_kappa, gwet_ac, uniform_chance
from apps.metrics.agreement.pairs import (
    cohen_kappa,
    kappa,
    pair_gwet_ac,
    percent_agreement,
)
from apps.metrics.agreement.results import (
    Coefficient,
    agreement_weights,
    band,
    informative,
    standard_interval,
    undefined,
)
from apps.metrics.agreement.uncertainty import (
    RESAMPLES,
    Settings,
    estimate,
    interval_with,
    resampled,
    sample_of_counts,
    sample_of_table,
)
from apps.metrics.estimate import Estimate
from apps.metrics.statistics.bootstrap import DEFAULT_SEED
from apps.metrics.statistics.proportions import widened
from tests.metrics.agreement.reference import published_cases
from tests.walks import often

# Published examples, read from the reference file

OFFERED = frozenset(
    {
        *(f"{stat}{kind}" for stat in ("cohen_kappa", "cohen_kappa_se") for kind in ("", ":linear")),
        *(f"gwet{error}{kind}" for error in ("", "_se") for kind in ("", ":linear", ":quadratic", ":ordinal")),
        *(f"fleiss_generalised{kind}" for kind in ("", ":linear", ":quadratic")),
        *(f"krippendorff_alpha{level}" for level in ("", ":nominal", ":ordinal", ":interval", ":ratio")),
        *("percent_agreement", "cohen_kappa_gwet_se", "scott_pi", "brennan_prediger", "conger"),
        *("gwet_ac1", "gwet_ac1_se", "fleiss_kappa", "fleiss_generalised_se", "fleiss_kappa_se_gwet"),
        "krippendorff_alpha_se",
    }
)
NOT_COMPUTED = frozenset({"cohen_kappa_custom", "cohen_kappa_se0", "cohen_kappa_se0:linear"})
"""Kappa with weights of one's own, and its error if nobody agreed beyond chance: no page, file or command has them."""


def test_every_published_figure_is_among_those_that_are_compared(shared_data):
    cases = json.loads((shared_data / "agreement_reference.json").read_text())["cases"]

    assert {result["stat"] for case in cases for result in case["results"]} <= OFFERED | NOT_COMPUTED


def _table(case) -> np.ndarray:
    if case["kind"] == "table":
        return np.array(case["table"])
    first, second = (np.array(rater) for rater in case["ratings"])
    size = max(first.max(), second.max()) + 1
    return pair_table(first, second, size)


def _counts(case) -> np.ndarray:
    if case["kind"] == "counts":
        return np.array(case["counts"])
    if case["kind"] == "table":
        table = np.array(case["table"])
        size = len(table)
        cells = [(row, column) for row in range(size) for column in range(size)]
        rated = [cell for cell in cells for _ in range(table[cell])]
        return category_counts(np.array(rated), size)
    ratings = list(zip(*case["ratings"], strict=True))
    labels = sorted({label for item in ratings for label in item if label is not None})
    return category_counts(codes(ratings, labels), len(labels))


def _values(case) -> list[float]:
    if case["kind"] != "ratings":
        return [float(place) for place in range(len(case["categories"]))]
    return sorted({float(label) for rater in case["ratings"] for label in rater if label is not None})


def _rated(case) -> tuple[np.ndarray, int]:
    items = list(zip(*case["ratings"], strict=True))
    labels = sorted({label for item in items for label in item if label is not None})
    return codes(items, labels), len(labels)


def _of_pair(case, base: str, kind: str) -> Coefficient:
    """The Handbook has formulas of their own for the table of two raters."""
    table = _table(case)
    if base == "gwet_ac1":
        return pair_gwet_ac(table)
    if base in {"scott_pi", "brennan_prediger"}:
        return _of_many(case, base, kind)
    return percent_agreement(table) if base == "percent_agreement" else cohen_kappa(table, kind=kind)


def _of_many(case, base: str, kind: str) -> Coefficient:
    if base == "conger":
        return conger_kappa(*_rated(case))
    if base == "krippendorff_alpha":
        return krippendorff_alpha(_counts(case), level=kind, values=_values(case))
    if base == "brennan_prediger":
        sample = sample_of_counts(_counts(case))
        return estimate(sample, uniform_chance(sample, np.eye(_counts(case).shape[1]), kind), Settings())
    find = {"gwet": gwet_ac, "gwet_ac1": gwet_ac}.get(base, fleiss_kappa)
    return find(_counts(case), kind=kind, values=_values(case))


def _computed(case, stat: str) -> float:
    base, _, option = stat.partition(":")
    kind = option or "nominal"
    base, is_error = re.subn(r"_(gwet_se|se_gwet|se)$", "", base)
    is_of_pair = case["kind"] == "table" and base != "krippendorff_alpha"
    found = (_of_pair if is_of_pair else _of_many)(case, base, kind)
    return found.standard_error if is_error else found.value


@pytest.mark.parametrize(("case", "result"), published_cases(OFFERED))
def test_published_values_are_reproduced(case, result):
    value = _computed(case, result["stat"])

    assert round(value, result["digits"]) == pytest.approx(result["expected"], abs=1e-12)
    assert value == pytest.approx(result["computed"], abs=2e-7 if len(str(result["computed"])) > 9 else 5e-6)


# Facts typed from their sources


def test_cohen_1960_psychiatric_example_is_0_492():
    """Cohen (1960), Educ Psychol Meas 20:37-46: 200 patients, printed kappa .492 (from .70 and .41)."""
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])

    found = cohen_kappa(table)

    assert found.n == 200
    assert found.value == pytest.approx((0.70 - 0.41) / (1 - 0.41))


def test_paradox_table_has_high_agreement_and_negative_kappa():
    """The table 118/5/2/0 of the kappa paradox (Gwet 2008, Br J Math Stat Psychol 61:29-48)."""
    table = np.array([[118, 5], [2, 0]])

    assert percent_agreement(table).value == pytest.approx(118 / 125)
    assert cohen_kappa(table).value == pytest.approx(-0.0234, abs=5e-5)


def test_sas_confidence_limits_follow_from_the_standard_error():
    """SAS PROC FREQ prints 0.2137 to 0.7547 for this table."""
    found = cohen_kappa(np.array([[0, 4, 1], [0, 8, 0], [0, 1, 5]]))

    low, high = standard_interval(found)

    assert (round(low, 4), round(high, 4)) == (0.2137, 0.7547)


# Against scikit-learn

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60).filter(
    lambda pairs: len({label for pair in pairs for label in pair}) > 1
)


@settings(max_examples=often(25, 150), deadline=None)
@given(LABELS, st.sampled_from(["nominal", "linear", "quadratic"]))
def test_cohen_kappa_equals_scikit_learn(pairs, kind):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    weights = None if kind == "nominal" else kind

    found = cohen_kappa(pair_table(first, second, 4), kind=kind, settings=Settings(resamples=10))

    assert found.value == pytest.approx(cohen_kappa_score(first, second, weights=weights, labels=range(4)))


@settings(max_examples=often(25, 80), deadline=None)
@given(LABELS)
def test_intervals_contain_their_value_and_stay_within_one(pairs):
    first, second = (np.array(side) for side in zip(*pairs, strict=True))

    found = cohen_kappa(pair_table(first, second, 4), settings=Settings(resamples=400))

    if found.interval is not None:
        low, high = found.interval
        assert -1 <= low <= high <= 1


# Missing cells, order, seeds


def test_missing_cells_are_left_out_of_the_pair_table():
    first = np.array([0, 1, MISSING, 2, 2])
    second = np.array([0, MISSING, 1, 2, 1])

    table = pair_table(first, second, 3)

    assert table.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 1]]


def test_grade_zero_is_a_rating_and_none_is_not():
    rated = codes([(0, None), (0, 0)], [0, 1, 2, 3])

    assert category_counts(rated, 4).tolist() == [[1, 0, 0, 0], [2, 0, 0, 0]]


def test_an_unknown_label_is_refused_by_name():
    with pytest.raises(ValueError, match="7 is not one of the categories"):
        codes([(7, 1)], [0, 1, 2, 3])


def test_the_same_seed_gives_the_same_interval_and_order_of_items_is_irrelevant():
    counts = category_counts(np.random.default_rng(1).integers(0, 3, (50, 3)), 3)

    assert fleiss_kappa(counts, settings=Settings(5)) == fleiss_kappa(counts[::-1], settings=Settings(5))
    assert fleiss_kappa(counts, settings=Settings(5)).interval != fleiss_kappa(counts, settings=Settings(6)).interval


def test_bootstrap_interval_narrows_with_more_items():
    table = np.array([[30, 10], [10, 30]])

    small, large = cohen_kappa(table), cohen_kappa(table * 25)

    assert large.interval[1] - large.interval[0] < small.interval[1] - small.interval[0]


def test_bootstrap_interval_is_near_the_analytic_one_in_a_large_sample():
    found = cohen_kappa(np.array([[300, 100], [100, 300]]))

    assert found.interval == pytest.approx(standard_interval(found), abs=0.01)


def test_the_interval_of_few_items_is_read_further_out():
    table = np.array([[9, 3, 1], [2, 6, 1], [1, 2, 5]])
    sample = sample_of_table(table)
    found = kappa(table, agreement_weights("nominal", range(3)), "κ")
    drawn = np.concatenate(
        [chance_corrected(*found.parts(draws)) for draws in resampled(sample, seed=DEFAULT_SEED, resamples=RESAMPLES)]
    )
    value = cohen_kappa(table).value

    plain, further = (interval_with(value, drawn, share) for share in (0.95, widened(0.95, 30)))

    assert cohen_kappa(table).interval == further
    assert further[0] < plain[0] < plain[1] < further[1]


def test_an_interval_reaches_as_far_as_its_value():
    assert interval_with(0.9, np.linspace(0.2, 0.8, 101), 0.95) == (pytest.approx(0.215), 0.9)
    assert interval_with(0.1, np.linspace(0.2, 0.8, 101), 0.95) == (0.1, pytest.approx(0.785))


def test_draws_of_which_most_are_undefined_have_no_interval():
    assert interval_with(0.5, np.array([0.4, np.nan, np.nan]), 0.95) is None


def test_the_interval_of_two_items_leaves_everything_open():
    assert fleiss_kappa(np.array([[2, 1], [1, 2]])).interval == (pytest.approx(-1.0), pytest.approx(1.0))


def test_two_raters_who_never_met_on_a_rare_category_may_yet_agree():
    """Bare resamples of these 50 items hold no agreement on the second category: none has a kappa above 0."""
    found = cohen_kappa(np.array([[43, 4], [3, 0]]))

    assert found.value < 0
    assert found.interval[1] > 0.3


def test_a_far_miss_that_nobody_has_made_yet_is_reckoned_with():
    near = np.diag([22, 10, 9, 5]) + np.diag([2, 1, 1], 1)

    low, _ = cohen_kappa(near, kind="quadratic").interval

    assert low < standard_interval(cohen_kappa(near, kind="quadratic"))[0]


def test_the_interval_of_a_kappa_of_a_rare_category_covers_as_often_as_promised():
    """Two annotators, 90 and 10 %, kappa 0.2, 50 items: the interval of bare resamples holds it in 75 % of cases."""
    chance = np.random.default_rng(4)
    agree = np.array([[0.828, 0.072], [0.072, 0.028]])

    held = [
        low <= 0.2 <= high
        for table in chance.multinomial(50, agree.reshape(-1), size=300).reshape(-1, 2, 2)
        for low, high in [cohen_kappa(table, settings=Settings(resamples=500)).interval]
    ]

    assert 0.92 <= np.mean(held) <= 0.98


def test_full_agreement_does_not_claim_certainty():
    few, many = cohen_kappa(np.diag([5, 5])), cohen_kappa(np.diag([500, 500]))

    assert few.value == many.value == 1.0
    assert few.interval[0] < 0.6 < 0.98 < many.interval[0]
    assert few.interval[1] == many.interval[1] == 1.0


def test_linear_weights_follow_the_values_of_the_categories():
    assert agreement_weights("linear", [0, 1, 4])[0].tolist() == [1.0, 0.75, 0.0]
    with pytest.raises(ValueError, match="use nominal, linear, quadratic or ordinal"):
        agreement_weights("cubic", [0, 1])


# What is not defined says why

ONE_ITEM = "They share only one item, too few to estimate agreement by chance."
ONE_CATEGORY = "Both used only one category; chance explains all of their agreement."
ONE_CATEGORY_ANY = "Only one category was used; chance explains all of the agreement."
UNDEFINED = [
    (percent_agreement(np.zeros((3, 3), int)), "They share no item."),
    (cohen_kappa(np.zeros((3, 3), int)), "They share no item."),
    (cohen_kappa(np.diag([1, 0])), ONE_ITEM),
    (cohen_kappa(np.diag([9, 0])), ONE_CATEGORY),
    (cohen_kappa(np.diag([9, 0]), kind="quadratic"), ONE_CATEGORY),
    (fleiss_kappa(np.zeros((0, 2), int)), "No item was rated by two people."),
    (fleiss_kappa(np.array([[1, 0], [0, 1]])), "No item was rated by two people."),
    (fleiss_kappa(np.array([[2, 0], [3, 0]])), ONE_CATEGORY_ANY),
    (krippendorff_alpha(np.array([[1, 0], [0, 1]])), "No item was rated by two people."),
    (krippendorff_alpha(np.array([[2, 0], [3, 0]])), ONE_CATEGORY_ANY),
]


@pytest.mark.parametrize(("found", "reason"), UNDEFINED)
def test_undefined_is_a_sentence_without_value_or_interval(found: Coefficient, reason: str):
    assert found.value is None
    assert found.interval is None
    assert not found.is_defined
    assert found.reason == reason


def test_one_rater_with_one_category_and_one_with_two_has_kappa_zero():
    assert cohen_kappa(np.array([[3, 2], [0, 0]])).value == 0.0


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.39, "too noisy"), (0.4, "unsettled"), (0.6, "unsettled"), (0.61, "acceptable"), (-0.2, "too noisy")],
)
def test_bands(value, word):
    assert band(value) == word


@pytest.mark.parametrize(
    ("value", "interval", "words"),
    [
        (0.93, (0.82, 0.97), "acceptable"),
        (0.80, (0.35, 0.94), "acceptable, could be too noisy"),
        (0.77, (0.45, 0.87), "acceptable, could be unsettled"),
        (0.57, (0.42, 0.71), "unsettled"),
        (0.40, (0.03, 0.72), "unsettled, could be too noisy"),
        (-0.10, (-0.20, 0.35), "too noisy"),
        (-0.95, (-1.0, 0.2), "too noisy"),
        (0.72, (-0.75, 1.0), "too little to tell"),
        (-0.02, (-0.06, 1.0), "too little to tell"),
        (0.80, None, "too little to tell"),
    ],
)
def test_a_coefficient_reads_as_its_band_and_as_the_lowest_that_its_interval_reaches(value, interval, words):
    found = Coefficient("α", value, 22, interval)

    assert found.reads_as == words
    assert found.is_informative == (words != "too little to tell")


def test_what_is_not_defined_reads_as_nothing():
    found = undefined("α", "No item was rated by two people.")

    assert (found.reads_as, found.is_informative) == ("", False)


@pytest.mark.parametrize(
    ("ends", "shown", "reason"),
    [((-0.38, 1.0), None, "interval too wide"), (None, None, "no interval"), ((0.35, 0.94), (0.35, 0.94), "")],
)
def test_a_stored_figure_is_read_without_an_uninformative_interval(ends, shown, reason):
    found = informative(Estimate.of(0.87, ends, 6, "bootstrap"))

    assert (found.value, found.interval, found.n, found.reason) == (0.87, shown, 6, reason)


def test_an_undefined_figure_keeps_its_reason():
    assert informative(Estimate.of(None, None, 1, reason="They share no item.")).reason == "They share no item."
