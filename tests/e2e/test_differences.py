"""Two judges settle their differences by keys, and a lead decides what they leave open, in a browser."""

import pytest
from playwright.sync_api import expect

from apps.judging.models import Adjudication, SecondGrade
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of
from tests.judging.factories import judge_all, people_of
from tests.judging.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)
NOTES = ("Both periods, and who has to approve.", "Who approves is here. Who may ask is not.")


def make_differences():
    """Three pairs of one query, on each of which two judges differ, with notes and evidence."""
    round_ = make_world(blocks=2, annotators=2, overlap=1.0, judges=2, reconcile=True)
    for person, grade, note in zip(people_of(round_), (3, 2), NOTES, strict=True):
        judge_all(round_, person, lambda seat, grade=grade: grade, note=note, spans=[[0, 40 + 10 * grade]])
    return round_


round_ = shared(make_differences)


def test_two_judges_settle_a_difference_by_keys_and_leave_another_to_a_lead(page, signed_in, witness, round_):
    mara, sef = people_of(round_)
    signed_in(mara)
    go(page, f"/p/{round_.project.slug}/")
    with turned(page):
        page.get_by_role("link", name="Differences to settle").click()
    expect(page.get_by_text("Who may ask is not.")).to_be_visible()
    expect(page.get_by_role("button", name="Choose a grade")).to_have_attribute("aria-disabled", "true")
    looking.looks_well(page, "difference")

    page.wait_for_timeout(300)
    page.keyboard.press("2")
    expect(page.get_by_role("button", name="Change to 2")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Why you change it")).to_be_focused()
    page.keyboard.type("Right, the intent asks who may ask.")
    with turned(page):
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Settled at 2.")).to_be_visible()
    settled = Adjudication.objects.get()
    assert (settled.decided_by, settled.grade, settled.adjudicator) == ("judges", 2, mara)

    page.wait_for_timeout(300)
    page.keyboard.press("3")
    expect(page.get_by_role("button", name="Keep 3")).to_be_visible()
    looking.look_at(page, "difference-kept")
    for width in (1100, 390):
        page.set_viewport_size({"width": width, "height": 844})
        for words in ("Yours, keep it", "Theirs", "Undo"):
            expect(page.get_by_text(words, exact=True)).to_be_visible()
    page.set_viewport_size(looking.WIDE)
    with turned(page):
        page.keyboard.press("Enter")

    signed_in(sef)
    go(page, f"/p/{round_.project.slug}/judging/")
    looking.clean(page, "difference-list")
    with turned(page):
        page.get_by_role("link", name="to settle").click()
    expect(page.get_by_text("Keeps 3")).to_be_visible()
    page.wait_for_timeout(300)
    page.keyboard.press("2")
    with turned(page):
        page.keyboard.press("Enter")
    expect(page.get_by_text("You still differ, so a lead decides.")).to_be_visible()
    assert SecondGrade.objects.filter(is_last=True).count() == 2

    signed_in(lead_of(round_.project))
    go(page, f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/adjudicate/")
    expect(page.locator("tbody tr")).to_have_count(1)
    with turned(page):
        page.keyboard.press("Enter")
    looking.looks_well(page, widths=(1024,))
    with turned(page):
        page.keyboard.press("3")
    expect(page.get_by_role("button", name="Decide 1 pair")).to_be_visible()
    expect(page.get_by_text("Keeps 3")).to_be_visible()
    looking.looks_well(page, "decide-held")
    for key in ("w", "n"):
        page.keyboard.press(key)
    page.keyboard.type("Nobody is named.")
    with turned(page):
        page.keyboard.press("Control+Enter")
    expect(page.get_by_text("1 pair is decided.")).to_be_visible()
    assert witness.drain() == []
