"""The checks of a query by themselves, each on small texts, and how much work those of a whole file are."""

import pytest

from apps.queries.core.checks import (
    MOST_COMPARED,
    ComparedWith,
    LikeIndex,
    Other,
    Passage,
    Remark,
    RunIndex,
    check_query,
    has_only_stop_words,
    language_of,
    likeness,
    usual_languages,
)
from apps.queries.enums import QueryCheck

ALL = {str(check): "warn" for check in QueryCheck}
RULE = "Keys of the hut are rotated every ninety days by two people."


ALONE = ComparedWith()


def sentences(text: str, beside: ComparedWith = ALONE, **others: str) -> dict[str, str]:
    remarks = check_query({"text": text, **others}, beside, ALL)
    return {remark.check: remark.sentence for remark in remarks}


def test_a_query_of_its_own_words_has_no_remarks():
    beside = ComparedWith([Other("Q1", "who opens the archive")], [Passage("B1", RULE)], ["English"])

    assert sentences("how often are the keys rotated", beside) == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Who opens  the ARCHIVE", "The query Q1 has the same words."),
        ("who opens the archives", "The query Q1 is nearly the same: “who opens the archive” (0.99 alike)."),
        ("who may open a locked archive at night", None),
    ],
)
def test_the_nearest_query_is_named(text, sentence):
    others = [Other("Q2", "who opens a door"), Other("Q1", "who opens the archive")]

    assert sentences(text, ComparedWith(others)).get("duplicate") == sentence


def test_the_passage_with_the_longest_run_of_its_words_is_named():
    passages = [Passage("B1", "keys of the hut"), Passage("B2", RULE)]
    text = "why are keys of the hut are rotated every ninety days"

    assert sentences(text, ComparedWith(passages=passages)) == {
        "copied": "9 words in a row are copied from the passage B2, 82% of the query (limit 6)."
    }
    assert sentences(text, ComparedWith(passages=passages, run_limit=9)) == {}


@pytest.mark.parametrize("text", ["what is it", "wie ist das", "??", "THE OF AND"])
def test_small_words_of_one_language_say_nothing(text):
    assert has_only_stop_words(text)


@pytest.mark.parametrize("text", ["what is TLS", "the hut", "dem hut", "7 keys"])
def test_any_other_word_says_something(text):
    assert not has_only_stop_words(text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("how often are the keys rotated", "English"),
        ("wie oft werden die Schlüssel gewechselt", "German"),
        ("à quelle heure est ouvert le refuge dans la vallée", "French"),
        ("como se puede abrir la puerta del archivo", "Spanish"),
        ("когда открыт архив", "Cyrillic script"),
        ("鑰匙多久更換一次", "CJK script"),
        ("TLS 1.2 rotation", ""),
        ("hut door key", ""),
        ("die", ""),
        ("1234", ""),
    ],
)
def test_a_language_is_told_by_its_small_words_or_its_script_and_not_where_it_is_not_sure(text, language):
    assert language_of(text) == language


def test_languages_are_usual_from_a_tenth_of_ten_known_ones_on():
    assert usual_languages({"English": 9, "": 500}) == []
    assert usual_languages({"English": 45, "German": 5, "French": 4}) == ["English"]
    assert usual_languages({"English": 45, "German": 6}) == ["English", "German"]


def test_another_language_than_the_usual_ones_is_remarked_on():
    german = "wie oft werden die Schlüssel gewechselt"

    assert sentences(german, ComparedWith(languages=["English"])) == {
        "language": "It seems to be in another language (German) than the queries here (English)."
    }
    assert sentences(german, ComparedWith(languages=["English", "German"])) == sentences(german) == {}


def test_personal_data_is_looked_for_in_all_that_people_wrote_and_shown_masked():
    written = {"text": "reset my key", "intent": "anna@hut.example called from +49 30 1234567"}

    assert check_query(written, ComparedWith(), {"personal": "block"}) == [
        Remark(
            "personal",
            "block",
            "It may contain personal data: e-mail, phone.",
            "intent",
            "[e-mail] called from [phone]",
        )
    ]
    assert check_query(written, ComparedWith(), {"duplicate": "block"}) == []


def test_a_query_is_compared_with_few_however_many_are_like_it():
    index = LikeIndex(Other(f"Q{number}", f"opening time of hut {number}") for number in range(1_000))
    index.add(Other("last", "opening time of hut 999 in winter"))

    found = index.like("opening time of hut 999", 0.85)

    assert len(found) <= MOST_COMPARED + 1
    assert {"Q999", "last"} <= {other.ref for other in found}


def test_an_index_finds_each_query_that_is_near_enough():
    texts = [f"{door} opens the {room} {part}" for door in ("who", "what") for room in "abcdefg" for part in "xyz"]
    index = LikeIndex(Other(text, text) for text in texts)

    for text in texts:
        near = {other for other in texts if likeness(text, other) >= 0.85}
        assert near <= {other.ref for other in index.like(text, 0.85)}


def test_passages_are_read_up_to_a_number_of_words_and_a_run_in_them_is_found():
    passages = [Passage("B1", RULE), Passage("B2", "Visitors sign the book at the door."), Passage("B3", RULE * 2)]
    index = RunIndex(passages, 4, most_words=13)

    assert [passage.ref for passage in index.holding("hut are rotated every year")] == ["B1"]
    assert [passage.ref for passage in index.holding("sign the book at once")] == ["B2"]
    assert index.holding("hut keys are rotated") == index.holding("") == []
    assert (index.read, index.unread) == (2, 1)
    assert RunIndex([], 4, most_words=9).holding(RULE) == []
