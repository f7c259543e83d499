"""Two editions of a corpus beside each other: six kinds, every passage once."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from apps.editions.core.comparison import EditionPassage, compare, mark_of
from apps.editions.enums import ChangeKind


def passages(**texts: str) -> list[EditionPassage]:
    """Passages of these texts; what follows a bar is their metadata."""
    return [EditionPassage(name, *(*text.split("|"), "")[:2]) for name, text in texts.items()]


def kinds(old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    return {change.name: str(change.kind) for change in compare(passages(**old), passages(**new))}


def test_each_passage_is_of_one_of_six_kinds():
    old = {"a": "one", "b": "two|p1", "c": "three", "d": "four", "e": "five"}
    new = {"a": "one", "b": "two|p2", "c": "three more", "z": "four", "n": "six"}

    assert kinds(old, new) == {
        "a": "same",
        "b": "metadata",
        "c": "changed",
        "z": "renamed",
        "n": "new",
        "e": "gone",
    }


def test_a_renamed_passage_names_both_ids():
    (change,) = compare(passages(a="text"), passages(b="text|page 9"))

    assert (change.before.name, change.after.name) == ("a", "b")


def test_a_text_that_two_ids_had_is_gone_and_new():
    assert kinds({"a": "text", "b": "text"}, {"c": "text"}) == {"c": "new", "a": "gone", "b": "gone"}


def test_a_text_that_two_new_ids_have_is_gone_and_new():
    assert kinds({"a": "text"}, {"b": "text", "c": "text"}) == {"b": "new", "c": "new", "a": "gone"}


def test_a_copy_beside_a_passage_that_stayed_is_new():
    assert kinds({"a": "text"}, {"a": "text", "b": "text"}) == {"a": "same", "b": "new"}


texts = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(["one", "two", "three|p", "three|q", "four"]))


@given(texts, texts)
def test_every_passage_of_both_editions_is_counted_once(old, new):
    changes = compare(passages(**old), passages(**new))

    assert Counter(change.before.name for change in changes if change.before) == Counter(old.keys())
    assert Counter(change.after.name for change in changes if change.after) == Counter(new.keys())


@given(texts, texts)
def test_leaving_out_what_is_the_same_changes_no_other_kind(old, new):
    """Comparing snapshots reads only the passages that differ."""
    same = {name for name in old.keys() & new.keys() if old[name] == new[name]}
    rest = [{name: text for name, text in edition.items() if name not in same} for edition in (old, new)]

    every = compare(passages(**old), passages(**new))

    assert [change for change in every if change.kind != ChangeKind.SAME] == compare(
        *(passages(**part) for part in rest)
    )


@given(texts, texts, st.randoms())
def test_the_mark_of_changes_is_that_of_the_same_changes_alone(old, new, random):
    changes = compare(passages(**old), passages(**new))
    shuffled = random.sample(changes, len(changes))

    assert mark_of(shuffled) == mark_of(changes)
    assert mark_of(changes[1:]) != mark_of(changes) or not changes
