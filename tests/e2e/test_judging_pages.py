"""Rounds, guideline and adjudication in a browser: keys, live preview, and a hard look at each page."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Adjudication
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, people_of
from tests.judging.world import grade_some, make_world

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


@pytest.fixture
def lead(page, round_, signed_in):
    signed_in(lead_of(round_.project))
    return page


def open_page(page, round_, path=""):
    go(page, f"/p/{round_.project.slug}/judging/{path}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("index", ""),
        ("new", "rounds/new/"),
        ("round", "rounds/{pk}/"),
        ("queue", "rounds/{pk}/adjudicate/"),
        ("guideline", "guideline/"),
        ("guideline-form", "guideline/new/"),
        ("adjudicate", "rounds/{pk}/adjudicate/{entry}/"),
    ],
)
def test_look(lead, round_, look_at, axe_clean, witness, name, path):
    from apps.judging.selectors.pairs import adjudicable

    entry = adjudicable(round_, lead_of(round_.project))[0].entry_id
    open_page(lead, round_, path.format(pk=round_.pk, entry=entry))

    axe_clean(lead)
    look_at(lead, f"judging-{name}")
    assert witness.drain() == []


@pytest.mark.slow
def test_look_as_an_annotator(page, signed_in, look_at, axe_clean):
    fresh = make_world(blocks=6)
    grade_some(fresh, people_of(fresh)[0], 4)
    signed_in(people_of(fresh)[0])
    open_page(page, fresh)

    axe_clean(page)
    look_at(page, "judging-own")
    expect(page.get_by_role("link", name="Continue")).to_be_visible()


def test_a_pair_is_adjudicated_by_keys_alone(lead, round_):
    open_page(lead, round_, f"rounds/{round_.pk}/adjudicate/")
    with turned(lead):
        press(lead, "Enter")
    expect(lead.get_by_role("heading", name="Grades of the judges")).to_be_visible()
    press(lead, "1", "r", "n")
    lead.keyboard.type("Related at most: 0 1 2 3 x.")
    with turned(lead):
        press(lead, "Control+Enter")

    decision = Adjudication.objects.get()
    assert (decision.grade, decision.error_type, decision.reason) == (1, "slip", "Related at most: 0 1 2 3 x.")


def test_the_plan_is_counted_while_it_is_made(lead, round_):
    make_member(round_.project, Role.ANNOTATOR, name="Ines Vale")
    open_page(lead, round_, "rounds/new/")
    expect(lead.locator("#plan")).to_contain_text("Nothing is left to judge")

    lead.get_by_label("Judge again pairs that have a grade").check()
    expect(lead.locator("#plan")).to_contain_text("judgements14")

    lead.get_by_role("spinbutton", name="Share judged by two people percent").fill("100")
    expect(lead.locator("#plan")).to_contain_text("judgements24")
    settled(lead)
    lead.get_by_label("People on a shared pair").fill("5")
    expect(lead.locator("#plan")).to_contain_text("Each person judges a pair once: choose more annotators")
