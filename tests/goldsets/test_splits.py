import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.goldsets.core.near_questions import with_near
from apps.goldsets.core.splits import (
    DEV,
    TEST,
    SplitItem,
    groups,
    leaks,
    near_documents,
    originals_of,
    split,
    split_by_time,
    time_of,
)
from tests.walks import often


def _items(count: int, *, size: int = 1) -> list[SplitItem]:
    """In groups of this size."""
    return [SplitItem(f"q{n:03d}", f"words {n}", (("group", f"entity {n // size}"),)) for n in range(count)]


@pytest.mark.parametrize(
    ("items", "share", "in_test"),
    [(_items(100), 0.3, 30), (_items(50, size=5), 0.4, 20), (_items(9), 0.0, 0), (_items(9), 1.0, 9)],
    ids=["items of their own", "groups of five", "nothing", "all"],
)
def test_the_split_reaches_the_requested_share(items, share, in_test):
    splits = split(items, test_share=share, seed=1)

    assert sum(name == TEST for name in splits.values()) == in_test


def test_same_seed_same_split_whatever_the_order():
    items = _items(40)

    assert split(items, test_share=0.5, seed=3) == split(items[::-1], test_share=0.5, seed=3)
    assert split(items, test_share=0.5, seed=3) != split(items, test_share=0.5, seed=4)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([("a", "Wie groß ist der Café-Raum?"), ("b", "wie GROSS ist der  cafe raum"), ("c", "other")], ["ab", "c"]),
        ([("a", "?!"), ("b", "…")], ["a", "b"]),
        (
            [
                ("a", "one", (("group", "x"),)),
                ("b", "two", (("group", "x"), ("document", "d"))),
                ("c", "three", (("document", "d"),)),
            ],
            ["abc"],
        ),
    ],
    ids=["the same words in another spelling", "no words", "keys, also through others"],
)
def test_items_with_the_same_words_or_a_shared_key_are_one_group(items, expected):
    assert _named(groups([SplitItem(*item) for item in items])) == expected


def _named(found: list[list[SplitItem]]) -> list[str]:
    return ["".join(item.name for item in group) for group in found]


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


KEYS = st.lists(st.tuples(st.sampled_from(["group", "document"]), st.sampled_from("abcdef")), max_size=3)


@settings(max_examples=often(25, 150), deadline=None)
@given(st.lists(KEYS, max_size=25), st.floats(0, 1), st.integers(0, 10))
def test_no_split_of_new_items_ever_leaks(keys, share, seed):
    items = [SplitItem(f"q{n:02d}", f"words {n % 20}", tuple(own)) for n, own in enumerate(keys)]

    splits = split(items, test_share=share, seed=seed)

    assert set(splits) == {item.name for item in items}
    assert leaks(items, splits) == []


SIZES = st.lists(st.lists(st.sampled_from(["head", "tail", ""]), min_size=1, max_size=5), max_size=9)


@settings(max_examples=often(40, 300), deadline=None)
@given(SIZES, st.integers(0, 20), st.integers(0, 5), st.integers(0, 3))
def test_no_other_choice_of_groups_is_nearer_to_the_share_and_of_those_none_is_more_even(strata, share, seed, formers):
    """Of every choice there is; the groups that an earlier version placed are counted as they are."""
    items = [
        SplitItem(
            f"q{group}-{n}",
            f"words {group} {n}",
            (("group", str(group)),),
            (TEST if group % 2 else DEV) if group < formers else "",
            stratum=stratum,
        )
        for group, own in enumerate(strata)
        for n, stratum in enumerate(own)
    ]
    wanted = {name: share / 20 * sum(item.stratum == name for item in items) for name in ("head", "tail", "")}

    def cost(splits):
        taken = dict.fromkeys(wanted, 0)
        for item in items:
            taken[item.stratum] += splits[item.name] == TEST
        off = abs(sum(taken.values()) - sum(wanted.values()))
        return round(off, 6), round(sum(abs(taken[name] - wanted[name]) for name in wanted), 6)

    splits = split(items, test_share=share / 20, seed=seed)

    ways = itertools.product(*([DEV, TEST] if n >= formers else [TEST if n % 2 else DEV] for n in range(len(strata))))
    sides = ({item.name: way[int(item.name[1 : item.name.index("-")])] for item in items} for way in ways)
    assert cost(splits) == min(map(cost, sides))
    assert all(len({splits[f"q{group}-{n}"] for n in range(len(own))}) == 1 for group, own in enumerate(strata))


