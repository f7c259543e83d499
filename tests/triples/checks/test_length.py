from apps.triples.core.checks import PASS, WARN, check_longer


def test_an_answer_that_matches_its_evidence_passes():
    assert check_longer("How long may it last?", "At most eight hours.", "lasts at most eight hours").level == PASS


def test_an_answer_that_says_more_than_one_word_of_evidence_warns():
    answer = "AES-256-GCM, with a separate data key for each archive that leaves"

    check = check_longer("Which cipher protects archives?", answer, "AES-256-GCM")

    assert (check.level, check.detail) == (
        WARN,
        "Answer: 6 content words beyond the question’s; evidence: 1.",
    )


def test_words_that_the_question_hands_to_the_answer_do_not_count():
    question = "Do archives of the region leave with a separate data key each?"

    assert check_longer(question, "Archives of the region leave with a separate data key each.", "Yes").level == PASS
