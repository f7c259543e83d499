from django.http import QueryDict

from apps.triples.core.checks import (
    LONGEST,
    MOST_ANSWERS,
    PASS,
    STOP,
    WARN,
    Check,
    answers_in,
    as_drafted,
    as_submitted,
    stored_answers,
)


def test_answers_are_the_fields_named_why():
    data = QueryDict("why-longer=It+is+a+list.&why-duplicate:T-0001=+Other+&question=Who&why-copied=")

    assert answers_in(data) == {"longer": "It is a list.", "duplicate:T-0001": "Other", "copied": ""}


def test_an_answer_is_truncated_and_contains_no_nul():
    assert answers_in({"why-a": "\x00" + "x" * 900}) == {"a": "x" * LONGEST}


def test_no_more_than_so_many_answers_are_read():
    assert len(answers_in({f"why-{number}": "x" for number in range(900)})) == MOST_ANSWERS


def test_a_draft_keeps_answers_and_drops_blank_ones():
    drafted = as_drafted({"longer": "It is a list.", "copied": " "})

    assert drafted == [{"key": "longer", "answer": "It is a list."}]
    assert stored_answers(drafted) == {"longer": "It is a list."}


def test_a_submitted_revision_stores_every_warning_with_its_answer():
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
    assert stored_answers(recorded) == {"duplicate:T-0001": "Other."}


def test_warnings_recorded_before_answers_were_required_have_none():
    assert stored_answers([{"code": "duplicate", "sentence": "Nearly.", "detail": ""}]) == {}
