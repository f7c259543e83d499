import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.goldsets.core.splits import (
    DEV,
    TEST,
    SplitItem,
    groups,
    leaks,
    near_documents,
    normalised,
    split,
    with_near,
)


def _items(count: int, *, key: str = "") -> list[SplitItem]:
    return [SplitItem(f"q{n:03d}", f"words {n}", (("group", key),) if key else ()) for n in range(count)]


def test_the_split_reaches_the_requested_share():
    splits = split(_items(100), test_share=0.3, seed=1)

    assert sum(name == TEST for name in splits.values()) == 30


@pytest.mark.parametrize(("share", "name"), [(0.0, DEV), (1.0, TEST)])
def test_share_of_nothing_and_of_all(share, name):
    assert set(split(_items(9), test_share=share, seed=1).values()) == {name}


def test_same_seed_same_split_whatever_the_order():
    items = _items(40)

    assert split(items, test_share=0.5, seed=3) == split(items[::-1], test_share=0.5, seed=3)
    assert split(items, test_share=0.5, seed=3) != split(items, test_share=0.5, seed=4)


def test_a_group_is_never_parted():
    items = [SplitItem(f"q{n}", f"words {n}", (("group", f"entity {n // 5}"),)) for n in range(50)]

    splits = split(items, test_share=0.4, seed=9)

    assert leaks(items, splits) == []
    assert sum(name == TEST for name in splits.values()) == 20


def test_the_same_words_in_another_spelling_stay_together():
    items = [
        SplitItem("a", "Wie groß ist der Café-Raum?"),
        SplitItem("b", "wie GROSS ist der  cafe raum"),
        SplitItem("c", "other"),
    ]

    assert normalised(items[0].text) == normalised(items[1].text)
    assert [[item.name for item in group] for group in groups(items)] == [["a", "b"], ["c"]]


def test_ties_reach_through_others():
    items = [
        SplitItem("a", "one", (("group", "x"),)),
        SplitItem("b", "two", (("group", "x"), ("document", "d"))),
        SplitItem("c", "three", (("document", "d"),)),
    ]

    assert [[item.name for item in group] for group in groups(items)] == [["a", "b", "c"]]


def test_items_keep_the_split_of_the_previous_release_and_new_ones_join_their_group():
    items = [SplitItem("old", "one", (("group", "x"),), TEST), SplitItem("new", "two", (("group", "x"),))]

    assert split(items, test_share=0.0, seed=1) == {"old": TEST, "new": TEST}


def test_a_tie_between_former_dev_and_former_test_is_a_leak_with_names():
    items = [
        SplitItem("a", "one", (("group", "acme"),), DEV),
        SplitItem("b", "two", (("group", "acme"),), TEST),
        SplitItem("c", "three", (("group", "acme"),)),
    ]

    found = leaks(items, split(items, test_share=0.5, seed=1))

    assert [(leak.tie, leak.dev, leak.test) for leak in found] == [(("group", "acme"), ("a", "c"), ("b",))]


def test_words_without_letters_tie_nothing():
    items = [SplitItem("a", "?!"), SplitItem("b", "…")]

    assert len(groups(items)) == 2


KEYS = st.lists(st.tuples(st.sampled_from(["group", "document"]), st.sampled_from("abcdef")), max_size=3)


@settings(max_examples=150, deadline=None)
@given(st.lists(KEYS, max_size=25), st.floats(0, 1), st.integers(0, 10))
def test_no_split_of_new_items_ever_leaks(keys, share, seed):
    items = [SplitItem(f"q{n:02d}", f"words {n % 20}", tuple(own)) for n, own in enumerate(keys)]

    splits = split(items, test_share=share, seed=seed)

    assert set(splits) == {item.name for item in items}
    assert leaks(items, splits) == []


LONG = "How often must the master keys of the main building be counted and who signs the list of them"
NEARLY = "How often must the spare keys of the main building be counted and who signs the list of them"
ELSE = "Where are visitors of the north gate registered before they may enter the yard with a guide"


@pytest.mark.parametrize("seed", range(20))
def test_questions_that_are_nearly_the_same_stay_together(seed):
    items = with_near([SplitItem("a", LONG), SplitItem("b", ELSE), SplitItem("c", NEARLY)])

    splits = split(items, test_share=0.5, seed=seed)

    assert splits["a"] == splits["c"]
    assert [[item.name for item in group] for group in groups(items)] == [["a", "c"], ["b"]]


def test_nearly_the_same_questions_released_in_both_splits_are_a_leak_with_names():
    items = with_near([SplitItem("a", LONG, (), DEV), SplitItem("b", ELSE), SplitItem("c", NEARLY, (), TEST)])

    found = leaks(items, split(items, test_share=0.5, seed=1))

    assert [(leak.tie.kind, leak.dev, leak.test) for leak in found] == [("near", ("a",), ("c",))]


def test_documents_that_are_nearly_the_same_share_a_key():
    text = " ".join(f"Rule {n} of the yard is kept by guard {n}." for n in range(40))

    found = near_documents({"one": text, "two": text + " Ask at the gate.", "three": ELSE})

    assert found == {"one": ["one and two"], "two": ["one and two"]}
