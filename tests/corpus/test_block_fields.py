from math import isnan

import pytest

from apps.corpus.core.block_fields import days_of, found_fields, text_of
from apps.corpus.enums import BlockField


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("  a  guide ", "a guide"),
        (7, "7"),
        (True, "true"),
        (None, ""),
        ({"a": 1}, ""),
        (["Mara", "", {"x": 1}, "Lev"], "Mara; Lev"),
    ],
)
def test_a_value_of_metadata_is_one_text(value, text):
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("1970-01-02", 1.0),
        ("1970-01-01T12:00:00", 0.5),
        ("1970-01-01 12:00:00+06:00", 0.25),
    ],
)
def test_a_date_is_counted_in_days_since_1970(value, days):
    assert days_of(value) == days


@pytest.mark.parametrize("value", ["2026", 2026, "2026-03", "20260301", "March 2026", "2026-02-30", "", None, ["x"]])
def test_what_is_not_surely_a_day_is_no_date(value):
    assert isnan(days_of(value))


def test_names_are_counted_with_examples_and_proposed_by_how_files_call_them():
    rows = [{"Doc_Type": "guide", "published": "2026-01-01", "roles": ["staff"], "date": "soon"} for _ in range(3)]

    found = {one.name: one for one in found_fields([*rows, {"Doc_Type": "notice"}, {}])}

    assert {name: (one.share, one.examples, one.proposed_for) for name, one in found.items()} == {
        "Doc_Type": (0.8, ("guide", "notice"), BlockField.TYPE),
        "published": (0.6, ("2026-01-01",), BlockField.DATE),
        "roles": (0.6, ("staff",), BlockField.AUDIENCE),
        "date": (0.6, ("soon",), None),
    }
    assert found_fields([]) == []
