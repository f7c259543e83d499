"""A query that a check warns of, the remarks that stay open, and searches that went wrong, decided by keys."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.queries.actions.failures import report_failure
from apps.queries.models import FailureReport, Query
from tests.corpus.factories import make_corpus
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.factories import AT, lead_of, make_member, make_project
from tests.queries.factories import import_csv, make_query

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_a_query_is_saved_as_it_is_and_remarks_are_settled_in_the_list(page, signed_in, witness):
    project = make_project()
    make_query(project, outside_id="Q001", text="who opens the archive at night")
    import_csv(project, "query_id,text\nQ003,Who opens the archive at night?\nQ004,what is it\nQ005,hut hours\n")
    signed_in(lead_of(project))

    go(page, f"/p/{project.slug}/queries/new/")
    page.get_by_label("Id").fill("Q002")
    page.get_by_label("Query", exact=True).fill("who opens the archives at night")
    with turned(page):
        page.get_by_role("button", name="Add the query").click()
    expect(page.get_by_role("heading", name="Look at this before you save")).to_be_visible()
    looking.looks_well(page, "query-doubted")
    with turned(page):
        page.get_by_role("button", name="Save it as it is").click()
    assert Query.objects.get(outside_id="Q002").remarks == {}

    go(page, f"/p/{project.slug}/queries/")
    page.get_by_label("Remarks").select_option("any")
    with turned(page):
        page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_text("The query Q001 is nearly the same")).to_be_visible()
    looking.looks_well(page, "query-remarks")
    page.get_by_label("Select Q003").check()
    with turned(page):
        page.get_by_role("button", name="Remarks on selected are all right").click()
    expect(page.get_by_text("1 query has no open remarks any more")).to_be_visible()
    with turned(page):
        page.get_by_role("link", name="Q004", exact=True).click()
    expect(page.get_by_role("heading", name="1 open remark")).to_be_visible()
    looking.looks_well(page, "query-remark")
    with turned(page):
        page.get_by_role("button", name="It is all right").click()

    assert not Query.objects.exclude(remarks={}).exists()
    assert witness.drain() == []


def test_variants_are_seen_before_they_are_added(page, signed_in, witness):
    project = make_project()
    make_query(project, outside_id="Q001", text="Who opens the archive at night")
    make_query(project, outside_id="Q002", text="Wann öffnet die Hütte im Winter")
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/queries/")
    page.get_by_label("Select Q001").check()
    page.get_by_label("Select Q002").check()
    with turned(page):
        page.get_by_role("button", name="Variants of selected").click()
    expect(page.get_by_role("heading", name="9 new variants")).to_be_visible()
    looking.looks_well(page, "query-variants")
    page.get_by_label("keyboard slip", exact=True).uncheck()
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="7 new variants")).to_be_visible()
    with turned(page):
        press(page, "j")
        page.keyboard.press("Space")
        press(page, "a")
    expect(page.get_by_text("6 variants were added")).to_be_visible()

    assert Query.objects.filter(metadata__variant="no diacritics").get().text == "Wann offnet die Hutte im Winter"
    assert witness.drain() == []


def test_failed_searches_are_reported_by_a_member_and_decided_by_keys(page, signed_in, witness):
    project = make_project()
    make_corpus(project)
    member = make_member(project, Role.ANNOTATOR, name="Nadja Fink")
    for text in ("who shuts the windows in winter", "asdf"):
        report_failure(project=project, text=text, expected="", passage="", has_consent=True, actor=member, at=AT)
    signed_in(member)

    go(page, f"/p/{project.slug}/queries/failures/")
    page.get_by_label("What did you search for?").fill("reset the key of anna@hut.example")
    page.get_by_label("What should have been found?").fill("The rule for lost keys.")
    page.get_by_label("Id of a passage that answers").fill("b1")
    page.get_by_label("The project may keep this query").check()
    with turned(page):
        page.get_by_role("button", name="Report it").click()
    expect(page.get_by_text("Reported as: “reset the key of [e-mail]”.")).to_be_visible()
    looking.looks_well(page, "failures-member")

    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/queries/failures/")
    looking.looks_well(page, "failures-lead")
    for key in ("a", "x", "a"):
        with turned(page):
            press(page, key)

    expect(page.get_by_text("0 reports wait for a lead")).to_be_visible()
    assert list(Query.objects.order_by("pk").values_list("text", flat=True)) == [
        "who shuts the windows in winter",
        "reset the key of [e-mail]",
    ]
    assert list(FailureReport.objects.order_by("pk").values_list("state", flat=True)) == ["taken", "rejected", "taken"]
    assert witness.drain() == []
