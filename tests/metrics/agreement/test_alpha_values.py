"""The value of ordinal alpha: worked by hand, and the same as the one agreement is reported with."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.counting import alpha_parts, category_counts, codes, ordinal_alpha
from apps.metrics.agreement.uncertainty import Settings

GRADES = range(4)
ITEMS = st.lists(st.lists(st.none() | st.integers(0, 3), min_size=3, max_size=3), max_size=12)


def test_people_who_agree_have_an_alpha_of_one():
    assert ordinal_alpha([[0, 0], [3, 3], [1, 1, None]]) == pytest.approx(1.0)


def test_it_is_worked_out_by_hand():
    # Grades 0 1 3 3 over two items: coincidences 0–1 and 3–3, marginals 1, 1, 2, ordinal middles 0.5, 1.5, 3.
    # Disagreement 2·1/4; by chance 2·(1·1·1 + 1·2·6.25 + 1·2·2.25)/(4·3).
    assert ordinal_alpha([[0, 1], [3, 3]]) == pytest.approx(1 - (2 / 4) / (2 * (1 + 12.5 + 4.5) / 12))


@pytest.mark.parametrize("items", [[], [[1, 2]], [[2, 2], [2, 2]], [[1], [2]], [[None, 1], [2, None]]])
def test_an_undefined_coefficient_has_no_value(items):
    assert ordinal_alpha(items) is None


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="not a level"):
        alpha_parts(np.array([[2.0, 1.0]]), "cubic", [0, 1])


@given(ITEMS)
def test_it_is_the_alpha_that_agreement_reports(items):
    counts = category_counts(codes(items, GRADES), len(GRADES)) if items else np.zeros((0, 4), dtype=np.int64)
    reported = krippendorff_alpha(counts, level="ordinal", values=GRADES, settings=Settings(resamples=1)).value

    assert ordinal_alpha(items) == (None if reported is None else pytest.approx(reported))
