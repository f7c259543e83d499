"""Calibrations over the API: opened, answered blindly, compared, discussed and closed by the rules of their page."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.calibration.actions import open_calibration
from apps.calibration.models import Calibration, CalibrationVerdict
from apps.review.enums import RateSide, VerdictChoice
from tests.agreement.factories import answer_items, make_calibration
from tests.calibration.test_calibrations import close, make_signalling
from tests.factories import AT, lead_of, make_member, make_project
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

FLAG = {"choice": "flag", "reasons": ["wrong_block"], "note": "SECOND-LOOK"}


@rows_of_module
def made():
    return make_calibration()


@pytest.fixture
def ask(client):
    """Asks somebody's endpoint of calibrations, with a body or without one."""

    def ask(person, project, name, *place, body=None, **query):
        client.force_login(person)
        address = reverse(f"calibration-api:{name}", args=[project.slug, *place])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def said(number, **body):
    return {"choice": "confirm", "idempotency_key": f"k{number}"} | body


# Opening and finding them


def test_a_lead_opens_one_by_hand_and_everybody_lists_their_own(made, ask):
    answer_items(made, made.partner)
    answer_items(made, made.subject)
    close(made, made.lead)
    third, fourth = (make_member(made.project, Role.REVIEWER) for _ in range(2))
    body = {"subject": third.pk, "partner": fourth.pk, "side": "reviewer", "reason": "They differ."}

    opened = ask(made.lead, made.project, "calibrations", body=body)

    assert opened.status_code == 201
    told = opened.json()
    assert (told["number"], told["subject"]["id"], told["partner"]["name"]) == (2, third.pk, fourth.name)
    assert (told["side"], told["state"], told["why"], told["item_count"]) == ("reviewer", "open", "They differ.", 4)
    for person, numbers in ((made.lead, [2, 1]), (third, [2]), (made.partner, [1]), (made.author, [])):
        listed = ask(person, made.project, "calibrations").json()
        assert ([one["number"] for one in listed["calibrations"]], listed["next"]) == (numbers, None)
    assert [one["number"] for one in ask(made.lead, made.project, "calibrations", before=2).json()["calibrations"]] == [
        1
    ]


@pytest.mark.parametrize(
    ("change", "status", "named"),
    [
        ({"side": "judge"}, 400, "side"),
        ({"subject": 10**9}, 400, "subject"),
        ({"partner": None}, 400, "partner"),
        ({"partner": 2**70}, 400, "partner"),
        ({}, 409, "twice"),
    ],
)
def test_a_calibration_that_cannot_be_is_not_opened(made, ask, change, status, named):
    body = {"subject": made.subject.pk, "partner": made.partner.pk, "side": "reviewer", **change}
    stranger = make_member(make_project(), Role.REVIEWER)

    answer = ask(made.lead, made.project, "calibrations", body=body)

    assert ask(made.lead, made.project, "calibrations", body=body | {"subject": stranger.pk}).status_code == 400
    assert answer.status_code == status
    assert named in str(answer.json())
    assert Calibration.objects.count() == 1


def test_a_check_opens_one_for_whoever_is_out_of_the_limits(ask):
    project, _, harsh, _ = make_signalling()

    first = ask(lead_of(project), project, "check", body={})
    again = ask(lead_of(project), project, "check", body={})

    assert [one["subject"]["id"] for one in first.json()["opened"]] == [harsh.pk]
    assert again.json()["opened"] == []
    assert first.json()["refused"] == again.json()["refused"]
    assert "Author, as an author: A calibration needs 2 past Q&As" in str(again.json()["refused"])


# Answering


