from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.measures.registry import parse_measure
from apps.metrics.statistics.strata import compare_strata, open_strata


def test_strata_are_largest_first_and_small_ones_are_counted():
    values = np.arange(13) / 10
    labels = ["a"] * 5 + ["b"] * 6 + ["", "c"]

    found, small = compare_strata(labels, [values, values], parse_measure("nDCG@10"))

    assert [(one.name, one.n) for one in found] == [("b", 6), ("a", 5)]
    assert small == 1
    assert found[1].summaries[0].mean == pytest.approx(0.2)
    assert found[1].summaries[0].interval is not None


SEALED = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.booleans()), min_size=1, max_size=80)


@given(SEALED)
def test_no_means_of_what_is_shown_subtract_to_a_sum_over_few_sealed_rows(rows):
    kinds = [[("domain", one), ("difficulty", two)] for one, two, _ in rows]
    sealed = np.array([is_sealed for *_, is_sealed in rows])

    shown = open_strata(kinds, sealed.tolist())

    masks = [np.array([kind in own for own in kinds]) for kind in shown]
    for inside in masks:
        assert not 0 < (inside & sealed).sum() < 5
        assert not 0 < (inside & ~sealed).sum() < 5
    sums = np.array([sealed, *(mask & sealed for mask in masks if (mask & sealed).any())], dtype=float)
    if sealed.sum() >= 5:  # what all of them add up to is known as well
        patterns = Counter(map(tuple, sums.T[sealed].tolist()))
        assert min(patterns.values()) >= 5


@given(SEALED)
def test_open_rows_show_no_stratum_that_is_not_shown_of_sealed_rows_alone(rows):
    kinds = [[("domain", one), ("difficulty", two)] for one, two, _ in rows]
    sealed = [is_sealed for *_, is_sealed in rows]
    fields = ["domain", "difficulty"]

    together = open_strata(kinds, sealed, fields=fields)

    alone = [own for own, is_in in zip(kinds, sealed, strict=True) if is_in]
    in_sealed = {kind for own in alone for kind in own}
    assert set(together) & in_sealed <= set(open_strata(alone, [True] * len(alone), fields=fields))


def test_four_open_rows_and_a_sealed_one_are_no_stratum_and_a_rest_of_one_hides_its_neighbour():
    mixed = [("domain", "crypto")] * 5 + [("domain", "doors")] * 20
    assert open_strata([[kind] for kind in mixed], [True] + [False] * 4 + [True] * 10 + [False] * 10) == []
    assert open_strata([[kind] for kind in mixed], [False] * 25) == [("domain", "doors"), ("domain", "crypto")]
    alone = [True] + [False] * 4 + [True] * 10 + [False] * 10
    assert open_strata([[kind] for kind in mixed], alone, by_subtraction=False) == [("domain", "doors")]


def test_open_rows_do_not_decide_which_of_two_kinds_of_as_many_sealed_rows_is_shown():
    sealed = [[("domain", name)] for name in "a" * 5 + "c" * 5 + "b" * 3]
    open_rows = [[("domain", "c")]] * 10

    assert open_strata(sealed, [True] * 13) == [("domain", "a")]
    assert open_strata(sealed + open_rows, [True] * 13 + [False] * 10) == [("domain", "a")]
