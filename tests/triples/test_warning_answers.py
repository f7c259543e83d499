from django.http import QueryDict

from apps.triples.core.checks import PASS, STOP, WARN, Check
from apps.triples.core.warning_answers import LONGEST, MOST_ANSWERS, answers_in, as_drafted, as_submitted, kept


def test_answers_are_the_fields_named_why():
    data = QueryDict("why-longer=It+is+a+list.&why-duplicate:T-0001=+Other+&question=Who&why-copied=")

    assert answers_in(data) == {"longer": "It is a list.", "duplicate:T-0001": "Other", "copied": ""}


def test_an_answer_is_cut_and_holds_no_nul():
    assert answers_in({"why-a": "\x00" + "x" * 900}) == {"a": "x" * LONGEST}


def test_no_more_than_so_many_answers_are_read():
    assert len(answers_in({f"why-{number}": "x" for number in range(900)})) == MOST_ANSWERS


def test_a_draft_keeps_what_was_said_and_forgets_what_was_taken_back():
    drafted = as_drafted({"longer": "It is a list.", "copied": " "})

    assert drafted == [{"key": "longer", "answer": "It is a list."}]
    assert kept(drafted) == {"longer": "It is a list."}


def test_a_submitted_revision_keeps_every_warning_with_its_answer():
    checks = [
        Check(STOP, "a", "No."),
        Check(WARN, "duplicate", "Nearly.", "0.9 alike", ref="T-0001", answer="Other."),
        Check(PASS, "b", "Fine."),
    ]

    recorded = as_submitted(checks)

    assert recorded == [
        {
            "key": "duplicate:T-0001",
            "code": "duplicate",
            "sentence": "Nearly.",
            "detail": "0.9 alike",
            "where": "",
            "answer": "Other.",
        }
    ]
    assert kept(recorded) == {"duplicate:T-0001": "Other."}


def test_warnings_recorded_before_answers_were_asked_for_hold_none():
    assert kept([{"code": "duplicate", "sentence": "Nearly.", "detail": ""}]) == {}
