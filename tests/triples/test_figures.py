import pytest

from apps.triples.core.checks import PASS, STOP, WARN, Check, check_figures

TEXT = "Archives are encrypted with AES-256-GCM. Keys are rotated every 90 days by two people."


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
        in_answer="AES-256",
        in_evidence="AES-256-GCM",
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

    assert [(check.level, check.in_answer or check.ref) for check in found] == [
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
    assert compared(answer).sentence == "The answer has no figures to compare."
