"""Finding one's way: four words, the pages of the open group below them, and on a desk the place in the bar."""

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_member, make_project
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db(transaction=True)


def make_handbook_team():
    project = make_project("Tarnwick Handbook")
    for role in (Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER):
        make_member(project, role)
    return project


project = shared(make_handbook_team)


def words(page, name):
    return page.get_by_role("navigation", name=name).get_by_role("link").all_inner_texts()


def walk(page, group, word):
    """Open a group, then one of its pages; the place is bold in both."""
    with turned(page):
        page.get_by_role("navigation", name="Project").get_by_role("link", name=group).click()
    link = page.get_by_role("navigation", name=group).get_by_role("link", name=word, exact=True)
    with turned(page):
        link.click()
    expect(link).to_have_attribute("aria-current", "page")
    opened = page.get_by_role("navigation", name="Project").get_by_role("link", name=group)
    expect(opened).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize(
    ("role", "places"),
    [
        (Role.LEAD, [("Content", "Permissions"), ("Judging", "Annotators"), ("Results", "Reports")]),
        (Role.ANNOTATOR, [("Content", "Write Q&A"), ("Judging", "Rounds")]),
        (Role.REVIEWER, [("Judging", "Review"), ("Content", "Q&A")]),
        (Role.VIEWER, [("Results", "Scores"), ("Judging", "Guideline")]),
    ],
)
def test_each_role_walks_to_its_work_in_two_clicks(page, project, signed_in, witness, role, places):
    person = project.memberships.live().filter(role=role).first().user
    signed_in(person)
    go(page, f"/p/{project.slug}/")

    assert words(page, "Project") == ["Home", "Content", "Judging", "Results"]
    for group, word in places:
        walk(page, group, word)
    assert witness.drain() == []


def test_the_navigation_is_clean_in_light_dark_and_on_a_phone(page, project, signed_in):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/evaluation/gates/")

    looking.clean_in_both_themes(page)
    looking.look_at(page, "navigation")
    assert looking.faults_at_width(page, 390) == []


def test_a_desk_says_its_place_and_leads_back(page, signed_in):
    round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
    signed_in(people_of(round_)[0])
    go(page, f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/")

    bar = page.get_by_role("banner")
    expect(bar.get_by_role("link", name="Judging")).to_be_visible()
    with turned(page):
        bar.get_by_role("link", name="Rounds").click()
    assert "Guideline" in words(page, "Judging")
