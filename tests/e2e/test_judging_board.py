"""A lead's board, near grades settled by a rule, a guideline that changed, and one's own work, in a browser."""

import copy
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.accounts.actions import projects
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.guidelines import publish_guideline
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Adjudication, Guideline, Seat
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.retrieval.models import Pool
from tests.e2e import looking
from tests.e2e.looking import WIDE
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project
from tests.judging.factories import give, people_of
from tests.judging.world import GRADES, make_world

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLE = {
    "query": "Which cipher are backups encrypted with?",
    "text": "Backups are encrypted with AES-256 before they leave the region.",
    "why": "Names the cipher, but not the mode.",
}


def make_two_days():
    """Two days of work by three people: some pairs a grade apart, some far; one person has left with pairs in hand."""
    now = timezone.now()
    round_ = make_world(blocks=6, annotators=3, overlap=1.0, judges=3, at=now - timedelta(days=2))
    mara, sef, tobias = people_of(round_)
    for turn, person in enumerate((mara, sef, tobias)):
        at = now - timedelta(hours=30 - 10 * turn)
        while seats := claim_seats(round_=round_, annotator=person, n=4, at=at):
            for seat in seats:
                grade = (0, 1, 2)[turn] if seat.entry_id % 2 else (3, 3, 0)[turn] if seat.entry_id % 3 else turn
                give(seat, person, grade, active_ms=100_000 + 9_000 * turn, at=at)
            if person == tobias:
                break
    claim_seats(round_=round_, annotator=tobias, n=3, at=now - timedelta(hours=8))
    lead = lead_of(round_.project)
    projects.set_roles(project=round_.project, user=tobias, roles=[], actor=lead, at=now)
    return round_


round_ = shared(make_two_days)


def decide_all(round_):
    lead = lead_of(round_.project)
    for pair in adjudicable(round_, lead):
        adjudicate(
            round_=round_, entry=entry_in(round_, pair.entry_id), adjudicator=lead, grade=1,
            reason="States the cipher for copies in transit only, which is not what was asked.",
            error_type="unclear_guideline", at=timezone.now(),
        )  # fmt: skip


def publish_next(round_):
    grades = copy.deepcopy(GRADES)
    grades[2]["definition"] = "States some of what the intent needs, and names it; the rest is elsewhere."
    grades[2]["examples"] = [grades[2]["examples"][0], EXAMPLE]
    lead = lead_of(round_.project)
    return publish_guideline(
        project=round_.project, actor=lead, grades=grades, markdown="Take the **lower** one.", at=timezone.now()
    )


def open_page(page, round_, path=""):
    go(page, f"/p/{round_.project.slug}/judging/{path}")


def test_seats_are_given_back_near_grades_settled_and_each_person_sees_how_theirs_held(
    page, signed_in, witness, round_
):
    signed_in(lead_of(round_.project))
    open_page(page, round_, f"rounds/{round_.pk}/")
    expect(page.get_by_text("no longer judges here")).to_be_visible()
    looking.clean(page, "judging-board")

    with turned(page):
        page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("are free for others again")).to_be_visible()
    assert not Seat.objects.filter(state="leased").exists()

    open_page(page, round_, f"rounds/{round_.pk}/adjudicate/")
    looking.clean(page, "judging-queue-rule")
    with turned(page):
        page.get_by_role("link", name="Settle grades one step apart by a rule").click()
    looking.clean(page, "judging-settle")
    n = page.locator("tbody tr").count()
    page.get_by_label("Why the judges differed").select_option("ambiguity")
    with turned(page):
        page.get_by_role("button", name="Settle").click()
    expect(page.get_by_text("settled by the rule and recorded")).to_be_visible()
    assert Adjudication.objects.count() == n

    decide_all(round_)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=timezone.now())
    signed_in(people_of(round_)[0])
    open_page(page, round_)
    with turned(page):
        page.get_by_role("link", name="My judging").click()
    expect(page.get_by_role("heading", name="Where a lead decided differently")).to_be_visible()
    looking.clean(page, "judging-mine")
    assert witness.drain() == []


def test_a_guideline_is_published_without_scrolling_and_its_change_leads_to_a_round(page, signed_in, witness, round_):
    the_first_one_is_published_without_scrolling(page, signed_in)
    guideline = publish_next(round_)
    signed_in(lead_of(round_.project))
    its_examples_are_counted(page, round_)
    open_page(page, round_, "guideline/")
    looking.clean(page, "judging-guideline-touched")
    with turned(page):
        page.get_by_role("link", name="See what changed").click()
    looking.clean(page, "judging-guideline-changes")

    with turned(page):
        page.get_by_role("button", name="Judge these again").click()
    expect(page.get_by_role("heading", name="New round")).to_be_visible()
    expect(page.get_by_label("Pool", exact=True)).to_have_value(
        str(Pool.objects.get(plan__again_under=guideline.number).pk)
    )
    assert witness.drain() == []


def the_first_one_is_published_without_scrolling(page, signed_in):
    project = make_project()
    signed_in(lead_of(project))
    page.set_viewport_size(WIDE)
    go(page, f"/p/{project.slug}/judging/guideline/new/")
    expect(page.get_by_text("Write an example").filter(visible=True)).to_have_count(4)
    expect(page.get_by_role("button", name="Publish")).to_be_in_viewport(ratio=1)
    looking.clean(page, "judging-guideline-first", full=False)
    with turned(page):
        page.get_by_role("button", name="Publish").click()
    assert Guideline.objects.get(project=project).number == 1


def its_examples_are_counted(page, round_):
    open_page(page, round_, "guideline/new/")
    group = page.get_by_role("group", name="Examples of grade 2")
    expect(group.get_by_role("status")).to_have_text("2 written, 5 to 10 are usual")
    group.get_by_text("Write an example").first.click()
    group.get_by_label("Passage").nth(2).fill("Backups use a cipher.")
    expect(group.get_by_role("status")).to_have_text("3 written, 5 to 10 are usual")
    expect(group.get_by_text("Backups use a cipher.", exact=True)).to_be_visible()
    expect(group.get_by_text("Write an example").filter(visible=True)).to_have_count(1)
    looking.clean(page, "judging-guideline-examples")
