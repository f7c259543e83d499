"""Rounds in a browser: the plan counted while it is made, a pilot, and pairs adjudicated by keys."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Adjudication, PilotDecision, Round
from tests.e2e import looking
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, judge_all, people_of
from tests.judging.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)

NOTES = ("Only the mode is missing, and the asker can look it up.", "Names the cipher but not for stored backups.")


def make_judged():
    """Judged by two people who differ on some pairs; a third one has not begun."""
    round_ = make_world(blocks=6, annotators=3, overlap=0.5)
    for turn, person in enumerate(people_of(round_)[:2]):
        while seats := claim_seats(round_=round_, annotator=person, n=10, at=AT):
            for seat in seats:
                grade = 2 if seat.entry_id % 3 else (0, 3)[turn]
                give(seat, person, grade, note=NOTES[turn], spans=[[0, 41]], active_ms=100_000 + 9_000 * turn)
    return round_


round_ = shared(make_judged)


def open_page(page, round_, path=""):
    go(page, f"/p/{round_.project.slug}/judging/{path}")


def test_pairs_are_adjudicated_by_keys_and_a_round_with_everything_is_planned_up_to_its_pilot(
    page, signed_in, witness, round_
):
    signed_in(lead_of(round_.project))
    a_pair_is_adjudicated_by_keys_alone(page, round_)
    the_plan_is_counted_while_it_is_made(page, round_)
    assert witness.drain() == []
    a_round_with_everything_is_planned_and_its_pilot_opened(page, round_)
    assert witness.drain() == []


def a_pair_is_adjudicated_by_keys_alone(lead, round_):
    open_page(lead, round_, f"rounds/{round_.pk}/adjudicate/")
    with turned(lead):
        press(lead, "Enter")
    expect(lead.get_by_role("region", name="Grades of the judges, without names")).to_be_visible()
    looking.looks_well(lead, "judging-decide")
    with turned(lead):
        press(lead, "1")
    press(lead, "r", "n")
    lead.keyboard.type("Related at most: 0 1 2 3 x.")
    with turned(lead):
        press(lead, "Control+Enter")

    decision = Adjudication.objects.get()
    assert (decision.grade, decision.error_type, decision.reason) == (1, "slip", "Related at most: 0 1 2 3 x.")


def the_plan_is_counted_while_it_is_made(lead, round_):
    make_member(round_.project, Role.ANNOTATOR, name="Ines Vale")
    open_page(lead, round_, "rounds/new/")
    expect(lead.locator("#plan")).to_contain_text("Nothing is left to judge")

    lead.get_by_label("Judge again pairs that have a grade").check()
    expect(lead.locator("#plan")).to_contain_text("Judgements14")

    lead.get_by_role("spinbutton", name="Share judged by two people percent").fill("100")
    expect(lead.locator("#plan")).to_contain_text("Judgements24")
    settled(lead)
    lead.get_by_label("People on a shared pair").fill("5")
    expect(lead.locator("#plan")).to_contain_text("Each person judges a pair once: choose more annotators")


def a_round_with_everything_is_planned_and_its_pilot_opened(page, judged):
    open_page(page, judged, "rounds/new/")
    for summary in ("Check the quality of each annotator", "A pilot first", "One more judge where people differ"):
        page.get_by_text(summary).click()
    page.get_by_text("Who may judge what").click()
    page.get_by_label("Judge again pairs that have a grade").check()
    page.get_by_label("Pairs judged again").fill("10")
    page.get_by_label("Checks of your own").fill("query_id,block_id,grade\nQ009,sec-4.2-00,3")
    page.get_by_label("Queries in the pilot").fill("1")
    page.get_by_label("Add a judge if α is below").fill("0.6")
    expect(page.locator("#plan")).to_contain_text("In the pilot")
    expect(page.locator("#plan")).to_contain_text("Checks4")
    settled(page)
    looking.clean(page, "judging-plan-whole")

    with turned(page):
        page.get_by_role("button", name="Open the round").click()
    expect(page.get_by_role("heading", name="Pilot")).to_be_visible()
    round_ = Round.objects.latest("pk")
    for person in people_of(round_):
        judge_all(round_, person, lambda seat: 2)
    page.reload()
    expect(page.get_by_text("The pilot is judged")).to_be_visible()
    looking.clean(page, "judging-pilot")
    page.get_by_label("Reason").fill("One grade only, and it is right.")
    with turned(page):
        page.get_by_role("button", name="Open the rest").click()
    expect(page.get_by_text("One grade only, and it is right.")).to_be_visible()

    assert PilotDecision.objects.get().decided_by == lead_of(judged.project)
