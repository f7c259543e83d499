"""Somebody leaves, in a browser: what they have is shown, the address is typed, and it is gone."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project, make_user

pytestmark = pytest.mark.django_db(transaction=True)
project = shared(lambda: make_project("Osterby docs"))


def test_an_operator_has_a_lead_leave_and_leads_the_project(page, project, signed_in, witness):
    lead, operator = lead_of(project), make_user("Ops Person", is_operator=True)
    signed_in(operator)
    go(page, "/people/")
    with turned(page):
        page.get_by_role("link", name=f"{lead} leaves").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(f"{lead} leaves")
    expect(page.get_by_text("Nobody else leads Osterby docs.")).to_be_visible()
    looking.look_at(page, "leaving")
    looking.clean_in_both_themes(page)
    assert looking.faults_at_width(page, 390) == []
    page.get_by_label("Who leads from now on").select_option(label=str(operator))
    page.get_by_label("To confirm").fill(lead.email)
    with turned(page):
        page.get_by_role("button", name="Take all of it").click()

    expect(page.get_by_text(f"{lead} has left.")).to_be_visible()
    assert project.memberships.get(role=Role.LEAD, ended_at=None).user == operator
    assert witness.drain() == []
