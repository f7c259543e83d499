"""Notifications by keyboard: the count in the bar, the list, where an entry leads, and how it is mailed."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from apps.jobs.execution import sweep
from apps.jobs.models import MailChoice
from tests.e2e import looking
from tests.e2e.keyboard import Keyboard
from tests.e2e.waiting import go
from tests.factories import make_member
from tests.review.factories import answer, make_accepted, make_disputed, make_in_review, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project():
    project = make_team()
    project.name = "Tarnwick Handbook"
    project.save()
    sweep.beat("one")
    return project


@pytest.fixture
def ann(project):
    """Ann wrote three triples: one is accepted, one disputed, one in review."""
    ann = make_member(project, Role.ANNOTATOR, name="Ann Author")
    make_accepted(project, author=ann)
    make_disputed(project, author=ann)
    answer(triple := make_in_review(project, author=ann), reviewers_of(triple)[0])
    return ann


def test_ann_reads_what_happened_goes_where_it_leads_and_chooses_when_she_is_mailed(context, live_server, project, ann):
    keyboard = Keyboard(context, live_server.url)
    page = keyboard.page
    keyboard.sit_down(ann, f"/p/{project.slug}/")
    bar = page.get_by_role("link", name="2 unread notifications")
    keyboard.tab_to(bar)
    keyboard.turn("Enter")
    expect(page.get_by_role("heading", name="Unread")).to_be_visible()
    expect(page.locator("[data-item]")).to_have_count(2)
    keyboard.look_over()

    keyboard.press("j", "j", "k")
    expect(page.locator("[data-item]").first).to_be_focused()
    keyboard.turn("Enter")
    expect(page).to_have_url(f"{live_server.url}/p/{project.slug}/review/triples/{ann.triples.get(number=2).pk}/")
    expect(page.get_by_role("link", name="1 unread notifications")).to_be_visible()

    go(page, f"/p/{project.slug}/notifications/")
    keyboard.turn("a")
    expect(page.get_by_role("heading", name="Unread")).to_have_count(0)
    expect(page.get_by_role("link", name="unread notifications")).to_have_count(0)
    keyboard.look_over()

    keyboard.sit_down(ann, "/profile/mail/")
    expect(page.get_by_label("A digest in working hours")).to_be_checked()
    keyboard.look_over()

    keyboard.tab_to(page.get_by_label("A digest in working hours"))
    keyboard.press("ArrowDown")
    keyboard.tab_to(page.get_by_label("From"))
    keyboard.type("7")
    keyboard.tab_to(page.get_by_role("button", name="Save"))
    keyboard.turn("Enter")

    expect(page.get_by_text("Your choice is saved.")).to_be_visible()
    choice = MailChoice.objects.get(person=ann)
    assert (choice.how, choice.from_hour, choice.to_hour, choice.weekdays_only) == ("at_once", 7, 17, True)

    waiting = [make_in_review(project, author=ann) for _ in range(3)]
    reviewer = next(one for one in reviewers_of(waiting[0]) if one.notifications.filter(read_at=None).count() > 1)
    keyboard.sit_down(reviewer, f"/p/{project.slug}/notifications/")
    line = page.get_by_role("button", name="Q&As are ready for your review.")
    expect(line).to_have_count(1)
    keyboard.look_over()
    looking.clean(page)
    keyboard.tab_to(line)
    keyboard.turn("Enter")
    expect(page.get_by_role("heading", name="My work")).to_be_visible()
    assert not reviewer.notifications.filter(kind="review.seat", read_at=None).exists()

    new = make_member(project, Role.ANNOTATOR, name="New Person")
    keyboard.sit_down(new, f"/p/{project.slug}/notifications/")
    expect(page.get_by_role("heading", name="No notifications yet")).to_be_visible()
    keyboard.look_over()
    assert keyboard.pointers == []
