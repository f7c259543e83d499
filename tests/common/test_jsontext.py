import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.text.jsontext import figures, written

VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TREES = st.recursive(VALUES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(TREES)
def test_what_is_written_is_read_back(tree):
    assert json.loads(written(tree)) == tree


def test_objects_and_arrays_of_plain_values_are_on_one_line():
    tree = {"runs": [{"tag": "bm25", "ci": [0.25, 0.5]}], "seed": 20, "none": {}}

    assert written(tree).splitlines() == [
        "{",
        '  "runs": [',
        "    {",
        '      "tag": "bm25",',
        '      "ci": [0.25, 0.5]',
        "    }",
        "  ],",
        '  "seed": 20,',
        '  "none": {}',
        "}",
    ]


def test_letters_stay_letters():
    assert written({"é": "ü"}) == '{"é": "ü"}'


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_numbers_that_json_does_not_know_are_refused(bad):
    with pytest.raises(ValueError, match="not JSON compliant"):
        written({"a": [bad]})


@given(st.lists(st.lists(st.floats(allow_infinity=False), min_size=2, max_size=2), max_size=5))
def test_rows_of_an_array_are_objects_of_their_numbers(rows):
    values = np.array(rows, dtype=np.float64).reshape(-1, 2)

    found = json.loads(written(list(figures(["AP", 'P"1'], values))))

    assert found == [
        {name: None if math.isnan(number) else number for name, number in zip(["AP", 'P"1'], row, strict=True)}
        for row in rows
    ]


def test_each_row_of_an_array_is_on_its_own_line():
    rows = dict(zip("ab", figures(["AP"], np.array([[0.1], [5e-324]])), strict=True))

    assert written(rows).splitlines() == ["{", '  "a": {"AP": 0.1},', '  "b": {"AP": 5e-324}', "}"]


def test_an_infinite_number_in_an_array_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(list(figures(["AP"], np.array([[math.inf]]))))
