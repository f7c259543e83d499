"""A webhook is added, tested against a receiver that fails once, and its deliveries read, in a browser."""

import pytest
from playwright.sync_api import expect

from apps.common.database.functions import from_now
from apps.common.web.addresses import parse_openings
from apps.jobs.execution import outbox
from apps.jobs.models import Outbox
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_project
from tests.jobs.receiver import receiving

pytestmark = pytest.mark.django_db(transaction=True)


def make_team():
    return make_project("Osterby docs")


project = shared(make_team)


def deliver() -> int:
    Outbox.objects.update(next_at=from_now(-1))
    return outbox.deliver_due(at=AT)


def test_a_lead_adds_a_webhook_sees_why_a_test_failed_and_sends_it_again(page, project, signed_in, settings, witness):
    with receiving("whsec_AAAA") as receiver:
        settings.OUTBOUND_ALLOW = parse_openings([f"127.0.0.1:{receiver.port}"])
        signed_in(lead_of(project))
        go(page, f"/p/{project.slug}/jobs/webhooks/")
        page.get_by_label("Address").fill(receiver.url)
        page.get_by_label("A job fails").uncheck()
        with turned(page):
            page.get_by_role("button", name="Add webhook").click()
        receiver.secret = page.locator(".secret code").inner_text()
        expect(page.get_by_role("heading", name="The new secret")).to_be_visible()
        looking.looks_well(page, "webhooks")

        with turned(page):
            page.get_by_role("button", name=f"Test {receiver.url}").click()
        receiver.answers = [503]
        assert deliver() == 0
        go(page, f"/p/{project.slug}/jobs/webhooks/messages/")
        expect(page.get_by_role("cell", name="127.0.0.1 answered 503.")).to_be_visible()
        expect(page.get_by_role("cell", name="503", exact=True)).to_be_visible()
        page.locator("summary", has_text="Content").click()
        expect(page.get_by_text('"type": "ping"')).to_be_visible()
        looking.looks_well(page, "deliveries")

        with turned(page):
            page.get_by_role("button", name="Send again: ping").click()
        assert deliver() == 1
        go(page, f"/p/{project.slug}/jobs/webhooks/messages/?state=sent")
        expect(page.get_by_role("cell", name="200", exact=True)).to_be_visible()
        assert list(receiver.taken) == [str(Outbox.objects.get().delivery_id)]
    assert witness.drain() == []
