"""The checks of a draft, each by itself, and which of their findings need an answer."""

import re
from pathlib import Path

import pytest
from django.http import QueryDict

from apps.common.text.words import content_words
from apps.queries.core.checks import Other, likeness, longest_common_run, probe_words
from apps.triples.core import checks
from apps.triples.core.checks import (
    CAN_WARN,
    LONGEST,
    MOST_ANSWERS,
    PASS,
    STOP,
    WARN,
    Check,
    OtherBlock,
    Span,
    answers_in,
    as_drafted,
    as_submitted,
    check_copied,
    check_duplicates,
    check_evidence,
    check_longer,
    check_other_blocks,
    check_wording,
    settled,
    stop_sentence,
    stored_answers,
)

TEXT = "Archives are encrypted with AES-256-GCM. Keys are rotated every 90 days by two people."


def test_every_check_that_warns_can_be_made_blocking():
    rooms = Path(checks.__file__).parent.glob("*.py")
    source = "".join(room.read_text() for room in rooms)

    assert set(re.findall(r'Check\(\s*WARN,\s*"(\w+)"', source)) | {"figures"} == set(CAN_WARN)


def test_two_checks_about_other_things_have_other_keys():
    checks_ = [Check(WARN, "a", "", ref=ref, of=block) for ref in ("", "1") for block in ("", "2")]

    assert len({check.key for check in checks_} | {check.slug for check in checks_}) == 8


# What is looked at -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "level", "detail"),
    [
        ("Which cipher protects archives?", PASS, ""),
        ("Keys are rotated every 90 days", STOP, "Longest copied run 6 of 6 words (limit 4), 100% of the question."),
        (
            "Is it true that keys are rotated every 90 days, or is that only so for the archives of last year?",
            WARN,
            "Longest copied run 6 of 21 words (limit 4), 29% of the question.",
        ),
    ],
)
def test_a_question_is_in_own_words_copies_a_run_or_is_the_block(question, level, detail):
    check = check_copied(question, TEXT, limit=4)

    assert (check.level, check.detail) == (level, detail)
    if level == PASS:
        assert check.sentence == "Your own words: longest copied run 1 of 4 words (limit 4)."


@pytest.mark.parametrize(
    ("one", "other", "run"), [("", "", 0), ("abc", "xabcx", 3), ("abcd", "abxcd", 2), ("a", "b", 0)]
)
def test_longest_common_run(one, other, run):
    assert longest_common_run(list(one), list(other)) == run


@pytest.mark.parametrize(
    ("question", "answer", "evidence", "level", "detail"),
    [
        ("How long may it last?", "At most eight hours.", "lasts at most eight hours", PASS, ""),
        (
            "Which cipher protects archives?",
            "AES-256-GCM, with a separate data key for each archive that leaves",
            "AES-256-GCM",
            WARN,
            "Answer: 6 content words beyond the question’s; evidence: 1.",
        ),
        (
            "Do archives of the region leave with a separate data key each?",
            "Archives of the region leave with a separate data key each.",
            "Yes",
            PASS,
            "",
        ),
    ],
)
def test_an_answer_warns_that_says_more_than_its_question_and_evidence(question, answer, evidence, level, detail):
    check = check_longer(question, answer, evidence)

    assert (check.level, check.detail) == (level, detail)


def span(quote):
    start = TEXT.index(quote)
    return Span(start, start + len(quote), quote)


def test_evidence_in_the_pinned_text_passes():
    assert check_evidence(TEXT, [span("AES-256-GCM"), span("90 days")]) == Check(
        PASS, "evidence", "Both evidence spans are in the pinned text."
    )


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        [Span(0, 8, "Archivez")],
        [Span(80, 200, "x")],
        [Span(5, 5, "")],
        [Span(-1, 3, "Ar")],
        [Span(9, 4, "x")],
    ],
)
def test_no_evidence_and_evidence_that_does_not_quote_the_text_stop(wrong):
    assert check_evidence(TEXT, wrong).level == STOP


