import pytest

from apps.triples.core.checks import PASS, STOP, WARN, Check, check_copied, longest_common_run
from tests.triples.checks.texts import TEXT


def test_a_question_in_own_words_passes_and_says_how_far():
    check = check_copied("Which cipher protects archives?", TEXT, limit=4)

    assert check == Check(PASS, "copied", "Your own words: longest copied run 1 of 4 words (limit 4).")


def test_a_question_that_is_the_block_stops():
    assert check_copied("Keys are rotated every 90 days", TEXT, limit=4).level == STOP


def test_a_long_copied_run_inside_a_longer_question_warns():
    question = "Is it true that keys are rotated every 90 days, or is that only so for the archives of last year?"

    check = check_copied(question, TEXT, limit=4)

    assert (check.level, check.detail) == (
        WARN,
        "Longest copied run 6 of 21 words (limit 4), 29% of the question.",
    )


@pytest.mark.parametrize(
    ("one", "other", "run"), [("", "", 0), ("abc", "xabcx", 3), ("abcd", "abxcd", 2), ("a", "b", 0)]
)
def test_longest_common_run(one, other, run):
    assert longest_common_run(list(one), list(other)) == run