def test_the_two_read_the_items_and_answer_them_blind(made, ask):
    items = ask(made.subject, made.project, "items", 1).json()["items"]

    assert [item["item"] for item in items] == [1, 2, 3, 4]
    first = items[0]
    assert first["own_answer"] is None
    block = first["expected_blocks"][0]
    (evidence,) = block["evidence"]
    assert evidence["text"] == block["text"][evidence["start"] : evidence["end"]] != ""

    sent = ask(made.subject, made.project, "answer", 1, 1, body=said(1, **FLAG))
    again = ask(made.subject, made.project, "answer", 1, 1, body=said(1, **FLAG))

    assert (sent.status_code, sent.json()) == (again.status_code, again.json())
    assert sent.status_code == 201
    assert CalibrationVerdict.objects.count() == 1
    own = ask(made.subject, made.project, "items", 1).json()["items"][0]["own_answer"]
    assert own == sent.json()
    assert (own["item"], own["choice"], own["reasons"], own["note"]) == (1, "flag", ["wrong_block"], "SECOND-LOOK")
    assert ask(made.subject, made.project, "calibration", 1).json()["own_answered"] == 1


def test_a_changed_answer_supersedes_the_first(made, ask):
    ask(made.subject, made.project, "answer", 1, 2, body=said(1, **FLAG))
    ask(made.subject, made.project, "answer", 1, 2, body=said(2))

    own = ask(made.subject, made.project, "items", 1).json()["items"][1]["own_answer"]
    assert (own["choice"], CalibrationVerdict.objects.count()) == ("confirm", 2)


@pytest.mark.parametrize(
    ("place", "body", "status"),
    [
        (1, {"choice": "perhaps"}, 400),
        (1, {"idempotency_key": ""}, 400),
        (1, {"reasons": ["dull"]}, 400),
        (1, {"choice": "flag"}, 409),
        (1, {"reasons": ["wrong_block"]}, 409),
        (5, {}, 404),
        (2**40, {}, 404),
    ],
)
def test_a_wrong_answer_is_refused(made, ask, place, body, status):
    assert ask(made.subject, made.project, "answer", 1, place, body=said(1, **body)).status_code == status
    assert not CalibrationVerdict.objects.exists()


def test_what_the_other_answers_is_in_nothing_that_one_reads(made, ask):
    places = [("calibrations",), ("calibration", 1), ("items", 1)]
    before = [ask(made.subject, made.project, *place).content for place in places]

    answer_items(made, made.partner, VerdictChoice.FLAG)

    assert [ask(made.subject, made.project, *place).content for place in places] == before
    told = b"".join(before)
    assert b"SECRET-NOTE" not in told
    assert b"T-000" not in told


def test_a_lead_without_a_part_reads_progress_and_no_answer(made, ask):
    answer_items(made, made.partner, VerdictChoice.FLAG, most=3)

    answer = ask(made.lead, made.project, "calibration", 1)

    seen = answer.json()
    assert [(one["name"], one["answered"]) for one in seen["progress"]] == [("Petra Lomas", 0), ("Sef Arden", 3)]
    assert [seen[name] for name in ("own_answered", "compared", "figures", "messages")] == [None] * 4
    assert b"SECOND-LOOK" not in answer.content
    assert ask(made.lead, made.project, "items", 1).status_code == 404
    assert ask(made.lead, made.project, "answer", 1, 1, body=said(1)).status_code == 404


# Comparing and closing


