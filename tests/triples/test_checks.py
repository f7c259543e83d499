import re
from pathlib import Path

import pytest

from apps.triples import checks
from apps.triples.checks import (
    CAN_WARN,
    PASS,
    STOP,
    WARN,
    Check,
    Other,
    OtherBlock,
    Span,
    check_copied,
    check_duplicates,
    check_evidence,
    check_figures,
    check_longer,
    check_other_blocks,
    check_wording,
    likeness,
    longest_common_run,
    probe_words,
    settled,
    stop_sentence,
)
from apps.triples.tokens import content_words

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


def compared(answer, evidence=TEXT):
    """The one check on the answer's figures."""
    (check,) = check_figures(answer, evidence)
    return check


def test_a_cipher_without_its_mode_is_a_difference():
    assert compared("AES-256, with a key for each archive.") == Check(
        STOP,
        "figures",
        "A figure differs from the evidence.",
        detail="Answer: AES-256. Evidence: AES-256-GCM.",
        ref="AES-256",
        said="AES-256",
        meant="AES-256-GCM",
    )


SAME = [
    ("90 days", TEXT),
    ("a 90-day period", TEXT),
    ("90", TEXT),
    ("ninety days", TEXT),
    ("Ninety days", "Keys live 90 days."),
    ("2 people", TEXT),
    ("Every day.", TEXT),
    ("AES-256-GCM", "Encrypted with AES 256 GCM."),
    ("AES-256", "Encrypted with AES\u2011256."),
    ("AES256", "Encrypted with AES-256."),
    ("aes-256-gcm", TEXT),
    ("1284 blocks", "There are 1,284 blocks."),
    ("1,000", "1000 files"),
    ("1 000 000 rows", "1,000,000 rows"),
    ("1'000 rows", "1000 rows"),
    ("1.5 million rows", "1,500,000 rows"),
    ("2 thousand", "2000"),
    ("10 %", "10% of all"),
    ("10 percent", "10 % of all"),
    ("10 per cent", "10\u202f%"),
    ("ten percent", "10%"),
    ("99,9 %", "99.9 percent"),
    ("0.5 s", ".5 seconds"),
    ("8 hours", "eight hours"),
    ("8h", "8 hours"),
    ("8 hrs", "eight hours"),
    ("an 8-hour session", "a session of eight hours"),
    ("one hour", "1 hour"),
    ("twenty-four hours", "24 h"),
    ("two hundred and five files", "205 files"),
    ("30 min", "thirty minutes"),
    ("10 GB", "10 gigabytes"),
    ("10GB", "10 GB"),
    ("v1.2", "version 1.2"),
    ("TLS 1.3", "TLS 1.2 and 1.3 are allowed."),
    ("TLS-1.2", "TLS 1.2"),
    ("27001", "certified under ISO 27001"),
    ("ISO-27001", "ISO 27001"),
    ("SLA 99.9 %", "an SLA of 99.9 percent"),
    ("an SLA of 99.9%", "SLA 99.9 %"),
    ("2026-03-01", "on 1 March 2026"),
    ("March 1, 2026", "2026-03-01"),
    ("1st of March 2026", "March 1 2026"),
    ("March 2026", "from Mar 2026 on"),
    ("8 am", "at 08:00"),
    ("8:30 p.m.", "20:30"),
    ("10 to 20 days", "10\u201320 days"),
    ("between 10 and 20 days", "10-20 days"),
    ("3 or 4 weeks", "three or four weeks"),
    ("20 days", "10 to 20 days"),
    ("10%-20%", "10 to 20 %"),
    ("EUR 1,000", "\u20ac1000"),
    ("5 dollars", "$5"),
    ("-5 \u00b0C", "\u22125 \u00b0C"),
    ("HSM", "kept in two HSMs"),
    ("GitHub", "on github"),
    ("IMPORTANT", "This is important."),
    ("90 days", "Retention in days: 90"),
    ("CVE-2024-3094", "see CVE-2024-3094."),
]


@pytest.mark.parametrize(("answer", "evidence"), SAME, ids=str)
def test_figures_that_say_the_same_pass(answer, evidence):
    assert compared(answer, evidence).level == PASS


