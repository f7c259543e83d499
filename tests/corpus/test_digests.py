import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.common.digests import digest_of
from apps.corpus.core.passage_ids import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)

BLOCK = {"title": "T", "section_path": ["A"], "page_start": 1, "page_end": 2, "text": "x"}


def test_digests_are_stable_over_time():
    digests = block_digests(**BLOCK)

    assert digests.version == "0535f396e81ddfbe3f711e048c8816ed507dc980765e18289b60266c3b96ba7e"
    assert digests.text == "547ec70140166874b0dfa67b7869d553528675c69d4ba268a0866ff17249507c"


@given(
    block=st.fixed_dictionaries(
        {
            "title": st.text(),
            "section_path": st.lists(st.text()).map(tuple),
            "page_start": st.none() | st.integers(0),
            "page_end": st.none() | st.integers(0),
            "text": st.text(),
        }
    )
)
@example(
    {"title": 'a "b" \\', "section_path": ("Ä", 'c"'), "page_start": None, "page_end": 7, "text": "x\n\x7f\u2028é"}
)
def test_digests_are_over_the_canonical_json_of_what_is_read(block):
    digests = block_digests(**block)

    assert digests.version == digest_of(block)
    assert digests.text == digest_of({"title": block["title"], "text": block["text"]})


@pytest.mark.parametrize(
    ("change", "is_other_text"),
    [
        ({"section_path": ["B"]}, False),
        ({"page_start": 2}, False),
        ({"page_end": 3}, False),
        ({"title": "U"}, True),
        ({"text": "y"}, True),
        ({"title": "x", "text": "T"}, True),
    ],
)
def test_moving_a_block_changes_its_version_and_other_words_its_text_too(change, is_other_text):
    before, after = block_digests(**BLOCK), block_digests(**(BLOCK | change))

    assert before.version != after.version
    assert (before.text != after.text) is is_other_text


def test_a_snapshot_digest_depends_on_order_and_on_each_part():
    entries = [SnapshotEntry("a", "d", "1"), SnapshotEntry("b", "d", "2")]

    assert snapshot_digest(entries) == snapshot_digest(iter(entries))
    assert snapshot_digest(entries) != snapshot_digest(reversed(entries))
    assert snapshot_digest(entries) != snapshot_digest([SnapshotEntry("a", "e", "1"), entries[1]])


@pytest.mark.parametrize("more", [{"metadata_digest": "m"}, {"document_title": "Keys"}])
def test_metadata_and_titles_count_where_there_are_any(more):
    entries = [SnapshotEntry("a", "d", "1")]

    assert snapshot_digest(entries) == older_snapshot_digest(entries)
    assert snapshot_digest([entries[0]._replace(**more)]) != snapshot_digest(entries)


def test_metadata_has_the_same_name_however_a_database_writes_its_numbers():
    assert metadata_digest({"n": 1e22, "m": [1.0, -0.0]}) == metadata_digest({"m": [1, 0], "n": 10**22})
    assert metadata_digest({"n": 1.5}) != metadata_digest({"n": 1})
    assert metadata_digest({}) == ""
