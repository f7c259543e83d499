import pytest

from apps.triples.core.checks import PASS, WARN, Other, check_duplicates, likeness, probe_words
from apps.triples.core.tokens import content_words


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


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long does a session stay open?", "How long does the session stay open?"),
        ("Which policies cover backups of customers?", "Which policy covers a backup of customers"),
        ("Who may read the root key of an archive today?", "Who may read the root keys of an archive?"),
    ],
)
def test_questions_as_alike_as_the_limit_share_a_word_that_is_looked_for(one, other):
    limit = likeness(one, other)

    assert set(probe_words(one, limit)) & content_words(other)


def test_the_words_looked_for_are_the_longest_and_as_few_as_are_needed():
    question = "Which cipher protects customer archives in transit between regions?"

    assert probe_words(question, 0.85) == ["customer", "archive", "between", "protect"]
    assert probe_words(question, 1.0) == ["customer"]
    assert len(probe_words(question, 0.5)) == len(content_words(question))
    assert probe_words("Who is it?", 0.85) == []
