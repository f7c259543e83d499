"""Two people vote by keys on queries that nothing answers, and a lead decides where they differ, in a browser."""

import pytest
from playwright.sync_api import expect

from apps.judging.models import UnanswerableVote
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of
from tests.judging.factories import people_of
from tests.judging.test_unanswerable import make_sampled

pytestmark = pytest.mark.django_db(transaction=True)

round_ = shared(make_sampled)


def test_two_people_vote_by_keys_and_a_lead_decides(page, signed_in, witness, round_):
    first, second = people_of(round_)
    signed_in(first)
    go(page, f"/p/{round_.project.slug}/judging/")
    with turned(page):
        page.get_by_role("link", name="Unanswerable queries").click()
    looking.looks_well(page, "unanswerable-own")
    with turned(page):
        page.keyboard.press("Enter")
    looking.looks_well(page, "unanswerable-vote")

    page.keyboard.press("1")
    page.keyboard.press("p")
    page.keyboard.type("b00008")
    with turned(page):
        page.keyboard.press("Enter")
    expect(page.get_by_text("Your vote on Q1 is on record.")).to_be_visible()
    expect(page.get_by_text("No query waits for your vote.")).to_be_visible()

    signed_in(second)
    go(page, f"/p/{round_.project.slug}/judging/unanswerable/")
    with turned(page):
        page.keyboard.press("Enter")
    expect(page.get_by_text("b00008")).to_have_count(0)
    page.keyboard.press("0")
    with turned(page):
        page.keyboard.press("Enter")
    assert list(UnanswerableVote.objects.order_by("number").values_list("is_nothing", flat=True)) == [False, True]

    signed_in(lead_of(round_.project))
    go(page, f"/p/{round_.project.slug}/judging/unanswerable/")
    expect(page.get_by_text("votes differ")).to_be_visible()
    looking.looks_well(page, "unanswerable-list")
    with turned(page):
        page.get_by_role("link", name="Q1").click()
    looking.looks_well(page, "unanswerable-decide")
    page.keyboard.press("0")
    page.get_by_label("Reason").fill("b00008 is about another moon.")
    with turned(page):
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Your decision is on record.")).to_be_visible()
    expect(page.get_by_text("unanswerable", exact=True)).to_be_visible()
    assert witness.drain() == []