def test_wording_wants_both_parts():
    assert [check.code for check in check_wording(" ", "")] == ["no_question", "no_answer"]
    assert check_wording("Who?", "They.") == []


def test_the_likest_other_question_is_named():
    question = "How long does a session stay open?"
    others = [
        Other("T-0001", "Who owns the backup?", "Draft"),
        Other("T-0002", "How long does the session stay open?", "Accepted"),
    ]

    check = check_duplicates(question, others, limit=0.85)

    assert (check.level, check.ref, check.detail) == (WARN, "T-0002", "accepted, 0.97 alike")
    assert check_duplicates("Who?", [], limit=0.85).level == PASS
    assert likeness(question, question.removesuffix("?")) == 1.0
    assert likeness(question, "Who owns the backup?") < 0.4
    assert likeness("", "Who?") == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How long does a session stay open?", "How long does the session stay open?"),
        ("Which policies cover backups of customers?", "Which policy covers a backup of customers"),
        ("Who may read the root key of an archive today?", "Who may read the root keys of an archive?"),
    ],
)
def test_questions_as_alike_as_the_limit_share_a_word_that_is_looked_for(one, other):
    assert set(probe_words(one, likeness(one, other))) & content_words(other)


def test_the_words_looked_for_are_the_longest_and_as_few_as_are_needed():
    question = "Which cipher protects customer archives in transit between regions?"

    assert probe_words(question, 0.85) == ["customer", "archive", "between", "protect"]
    assert probe_words(question, 1.0) == ["customer"]
    assert len(probe_words(question, 0.5)) == len(content_words(question))
    assert probe_words("Who is it?", 0.85) == []


def other_block(text, ref="B-2", **more):
    return OtherBlock(7, ref, "Sessions", text, **more)


def others_named(*others, answer="At most eight hours, then it closes by itself."):
    return check_other_blocks("How long may access last?", answer, (TEXT,), others)


def test_a_block_that_contains_the_answer_may_answer_as_well():
    text = "Access closes by itself after at most 8 hours, however long it would last."

    assert others_named(other_block(text, found_by="BM25 at 2")) == [
        Check(WARN, "other_block", "“Sessions” may answer as well.", "Found by BM25 at 2.", ref="B-2", block=7)
    ]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Access that should last long closes by itself after at most 9 hours.", ""),
        ("Access for eight hours is a long time to last.", ""),
        ("A lunch break closes by itself after at most eight hours.", ""),
        ("Nothing of the kind is said here.", ""),
        ("Yes, it is so.", "Yes."),
    ],
)
def test_a_block_without_the_figures_and_words_of_the_answer_is_not_another_answer(text, answer):
    assert others_named(other_block(text), **({"answer": answer} if answer else {})) == [
        Check(PASS, "other_block", "The other passage found does not contain the answer.")
    ]


def test_near_duplicate_blocks_are_named_whatever_the_answer_three_at_most_and_best_first():
    (twin,) = others_named(other_block(TEXT + " Ask the desk."), answer="")
    (same,) = others_named(other_block(TEXT.upper()), answer="")
    many = others_named(*(other_block(TEXT, ref=f"B-{number}") for number in range(5)))

    assert twin.sentence == "“Sessions” says nearly the same."
    assert same.sentence == "“Sessions” says the same, word for word."
    assert [check.ref for check in many] == ["B-0", "B-1", "B-2"]
    assert others_named() == []


# What needs an answer ----------------------------------------------------------------------------------------------

DUPLICATE = Check(WARN, "duplicate", "Nearly the same question exists.", ref="T-0001")
LONGER = Check(WARN, "longer", "The answer says more than its evidence.", of="SEC-4.2")
BESIDE, SECOND = LONGER._replace(where="SEC-4.2"), LONGER._replace(of="SEC-9.3", where="SEC-9.3")


