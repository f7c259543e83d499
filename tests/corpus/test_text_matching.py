from apps.corpus.core.near_duplicates import PassageText, near_texts, same_texts, text_key

KEYS = "Keys are kept for ninety days. Then they are destroyed by the custodian, who writes it down."
DOORS = "Doors close at eighteen, and the warden has the only key that opens them afterwards."
PASSAGES = [PassageText("keys", "Retention", KEYS), PassageText("doors", "Doors", DOORS)]


def near(*texts, passages=PASSAGES):
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

    assert near(part) == {part: ("keys", 1.0)}


def test_a_text_with_little_more_than_a_passage_is_near_and_one_with_much_more_is_not():
    little = f"{KEYS} Fully so."
    much = f"{KEYS} {DOORS}"

    assert near(little, much) == {little: ("keys", 0.88)}


def test_of_passages_that_hold_a_text_the_shortest_is_meant():
    part = "the warden has the only key"
    passages = [PassageText("long", "", f"{DOORS} {KEYS}"), *PASSAGES]

    assert near(part, passages=passages) == {part: ("doors", 1.0)}


def test_two_words_are_near_nothing():
    assert near("the custodian") == {}