def test_a_large_set_meets_its_share_in_each_stratum_and_any_group_may_go_to_test():
    """More groups than are fitted together, most of one item and some of many; so also of many strata."""
    sizes = [1 + 19 * (n % 50 == 0) for n in range(900)]
    items = [
        SplitItem(f"q{n}-{k}", f"words {n} {k}", (("group", str(n)),), stratum=f"type {n % 7}")
        for n, size in enumerate(sizes)
        for k in range(size)
    ]

    found = [split(items, test_share=0.3, seed=seed) for seed in range(8)]

    of_type = Counter(item.stratum for item in items)
    for splits in found:
        in_test = Counter(item.stratum for item in items if splits[item.name] == TEST)
        assert in_test.total() == round(0.3 * len(items))
        assert all(abs(in_test[name] - 0.3 * number) <= 2 for name, number in of_type.items())
    large = [[splits[f"q{n}-0"] for n in range(0, 900, 50)].count(TEST) for splits in found]
    assert 0.2 < sum(large) / (18 * len(found)) < 0.4


LONG = "How often must the master keys of the main building be counted and who signs the list of them"
NEARLY = "How often must the spare keys of the main building be counted and who signs the list of them"
ELSE = "Where are visitors of the north gate registered before they may enter the yard with a guide"


@pytest.mark.parametrize("seed", range(20))
def test_questions_that_are_nearly_the_same_stay_together(seed):
    items = with_near([SplitItem("a", LONG), SplitItem("b", ELSE), SplitItem("c", NEARLY)])

    splits = split(items, test_share=0.5, seed=seed)

    assert splits["a"] == splits["c"]
    assert _named(groups(items)) == ["ac", "b"]


def test_nearly_the_same_questions_released_in_both_splits_are_a_leak_with_names():
    items = with_near([SplitItem("a", LONG, (), DEV), SplitItem("b", ELSE), SplitItem("c", NEARLY, (), TEST)])

    found = leaks(items, split(items, test_share=0.5, seed=1))

    assert [(leak.tie.kind, leak.dev, leak.test) for leak in found] == [("near", ("a",), ("c",))]


def test_documents_that_are_nearly_the_same_share_a_key():
    text = " ".join(f"Rule {n} of the yard is kept by guard {n}." for n in range(40))

    found = near_documents({"one": text, "two": text + " Ask at the gate.", "three": ELSE})

    assert found == {"one": ["one and two"], "two": ["one and two"]}


# By time

START = datetime(2026, 1, 1, tzinfo=UTC)


def _day(number: int | None) -> datetime | None:
    return None if number is None else START + timedelta(days=number)


def test_the_newest_items_are_test_and_the_boundary_is_the_oldest_of_them():
    items = [SplitItem(f"q{n}", f"words {n}", at=_day(n)) for n in range(10)]

    splits, boundary = split_by_time(items, test_share=0.3, seed=1)

    assert [name for name, side in splits.items() if side == TEST] == ["q9", "q8", "q7"]
    assert boundary == _day(7)


def test_a_group_is_as_old_as_its_newest_item():
    items = [
        SplitItem("old", "one", (("group", "acme"),), at=_day(1)),
        SplitItem("new", "two", (("group", "acme"),), at=_day(9)),
        SplitItem("between", "three", at=_day(5)),
        SplitItem("first", "four", at=_day(0)),
    ]

    splits, boundary = split_by_time(items, test_share=0.5, seed=1)

    assert splits == {"old": TEST, "new": TEST, "between": DEV, "first": DEV}
    assert boundary == _day(9)


def test_a_large_group_that_is_newest_and_too_large_leaves_nothing_older_to_test():
    items = [SplitItem(f"a{n}", f"words {n}", (("group", "acme"),), at=_day(9)) for n in range(8)]
    items += [SplitItem("b", "one", at=_day(2)), SplitItem("c", "two", at=_day(1))]

    splits, boundary = split_by_time(items, test_share=0.2, seed=1)

    assert (set(splits.values()), boundary) == ({DEV}, None)


def test_items_without_a_time_are_dev_and_go_with_a_group_that_has_one():
    items = [
        SplitItem("dated", "one", (("group", "acme"),), at=_day(9)),
        SplitItem("with it", "two", (("group", "acme"),)),
        SplitItem("alone", "three"),
    ]

    splits, _ = split_by_time(items, test_share=1.0, seed=1)

    assert splits == {"dated": TEST, "with it": TEST, "alone": DEV}


