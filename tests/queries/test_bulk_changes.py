from hypothesis import given
from hypothesis import strategies as st

from apps.queries.core.bulk_changes import BulkChange, Transition, preview

WORDS = st.lists(st.sampled_from("abcd"), unique=True, max_size=4)


def test_only_what_differs_changes():
    change = BulkChange({"domain": "doors", "difficulty": "hard"}, add_tags=("new",))

    assert change.changed({"domain": "doors", "difficulty": "", "tags": ["new"]}) == {"difficulty": "hard"}
    assert BulkChange({"domain": ""}).changed({"domain": "doors"}) == {"domain": ""}


def test_a_preview_counts_each_transition_and_the_queries_that_change():
    rows = [{"domain": "doors"}, {"domain": "keys"}, {"domain": "keys"}, {"domain": "audit"}]

    seen = preview(rows, BulkChange({"domain": "audit"}))

    assert (seen.queries, seen.changing) == (4, 3)
    assert seen.transitions == [Transition("domain", "keys", "audit", 2), Transition("domain", "doors", "audit", 1)]


@given(WORDS, WORDS, WORDS)
def test_tags_are_removed_and_added_in_their_order_and_a_second_time_changes_nothing(before, added, removed):
    change = BulkChange(add_tags=tuple(added), remove_tags=tuple(removed))
    row = {"tags": before}

    after = row | change.changed(row)

    assert set(after["tags"]) == (set(before) - set(removed)) | set(added)
    assert len(after["tags"]) == len(set(after["tags"]))
    assert [tag for tag in after["tags"] if tag in before and tag not in removed] == [
        tag for tag in before if tag not in removed
    ]
    assert set(after["tags"]) == set((after | change.changed(after))["tags"])
