import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.vocabulary import LONGEST, Ids

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=200)
TEXTS = st.lists(TEXT, max_size=20)


@given(TEXTS)
def test_ids_come_out_as_they_went_in(texts):
    assert list(Ids.of(texts)) == [text.encode() for text in texts]
    assert [Ids.of(texts)[row] for row in range(len(texts))] == [text.encode() for text in texts]


@given(TEXTS, TEXTS)
def test_columns_of_different_width_are_joined(above, below):
    assert list(Ids.joined([Ids.of(above), Ids.of(below)])) == [text.encode() for text in above + below]


@given(TEXTS, st.data())
def test_rows_can_be_selected_in_any_order(texts, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1))) if texts else []

    taken = Ids.of(texts).take(np.array(rows, dtype=np.int64))

    assert list(taken) == [texts[row].encode() for row in rows]


@given(st.lists(st.tuples(TEXT, TEXT)))
def test_two_columns_are_the_same_where_their_ids_are(pairs):
    left, right = Ids.of([a for a, _ in pairs]), Ids.of([b for _, b in pairs])

    assert left.same_as(right).tolist() == [a == b for a, b in pairs]


@given(TEXTS)
def test_ids_are_sorted_as_their_code_points_are(texts):
    assert np.sort(Ids.of(texts).texts()).tolist() == [text.encode() for text in sorted(texts)]


@given(TEXT, TEXTS)
def test_the_same_id_has_the_same_mark_in_any_column(text, others):
    assert Ids.of([*others, text]).marks[-1] == Ids.of([text]).marks[0]


def test_different_ids_seldom_have_the_same_mark():
    ids = Ids.of([f"block-{number:07}" for number in range(200_000)])

    assert len(np.unique(ids.marks)) == 200_000


@pytest.mark.parametrize(("length", "width"), [(LONGEST, LONGEST // 8), (LONGEST + 1, 2), (64_000, 2)])
def test_an_id_far_longer_than_others_is_replaced_by_its_digest(length, width):
    ids = Ids.of(["x" * length, "y"])

    assert ids.words.shape == (2, width)
    assert list(ids) == [b"x" * length, b"y"]


def test_two_long_ids_that_begin_alike_stay_different():
    ids = Ids.of(["x" * 500 + "1", "x" * 500 + "2"])

    assert ids.same_as(Ids.of(["x" * 500 + "1"] * 2)).tolist() == [True, False]
    assert (ids.texts()[0] < ids.texts()[1]) is True