def test_groups_of_one_time_are_divided_by_their_hash():
    items = [SplitItem(f"q{n:03d}", f"words {n}", at=START) for n in range(40)]

    assert split_by_time(items, test_share=0.5, seed=3) == split_by_time(items[::-1], test_share=0.5, seed=3)
    assert split_by_time(items, test_share=0.5, seed=3) != split_by_time(items, test_share=0.5, seed=4)
    assert split_by_time(items, test_share=0.5, seed=3).splits == split(items, test_share=0.5, seed=3)


DAYS = st.one_of(st.none(), st.integers(0, 6))
SIDES = st.sampled_from(["", "", "", DEV, TEST])


@settings(max_examples=often(25, 200), deadline=None)
@given(st.lists(st.tuples(KEYS, DAYS, SIDES), max_size=25), st.floats(0, 1), st.integers(0, 10))
def test_a_split_by_time_divides_no_group_and_leaves_nothing_newer_in_dev(rows, share, seed):
    items = [
        SplitItem(f"q{n:02d}", f"words {n % 20}", tuple(keys), former, _day(day))
        for n, (keys, day, former) in enumerate(rows)
    ]

    splits, boundary = split_by_time(items, test_share=share, seed=seed)

    assert set(splits) == {item.name for item in items}
    assert all(splits[item.name] == item.former for item in items if item.former)
    free = [group for group in groups(items) if not any(item.former for item in group)]
    assert all(len({splits[item.name] for item in group}) == 1 for group in free)
    tested = [time_of(group) for group in free if splits[group[0].name] == TEST]
    assert boundary == min(tested, default=None)
    free_in_dev = [item.at for group in free for item in group if splits[item.name] == DEV and item.at]
    assert all(at <= boundary for at in free_in_dev) if boundary else not tested


@settings(max_examples=often(25, 100), deadline=None)
@given(st.lists(st.tuples(KEYS, st.integers(0, 6)), max_size=25), st.floats(0, 1), st.integers(0, 10))
def test_no_other_number_of_the_newest_groups_meets_the_share_better(rows, share, seed):
    items = [SplitItem(f"q{n:02d}", f"words {n}", tuple(keys), "", _day(day)) for n, (keys, day) in enumerate(rows)]

    splits, _ = split_by_time(items, test_share=share, seed=seed)

    taken, wanted = sum(side == TEST for side in splits.values()), share * len(items)
    newest_in_dev = max(filter(None, map(time_of, _sides(items, splits, DEV))), default=None)
    oldest_in_test = min(filter(None, map(time_of, _sides(items, splits, TEST))), default=None)
    next_ones = [group for group in _sides(items, splits, DEV) if time_of(group) == newest_in_dev]
    last_ones = [group for group in _sides(items, splits, TEST) if time_of(group) == oldest_in_test]
    off = abs(taken - wanted)
    assert not next_ones or any(abs(taken + len(group) - wanted) >= off for group in next_ones)
    assert not last_ones or any(abs(taken - len(group) - wanted) >= off for group in last_ones)


def _sides(items: list[SplitItem], splits: dict[str, str], side: str) -> list[list[SplitItem]]:
    return [group for group in groups(items) if splits[group[0].name] == side]


# Variants


@pytest.mark.parametrize(
    ("named", "numbers"),
    [
        ({"Q1": "", "Q2": ""}, None),
        ({}, None),
        ({"Q1": "", "Q1t": "Q1", "Q2": "", "Q1l": "Q1"}, [0, 0, 1, 0]),
        ({"Q1t": "Q1", "Q2": "", "Q1l": "Q1"}, [0, 1, 0]),
        ({"Q1": "", "Q1t": "Q1", "Q1tt": "Q1t"}, [0, 0, 0]),
        ({"Q1": "Q1", "Q2": ""}, [0, 1]),
        ({"301": "", "x": 301}, [0, 0]),
    ],
    ids=["no variant", "nothing", "two variants", "an original elsewhere", "of a variant", "of itself", "a number"],
)
def test_a_question_and_all_its_variants_have_one_number(named, numbers):
    found = originals_of({name: {"variant_of": original} for name, original in named.items()})

    assert (None if found is None else found.tolist()) == numbers


def test_variants_of_each_other_are_no_endless_loop():
    assert len(originals_of({"a": {"variant_of": "b"}, "b": {"variant_of": "a"}})) == 2
