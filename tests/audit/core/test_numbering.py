"""Keys here and keys there, both ways."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.audit.core.numbering import Numbering, numbering_of

NUMBERING = Numbering({"corpus_block": 100, "queries_query": 0}, {7: 3, 8: 4})
NUMBERS = st.integers(0, 200).map(str)


def test_a_key_moves_by_the_distance_of_its_table_and_people_one_by_one():
    assert NUMBERING.here("corpus_block", 5) == 105
    assert NUMBERING.here("queries_query", 5) == 5
    assert NUMBERING.here("accounts_user", 8) == 4


@given(table=st.sampled_from(["corpus_block", "queries_query"]), key=st.integers(1, 2**62))
def test_every_key_has_its_way_back(table, key):
    assert NUMBERING.there(table, NUMBERING.here(table, key)) == key


@given(table=st.sampled_from(["corpus_block", "accounts_user", "gates_badge", ""]), name=st.text(max_size=20) | NUMBERS)
def test_every_name_of_an_object_has_its_way_back(table, name):
    assert NUMBERING.name_there(table, NUMBERING.name_here(table, name)) == name


@pytest.mark.parametrize(("table", "name"), [("gates_badge", "5"), ("accounts_user", "9"), ("corpus_block", "05")])
def test_what_did_not_come_along_is_named_as_elsewhere(table, name):
    assert NUMBERING.name_here(table, name) == f"elsewhere-{name}"


def test_an_object_without_a_name_stays_one():
    assert NUMBERING.name_here("", "") == NUMBERING.name_there("", "") == ""


@pytest.mark.parametrize(("table", "key"), [("gates_badge", 5), ("accounts_user", 9)])
def test_the_key_of_a_row_that_did_not_come_along_is_refused(table, key):
    with pytest.raises(KeyError):
        NUMBERING.here(table, key)


@pytest.mark.parametrize("table", ["corpus_block", "accounts_user"])
@pytest.mark.parametrize("key", [0, -1, -99])
def test_a_key_that_no_row_has_leads_to_none_that_was_here_before(table, key):
    with pytest.raises(KeyError):
        NUMBERING.here(table, key)
    assert NUMBERING.name_here(table, str(key)) == f"elsewhere-{key}"


def test_it_is_stored_as_json():
    assert numbering_of(json.loads(json.dumps(NUMBERING.stored()))) == NUMBERING
