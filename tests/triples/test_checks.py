import pytest

from apps.triples.checks import (
    PASS,
    STOP,
    WARN,
    Check,
    Other,
    Span,
    check_copied,
    check_duplicates,
    check_evidence,
    check_figures,
    check_wording,
    likeness,
    longest_common_run,
    stop_sentence,
)

TEXT = "Archives are encrypted with AES-256-GCM. Keys are rotated every 90 days by two people."


def span(quote, text=TEXT):
    start = text.index(quote)
    return Span(start, start + len(quote), quote)


def test_evidence_in_the_pinned_text_passes():
    assert check_evidence(TEXT, [span("AES-256-GCM"), span("90 days")]) == Check(
        PASS, "evidence", "Both evidence spans lie in the pinned text."
    )


def test_no_evidence_stops():
    assert check_evidence(TEXT, []).level == STOP


@pytest.mark.parametrize(
    "wrong", [Span(0, 8, "Archivez"), Span(80, 200, "x"), Span(5, 5, ""), Span(-1, 3, "Ar"), Span(9, 4, "x")]
)
def test_evidence_that_does_not_quote_the_text_stops(wrong):
    assert check_evidence(TEXT, [wrong]).level == STOP


def test_a_cipher_without_its_mode_is_a_difference():
    check = check_figures("AES-256, with a key for each archive.", TEXT)

    assert check == Check(
        STOP,
        "figures",
        "A figure differs from the evidence.",
        detail="Answer: AES-256. Evidence: AES-256-GCM.",
        said="AES-256",
        meant="AES-256-GCM",
    )


def test_ninety_days_is_not_three_months():
    assert check_figures("Every 3 months", TEXT).detail == "Answer: 3 months. Evidence: 90 days."


def test_the_same_number_with_another_unit_is_a_difference():
    assert check_figures("90 hours", TEXT).detail == "Answer: 90 hours. Evidence: 90 days."


@pytest.mark.parametrize("answer", ["90 days", "a 90-day period", "90", "ninety days", "2 people", "Every day."])
def test_figures_that_say_the_same_pass(answer):
    assert check_figures(answer, TEXT).level == PASS


def test_thousands_are_compared_without_their_comma():
    assert check_figures("1284 blocks", "There are 1,284 blocks.").level == PASS


def test_an_acronym_that_the_evidence_lacks_only_warns():
    assert check_figures("The HSM does.", TEXT) == Check(
        WARN, "figures", "“HSM” is in the answer but not in the marked evidence."
    )


def test_a_question_in_own_words_passes_and_says_how_far():
    check = check_copied("Which cipher protects archives?", TEXT, limit=4)

    assert check == Check(PASS, "copied", "Your own words: longest copied run 1 of 4 words (limit 4).")


def test_a_question_that_is_the_block_stops():
    assert check_copied("Keys are rotated every 90 days", TEXT, limit=4).level == STOP


def test_a_long_copied_run_inside_a_longer_question_warns():
    question = "Is it true that keys are rotated every 90 days, or is that only so for the archives of last year?"

    assert check_copied(question, TEXT, limit=4).level == WARN


@pytest.mark.parametrize(
    ("one", "other", "run"), [("", "", 0), ("abc", "xabcx", 3), ("abcd", "abxcd", 2), ("a", "b", 0)]
)
def test_longest_common_run(one, other, run):
    assert longest_common_run(list(one), list(other)) == run


def test_the_same_question_in_other_order_of_words_is_alike():
    assert likeness("How long does a session stay open?", "How long does a session stay open") == 1.0
    assert likeness("How long does a session stay open?", "Who owns the backup?") < 0.4
    assert likeness("", "Who?") == 0.0


def test_the_likest_other_question_is_named():
    others = [
        Other("T-0001", "Who owns the backup?", "Draft"),
        Other("T-0002", "How long does the session stay open?", "Accepted"),
    ]

    check = check_duplicates("How long does a session stay open?", others, limit=0.85)

    assert (check.level, check.ref, check.detail) == (WARN, "T-0002", "accepted, 0.97 alike")


def test_no_other_question_passes():
    assert check_duplicates("Who?", [], limit=0.85).level == PASS


def test_wording_wants_both_parts():
    assert [check.code for check in check_wording(" ", "")] == ["no_question", "no_answer"]
    assert check_wording("Who?", "They.") == []


def test_the_stop_sentence_names_the_first_and_counts_the_rest():
    stop = Check(STOP, "a", "The cipher differs.")

    assert stop_sentence([Check(PASS, "b", "Fine."), Check(WARN, "c", "Hm.")]) is None
    assert stop_sentence([stop]) == "One check stops it: the cipher differs."
    assert stop_sentence([stop, stop]) == "2 checks stop it; the first: the cipher differs."