@pytest.mark.parametrize(
    ("found", "blocking", "answers", "levels_and_answers"),
    [
        ([DUPLICATE], [], {"duplicate:T-0001": " Other product. "}, [(WARN, "Other product.")]),
        ([DUPLICATE], [], {"duplicate:T-0002": "Other product."}, [(WARN, "")]),
        ([BESIDE, SECOND], [], {LONGER.key: "It is a list."}, [(WARN, "It is a list."), (WARN, "")]),
        ([LONGER], ["longer"], {LONGER.key: "It is all right."}, [(STOP, "")]),
        ([Check(PASS, "a", "Fine."), LONGER, Check(STOP, "c", "No.")], [], {}, [(STOP, ""), (WARN, ""), (PASS, "")]),
    ],
)
def test_an_answer_is_to_its_own_warning_and_none_where_a_lead_made_it_blocking(
    found, blocking, answers, levels_and_answers
):
    checks_ = settled(found, blocking=blocking, answers=answers)

    assert [(check.level, check.answer) for check in checks_] == levels_and_answers
    assert [check.needs_reason for check in checks_] == [
        level == WARN and not answer for level, answer in levels_and_answers
    ]


def test_an_answer_of_a_draft_that_did_not_name_its_only_block_counts_until_it_is_taken_back():
    assert LONGER.answer_in({"longer": "It is a list."}) == "It is a list."
    assert LONGER.answer_in({"longer": "It is a list.", "longer:SEC-4.2": ""}) == ""
    assert BESIDE.answer_in({"longer": "It is a list."}) == ""


NO, FINE = Check(STOP, "a", "The cipher differs."), Check(PASS, "b", "Fine.")


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        ([FINE], None),
        ([DUPLICATE._replace(answer="Other product.")], None),
        ([NO], "One check blocks submission: the cipher differs."),
        ([NO, NO], "2 checks block submission; the first: the cipher differs."),
        (
            [DUPLICATE],
            "One warning needs your reason why it is all right: nearly the same question exists.",
        ),
        (
            [DUPLICATE, DUPLICATE],
            "2 warnings need your reason why they are all right; the first: nearly the same question exists.",
        ),
        ([DUPLICATE, NO], "One check blocks submission: the cipher differs."),
    ],
)
def test_the_stop_sentence_names_the_first_and_counts_the_rest(found, sentence):
    assert stop_sentence(found) == sentence


def test_answers_are_the_fields_named_why_and_are_limited_in_length_and_number():
    data = QueryDict("why-longer=It+is+a+list.&why-duplicate:T-0001=+Other+&question=Who&why-copied=")

    assert answers_in(data) == {"longer": "It is a list.", "duplicate:T-0001": "Other", "copied": ""}
    assert answers_in({"why-a": "\x00" + "x" * 900}) == {"a": "x" * LONGEST}
    assert len(answers_in({f"why-{number}": "x" for number in range(900)})) == MOST_ANSWERS


def test_a_draft_keeps_answers_and_drops_blank_ones():
    drafted = as_drafted({"longer": "It is a list.", "copied": " "})

    assert drafted == [{"key": "longer", "answer": "It is a list."}]
    assert stored_answers(drafted) == {"longer": "It is a list."}


def test_a_submitted_revision_stores_every_warning_with_its_answer():
    recorded = as_submitted([NO, DUPLICATE._replace(detail="0.9 alike", answer="Other."), FINE])

    assert recorded == [
        {
            "key": "duplicate:T-0001",
            "code": "duplicate",
            "sentence": "Nearly the same question exists.",
            "detail": "0.9 alike",
            "where": "",
            "answer": "Other.",
        }
    ]
    assert stored_answers(recorded) == {"duplicate:T-0001": "Other."}
    assert stored_answers([{"code": "duplicate", "sentence": "Nearly.", "detail": ""}]) == {}