def test_once_both_have_answered_they_compare_discuss_and_close(made, ask):
    answer_items(made, made.subject, VerdictChoice.FLAG)
    assert ask(made.subject, made.project, "message", 1, body={"text": "Well?"}).status_code == 409
    assert ask(made.subject, made.project, "close", 1, body={"note": "Well."}).status_code == 409
    answer_items(made, made.partner)

    seen = ask(made.subject, made.project, "calibration", 1).json()
    assert (seen["state"], seen["message_refusal"], seen["close_refusal"]) == ("answered", None, None)
    answers = [
        (row["subject"]["choice"], row["subject"]["reasons"], row["partner"]["choice"]) for row in seen["compared"]
    ]
    assert answers == [("flag", ["wrong_block"], "confirm")] * 4
    assert {row["is_alike"] for row in seen["compared"]} == {False}
    assert any(verdict["note"] == "SECRET-NOTE" for row in seen["compared"] for verdict in row["original"])
    first = seen["figures"][0]
    assert (first["of"], first["alike"]["value"], first["alike"]["n"]) == ("choice", 0.0, 4)
    assert ask(made.subject, made.project, "items", 1).json()["code"] == "no_answer"

    posted = ask(made.partner, made.project, "message", 1, body={"text": "The heading misled me."})
    closed = ask(made.subject, made.project, "close", 1, body={"note": "Headings are no evidence."})

    assert (posted.status_code, closed.status_code) == (201, 200)
    assert [message["text"] for message in closed.json()["messages"]] == ["The heading misled me."]
    assert (closed.json()["state"], closed.json()["note"]) == ("closed", "Headings are no evidence.")
    assert closed.json()["closed_by"]["id"] == made.subject.pk
    assert ask(made.partner, made.project, "message", 1, body={"text": "Too late."}).json()["code"] == "no_message"


@pytest.mark.parametrize(("name", "body"), [("message", {"text": " "}), ("message", {}), ("close", {"note": ""})])
def test_a_message_and_a_conclusion_have_words(made, ask, name, body):
    answer_items(made, made.subject)
    answer_items(made, made.partner)

    assert ask(made.subject, made.project, name, 1, body=body).status_code == 400


def test_a_lead_who_reviews_one_of_its_triples_elsewhere_compares_nothing_yet(ask, client):
    made = make_calibration(items=4, confirmed=2, flagged=2)
    answer_items(made, made.subject, VerdictChoice.FLAG)
    answer_items(made, made.partner)
    fifth = make_member(made.project, Role.REVIEWER)
    people = {"subject": made.lead, "partner": fifth, "side": RateSide.REVIEWER}
    mine = open_calibration(project=made.project, **people, lead=made.lead, reason="", at=AT)
    page = reverse("calibration:calibration", args=[made.project.slug, 1])

    answer = ask(made.lead, made.project, "calibration", 1)
    hidden = client.get(page)

    assert [answer.json()[name] for name in ("compared", "figures", "messages")] == [None] * 3
    for text in (answer.content, hidden.content):
        assert b"SECOND-LOOK" not in text
        assert b"SECRET-NOTE" not in text
    assert "You review one of these Q&amp;As again yourself." in hidden.text

    for person in (made.lead, fifth):
        answer_items(made._replace(calibration=mine), person)
    assert ask(made.lead, made.project, "calibration", 1).json()["compared"] is not None
    assert b"SECOND-LOOK" in client.get(page).content


# Who may


def test_only_the_two_and_leads_find_one(made, ask):
    bystander = make_member(made.project, Role.ANNOTATOR)

    for name, body in (("calibration", None), ("items", None), ("message", {"text": "?"}), ("close", {"note": "."})):
        assert ask(bystander, made.project, name, 1, body=body).status_code == 404
    assert ask(made.lead, made.project, "calibration", 2**33).status_code == 404


def test_an_unknown_parameter_and_a_broken_cursor_are_named(made, ask):
    assert "state" in ask(made.lead, made.project, "calibrations", state="open").json()["errors"]
    assert "before" in ask(made.lead, made.project, "calibrations", before="C-001").json()["errors"]


@pytest.mark.parametrize("items", [2, 4])
def test_the_number_of_queries_does_not_depend_on_the_items(client, ask, items):
    made = make_calibration(items=items)
    for name in ("items", "calibration"):
        ask(made.subject, made.project, name, 1)
    counts = []
    for name in ("items", "calibration"):
        with CaptureQueriesContext(connection) as queries:
            ask(made.subject, made.project, name, 1)
        counts.append(len(queries))

    assert counts == [14, 12]
