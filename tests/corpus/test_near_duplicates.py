from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.corpus.core import near_duplicates
from apps.corpus.core.near_duplicates import (
    PERMUTATIONS,
    NearDuplicates,
    PassageText,
    near,
    near_pairs,
    near_texts,
    normalised_hash,
    resemblance,
    same_texts,
    shingles,
    signature,
    signatures,
    text_key,
)
from tests.walks import often

TEXT = "A session lasts at most eight hours. It closes by itself at the end of the incident and cannot be extended."
OTHER = "A root key is rotated at least every twelve months, and at once when a custodian leaves the team."


def test_texts_that_differ_in_case_and_signs_alone_have_one_hash():
    assert normalised_hash("A  session, lasts.") == normalised_hash("a session\nlasts")
    assert normalised_hash("A session lasts") != normalised_hash("A session lapses")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (TEXT, TEXT.upper(), 1.0),
        (TEXT, OTHER, 0.0),
        ("a b c d", "a b c e", 1 / 3),
        ("a b", "a b", 1.0),
        ("a b", "b a", 0.0),
        ("", "", 0.0),
        ("", "a", 0.0),
    ],
)
def test_resemblance_is_the_share_of_common_runs_of_three_words(one, other, expected):
    assert resemblance(one, other) == pytest.approx(expected)


def test_a_repeated_run_counts_once():
    assert len(shingles("a b c a b c")) == 3


def test_a_signature_estimates_the_resemblance():
    base = [f"word{number}" for number in range(400)]
    for kept in (100, 200, 300, 380):
        one, other = " ".join(base), " ".join(base[:kept] + [f"new{number}" for number in range(400 - kept)])

        estimate = (signature(one) == signature(other)).mean()

        assert estimate == pytest.approx(resemblance(one, other), abs=0.2)


def test_signatures_are_the_same_in_every_process():
    assert signature("a b c d")[:3].tolist() == signature("A, b; c d!")[:3].tolist()
    assert signature("a b c d").shape == (PERMUTATIONS,)
    assert signature("a b c d")[:2].tolist() == [913405936, 2303856903]


def test_near_names_the_likest_first_and_the_text_itself():
    found = signatures([OTHER, TEXT, TEXT + " Ask the desk.", ""])

    places = [one.position for one in near(found, signature(TEXT), at_least=0.6)]

    assert places == [1, 2]


def test_an_empty_text_is_like_nothing():
    assert near(signatures(["", TEXT]), signature(""), at_least=0.0) == []


def test_no_texts_give_no_rows():
    assert signatures([]).minima.shape == (0, PERMUTATIONS)
    assert near(signatures([]), signature(TEXT), at_least=0.5) == []


def test_signatures_come_back_from_disk_as_they_were(tmp_path):
    index = NearDuplicates()

    index.build([TEXT, OTHER], tmp_path)

    assert np.array_equal(index.load(tmp_path).minima, signatures([TEXT, OTHER]).minima)


WORDS = st.lists(st.sampled_from("abcde"), max_size=8).map(" ".join)


@settings(max_examples=often(25, 60), deadline=None)
@given(st.lists(WORDS, max_size=12))
def test_near_pairs_are_those_that_comparing_all_would_find(texts):
    first = [place for place, text in enumerate(texts) if texts.index(text) == place]
    every = {(one, other) for one, other in combinations(first, 2) if resemblance(texts[one], texts[other]) >= 0.8}

    assert {(pair.one, pair.other) for pair in near_pairs(texts, 0.8)} == every


def test_equal_texts_are_one_for_near_pairs():
    assert near_pairs([TEXT, OTHER, TEXT], 0.8) == []


def test_questions_from_one_template_are_not_each_compared_with_all(monkeypatch):
    compared = []
    overlap = near_duplicates._overlap
    monkeypatch.setattr(near_duplicates, "_overlap", lambda one, other: compared.append(1) or overlap(one, other))
    texts = [f"How many days may {n}a {n}b and {n}c of case number {n} be kept in the archive?" for n in range(300)]
    texts.append(texts[17].replace("the archive", "an archive"))

    pairs = near_pairs(texts, 0.6)

    assert [(pair.one, pair.other) for pair in pairs] == [(17, 300)]
    assert len(compared) < 2 * len(texts)


# The passages of given texts -----------------------------------------------------------------------------------------

KEYS = "Keys are kept for ninety days. Then they are destroyed by the custodian, who writes it down."
DOORS = "Doors close at eighteen, and the warden has the only key that opens them afterwards."
PASSAGES = [PassageText("keys", "Retention", KEYS), PassageText("doors", "Doors", DOORS)]


def near_to(*texts, passages=PASSAGES):
    found = near_texts({text: text for text in texts}, passages)
    return {text: (match.block_id, round(match.share, 2)) for text, match in found.items()}


def test_the_same_words_are_the_same_text_whatever_their_case_blanks_and_marks():
    assert text_key("Keys are kept,\n for 90 days!") == text_key("keys ARE kept for 90 days")
    assert text_key("…") == ""


def test_a_passage_is_found_alone_and_below_its_title():
    keys = [text_key(KEYS.upper()), text_key(f"Doors\n\n{DOORS}"), text_key("Elsewhere.")]

    assert same_texts(keys, PASSAGES) == {keys[0]: "keys", keys[1]: "doors"}


def test_of_passages_with_one_text_the_first_is_meant():
    twice = [PassageText("b", "", KEYS), PassageText("a", "", KEYS)]

    assert same_texts([text_key(KEYS)], twice) == {text_key(KEYS): "b"}


def test_a_part_of_a_passage_is_wholly_in_it():
    part = "Then they are destroyed by the custodian"

    assert near_to(part) == {part: ("keys", 1.0)}


def test_a_text_with_little_more_than_a_passage_is_near_and_one_with_much_more_is_not():
    little = f"{KEYS} Fully so."
    much = f"{KEYS} {DOORS}"

    assert near_to(little, much) == {little: ("keys", 0.88)}


def test_of_passages_that_hold_a_text_the_shortest_is_meant():
    part = "the warden has the only key"
    passages = [PassageText("long", "", f"{DOORS} {KEYS}"), *PASSAGES]

    assert near_to(part, passages=passages) == {part: ("doors", 1.0)}


def test_two_words_are_near_nothing():
    assert near_to("the custodian") == {}
