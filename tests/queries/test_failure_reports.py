"""Searches that went wrong: reported by members and by machines, masked, and queries only when a lead takes them."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.audit.models import Event
from apps.queries.actions import failures as failures_actions
from apps.queries.actions.failures import REPORT_STEPS
from apps.queries.actions.queries import QueryRefused
from apps.queries.enums import ReportState, SourceKind
from apps.queries.models import FailureReport, Query
from tests.corpus.factories import make_corpus
from tests.factories import AT, lead_of, make_member, make_project
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db


def report(project, text="where is the spare key", **fields) -> FailureReport:
    given = {"expected": "", "passage": "", "has_consent": True, "actor": lead_of(project)} | fields
    return failures_actions.report_failure(project=project, text=text, at=AT, **given)


def take(one: FailureReport) -> FailureReport:
    return failures_actions.take_report(report_id=one.pk, actor=lead_of(one.project), at=AT)


def reject(one: FailureReport, reason="") -> FailureReport:
    return failures_actions.reject_report(report_id=one.pk, reason=reason, actor=lead_of(one.project), at=AT)


def test_what_tells_of_a_person_is_masked_before_anything_is_stored(project):
    one = report(project, "  key of anna@hut.example \n is lost", expected="Call +49 30 1234567")

    assert (one.text, one.expected) == ("key of [e-mail] is lost", "Call [phone]")
    assert "hut.example" not in str(list(Event.objects.values_list("after", "before")))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"has_consent": False}, "Nothing is kept without your consent"),
        ({"text": "  "}, "Say what you searched for"),
        ({"passage": "b9"}, "No passage of this project has the id b9"),
    ],
)
def test_what_cannot_be_reported_is_said(project, fields, sentence):
    make_corpus(project)
    make_corpus(texts={"b9": "Of another project."})

    with pytest.raises(QueryRefused, match=sentence):
        report(project, **fields)
    assert not FailureReport.objects.exists()


def test_a_report_goes_through_the_checks_of_every_query(project):
    make_query(project, outside_id="Q1", text="where are the spare keys")

    assert list(report(project).remarks) == ["duplicate"]
    project.policies["query_duplicate"] = "block"
    project.save()
    with pytest.raises(QueryRefused, match="The query Q1 is nearly the same"):
        report(project)


def test_a_taken_report_is_a_query_of_its_own_source_with_what_was_expected(project):
    make_corpus(project)
    make_query(project, outside_id="Q7")
    one = report(project, expected="The hook behind the door.", passage="b1")

    query = take(one).query

    assert (query.outside_id, query.text, query.intent) == ("Q008", "where is the spare key", one.expected)
    assert (query.source.slug, query.source.kind) == ("failure-reports", SourceKind.FAILURE_CASE)
    assert query.metadata == {"expected_passage": "b1"}
    assert take(report(project, "who shuts the windows")).query.source == query.source
    with pytest.raises(QueryRefused, match="The query Q008 has the same words"):
        take(report(project, "Where is the spare KEY"))


def test_the_words_of_a_rejected_report_are_deleted(project):
    one = reject(report(project, expected="The hook."), " Found at once. ")

    assert (one.text, one.expected, one.remarks, one.reason) == ("", "", {}, "Found at once.")
    assert not Query.objects.exists()


@pytest.mark.parametrize("state", ReportState)
@pytest.mark.parametrize(("step", "do"), [("take", take), ("reject", reject)])
def test_each_state_allows_the_steps_of_the_table_and_no_other(project, state, step, do):
    one = report(project)
    if state != ReportState.OPEN:
        {ReportState.TAKEN: take, ReportState.REJECTED: reject}[state](one)

    if (state, step) in REPORT_STEPS:
        assert do(one).state == REPORT_STEPS[state, step]
        assert Event.objects.filter(action=f"failure.{step}").count() == 1
    else:
        with pytest.raises(QueryRefused, match="already"):
            do(one)
        assert FailureReport.objects.get().state == state


def test_the_database_keeps_what_is_always_true(project):
    one = report(project)

    with pytest.raises(IntegrityError), transaction.atomic():
        FailureReport.objects.filter(pk=one.pk).update(has_consent=False)
    with pytest.raises(IntegrityError), transaction.atomic():
        FailureReport.objects.filter(pk=one.pk).update(state=ReportState.REJECTED)
    reject(one)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        FailureReport.objects.filter(pk=one.pk).update(reason="Another.")


def test_members_report_on_the_page_and_see_what_became_of_it_and_leads_take_or_reject(client):
    project = make_project()
    address = reverse("queries:failures", args=[project.slug])
    for person, text in ((Role.ANNOTATOR, "where is the spare key"), (Role.REVIEWER, "who shuts the windows")):
        client.force_login(make_member(project, person))
        wrong = client.post(reverse("queries:report", args=[project.slug]), {"text": text})
        sent = client.post(reverse("queries:report", args=[project.slug]), {"text": text, "has_consent": "on"})
        assert (wrong.status_code, sent.status_code) == (400, 302)
    page = client.get(address)
    assert "who shuts the windows" in page.text
    assert "where is the spare key" not in page.text

    client.force_login(lead_of(project))
    first, second = FailureReport.objects.order_by("pk")
    page = client.get(address)
    assert page.text.index(first.text) < page.text.index(second.text)
    assert second.text in client.get(address, {"after": first.pk}).text
    decide = {one: reverse("queries:decide", args=[project.slug, one.pk]) for one in (first, second)}
    assert "Taken as Q001" in client.post(decide[first], {"step": "take"}, follow=True).text
    client.post(decide[second], {"step": "reject", "reason": "No question."})
    assert client.post(decide[second], {"step": "reject"}).status_code == 409
    client.force_login(second.reported_by)
    page = client.get(address)
    assert "rejected: No question." in page.text
    assert client.post(decide[second], {"step": "take"}).status_code == 403


def test_a_token_for_reports_alone_can_report_and_nothing_else(client, project):
    made = {"name": "Search page", "scopes": [Scope.FAILURES_WRITE], "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=project, user=lead_of(project), **made)
    headers = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    address = reverse("queries-api:failures", args=[project.slug])
    body = {"text": "key of anna@hut.example", "has_consent": True}

    answer = client.post(address, body, content_type="application/json", **headers)

    assert answer.status_code == 201
    assert (answer.json()["text"], answer.json()["state"]) == ("key of [e-mail]", "open")
    assert client.get(address, **headers).status_code == 403
    client.force_login(lead_of(project))
    assert [one["id"] for one in client.get(address, {"state": "open"}).json()["results"]] == [answer.json()["id"]]
    decide = reverse("queries-api:decide", args=[project.slug, answer.json()["id"]])
    taken = client.post(decide, {"step": "take"}, content_type="application/json").json()
    assert (taken["state"], taken["query_id"]) == ("taken", "Q001")