OTHER_FIGURES = [
    ("90 hours", TEXT, "Answer: 90 hours. Evidence: 90 days."),
    ("Every 3 months", TEXT, "Answer: 3 months. Evidence: 90 days."),
    ("90 business days", "within 90 days", "Answer: 90 business days. Evidence: 90 days."),
    ("90 days", "within 90 business days", "Answer: 90 days. Evidence: 90 business days."),
    ("v1.2", "version 1.2.0", "Answer: v1.2. Evidence: 1.2.0."),
    ("4.0", "4.1", "Answer: 4.0. Evidence: 4.1."),
    ("0.5", "0.50", "Answer: 0.5. Evidence: 0.50."),
    ("TLS 1.2", "TLS 1.3", "Answer: TLS 1.2. Evidence: TLS 1.3."),
    ("AES 256", TEXT, "Answer: AES 256. Evidence: AES-256-GCM."),
    ("100 MB", "100 Mb", "Answer: 100 MB. Evidence: 100 Mb."),
    ("10 GiB", "10 GB", "Answer: 10 GiB. Evidence: 10 GB."),
    ("5 \u00b0C", "-5 \u00b0C", "Answer: 5 \u00b0C. Evidence: -5 \u00b0C."),
    ("$5", "5 euros", "Answer: $5. Evidence: 5 euros."),
    ("1 March 2026", "2026-03-02", "Answer: 1 March 2026. Evidence: 2026-03-02."),
    ("8 am", "20:00", "Answer: 8 am. Evidence: 20:00."),
    ("10 percent", "10 points, 10 kg", "Answer: 10 percent. Evidence: 10."),
    ("30 days", "10\u201320 days", "Answer: 30 days. Evidence: 10\u201320 days."),
    ("1,5", "15", "Answer: 1,5. Evidence: 15."),
]


@pytest.mark.parametrize(("answer", "evidence", "detail"), OTHER_FIGURES, ids=str)
def test_figures_that_may_mean_something_else_are_shown_as_a_difference(answer, evidence, detail):
    check = compared(answer, evidence)

    assert (check.level, check.sentence, check.detail) == (STOP, "A figure differs from the evidence.", detail)


def test_every_figure_that_differs_is_named():
    found = check_figures("AES-256, for 3 months, by an HSM", TEXT)

    assert [(check.level, check.said or check.ref) for check in found] == [
        (STOP, "AES-256"),
        (STOP, "3 months"),
        (WARN, "HSM"),
    ]


def test_an_acronym_that_the_evidence_lacks_only_warns():
    assert compared("The HSM does.") == Check(
        WARN, "figures", "“HSM” is in the answer but not in the marked evidence.", ref="HSM"
    )


@pytest.mark.parametrize("answer", ["", "Nobody may.", "May they? One of them may."])
def test_an_answer_without_figures_has_nothing_to_compare(answer):
    assert compared(answer).sentence == "The answer holds no figures to compare."


def test_an_answer_that_says_what_its_evidence_says_passes():
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


def other_block(text, ref="B-2", **more):
    return OtherBlock(7, ref, "Sessions", text, **more)


def others_named(*others, answer="At most eight hours, then it closes by itself.", expected=(TEXT,)):
    return check_other_blocks("How long may access last?", answer, expected, others)


def test_a_block_that_holds_the_answer_may_answer_as_well():
    other = other_block(
        "Access closes by itself after at most 8 hours, however long it would last.", found_by="BM25 at 2"
    )

    assert others_named(other) == [
        Check(WARN, "other_block", "“Sessions” may answer as well.", "Found by BM25 at 2.", ref="B-2", block=7)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Access that should last long closes by itself after at most 9 hours.",
        "Access for eight hours is a long time to last.",
        "A lunch break closes by itself after at most eight hours.",
        "Nothing of the kind is said here.",
    ],
)
def test_a_block_without_the_figures_and_words_of_the_answer_is_no_other_answer(text):
    assert others_named(other_block(text)) == [
        Check(PASS, "other_block", "The other block found does not hold the answer.")
    ]


def test_an_answer_that_says_too_little_is_not_looked_for():
    assert others_named(other_block("Yes, it is so."), answer="Yes.")[0].level == PASS


def test_a_block_that_says_nearly_the_same_is_named_whatever_the_answer():
    (twin,) = others_named(other_block(TEXT + " Ask the desk."), answer="")
    (same,) = others_named(other_block(TEXT.upper()), answer="")

    assert twin.sentence == "“Sessions” says nearly the same."
    assert same.sentence == "“Sessions” says the same, word for word."


def test_no_more_than_three_other_blocks_are_named_best_first():
    found = [other_block(TEXT, ref=f"B-{number}") for number in range(5)]

    assert [check.ref for check in others_named(*found)] == ["B-0", "B-1", "B-2"]


def test_without_any_other_block_nothing_is_said():
    assert others_named() == []


def test_a_warning_carries_the_answer_given_to_it_and_asks_no_more():
    warning = Check(WARN, "duplicate", "Nearly the same question exists.", ref="T-0001")

    (check,) = settled([warning], blocking=[], answers={"duplicate:T-0001": " Other product. "})

    assert (check.answer, check.asks, stop_sentence([check])) == ("Other product.", False, None)


def test_an_answer_to_one_thing_is_none_to_another():
    warning = Check(WARN, "duplicate", "Nearly the same question exists.", ref="T-0002")

    (check,) = settled([warning], blocking=[], answers={"duplicate:T-0001": "Other product."})

    assert check.asks


def test_an_answer_stays_with_its_block_when_a_second_one_is_expected():
    alone = Check(WARN, "longer", "The answer is longer than its evidence says.", of="SEC-4.2")
    beside = alone._replace(where="SEC-4.2")
    other = alone._replace(of="SEC-9.3", where="SEC-9.3")

    found = settled([beside, other], blocking=[], answers={alone.key: "It is a list."})

    assert [check.answer for check in found] == ["It is a list.", ""]


def test_an_answer_of_a_draft_that_did_not_name_its_only_block_counts_until_it_is_taken_back():
    warning = Check(WARN, "longer", "The answer is longer than its evidence says.", of="SEC-4.2")

    assert warning.answer_in({"longer": "It is a list."}) == "It is a list."
    assert warning.answer_in({"longer": "It is a list.", "longer:SEC-4.2": ""}) == ""
    assert warning._replace(where="SEC-4.2").answer_in({"longer": "It is a list."}) == ""


def test_a_warning_that_a_lead_made_blocking_stops_whatever_was_said():
    warning = Check(WARN, "longer", "The answer is longer than its evidence says.")

    (check,) = settled([warning], blocking=["longer"], answers={"longer": "It is all right."})

    assert (check.level, check.answer) == (STOP, "")


def test_what_stops_stands_before_what_warns_and_what_passes():
    found = [Check(PASS, "a", "Fine."), Check(WARN, "b", "Hm."), Check(STOP, "c", "No.")]

    assert [check.code for check in settled(found, blocking=[], answers={})] == ["c", "b", "a"]


def test_every_check_that_warns_can_be_made_blocking():
    source = Path(checks.__file__).read_text()

    assert set(re.findall(r'Check\(\s*WARN,\s*"(\w+)"', source)) | {"figures"} == set(CAN_WARN)


def test_two_checks_about_other_things_have_other_keys():
    checks_ = [Check(WARN, "a", "", ref=ref, of=block) for ref in ("", "1") for block in ("", "2")]

    assert len({check.key for check in checks_} | {check.slug for check in checks_}) == 8


def test_the_stop_sentence_names_the_first_and_counts_the_rest():
    stop = Check(STOP, "a", "The cipher differs.")

    assert stop_sentence([Check(PASS, "b", "Fine.")]) is None
    assert stop_sentence([stop]) == "One check stops it: the cipher differs."
    assert stop_sentence([stop, stop]) == "2 checks stop it; the first: the cipher differs."


def test_warnings_without_an_answer_forbid_submitting_too():
    warn = Check(WARN, "c", "Nearly the same question exists.")

    assert stop_sentence([warn]) == "One warning asks why it is all right: nearly the same question exists."
    assert stop_sentence([warn, warn]).startswith("2 warnings ask why it is all right; the first: nearly")
    assert stop_sentence([warn, Check(STOP, "a", "No.")]) == "One check stops it: no."
