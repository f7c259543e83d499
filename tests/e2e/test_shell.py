"""The shell around every page: keys, theme, groups and places, dialogs, focus, and targets for fingers."""

import re

import pytest
from playwright.sync_api import expect

from apps.accounts.enums import Role
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.factories import PASSWORD, lead_of, make_member, make_project
from tests.judging.factories import make_round, people_of

pytestmark = pytest.mark.django_db(transaction=True)


WORK = {
    Role.LEAD: [("Content", "Permissions"), ("Judging", "Annotators"), ("Results", "Reports")],
    Role.ANNOTATOR: [("Content", "Write Q&A"), ("Judging", "Rounds")],
    Role.REVIEWER: [("Judging", "Review"), ("Content", "Q&A")],
    Role.VIEWER: [("Results", "Scores"), ("Judging", "Guideline")],
}
RING = """() => {
  const style = getComputedStyle(document.activeElement);
  return [style.outlineStyle, parseFloat(style.outlineWidth), document.activeElement.outerHTML];
}"""
SMALL_TARGETS = """() => [...document.querySelectorAll("button, summary, .button, nav a, input:not([type=hidden])")]
  .filter((element) => element.getClientRects().length && !element.closest("label, td, .skip-link"))
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect().height])
  .filter(([, height]) => height < 43.5)"""


def make_handbook_team():
    project = make_project("Tarnwick Handbook")
    make_member(project, Role.ANNOTATOR, name="Mara Quill")
    for role in (Role.REVIEWER, Role.VIEWER):
        make_member(project, role)
    return project


project = shared(make_handbook_team)


@pytest.fixture
def people(page, project, signed_in):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/people/")
    return page


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


def test_a_person_signs_in_and_out_and_each_role_walks_to_its_work_in_two_clicks_or_by_a_letter(
    page, project, signed_in, witness
):
    lead = lead_of(project)
    go(page, "/")
    page.get_by_label("E-mail").fill(lead.email)
    page.get_by_label("Password").fill(PASSWORD)
    with turned(page):
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    page.locator("summary", has_text=lead.name).click()
    with turned(page):
        page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()

    for role, places in WORK.items():
        signed_in(project.memberships.live().filter(role=role).first().user)
        go(page, f"/p/{project.slug}/")
        assert words(page, "Project") == ["Home", "Content", "Judging", "Results"]
        for group, word in places:
            walk(page, group, word)
    the_letter_of_a_waiting_row_opens_it_and_the_desk_has_help_and_leads_back(page, signed_in)
    assert witness.drain() == []


def test_the_theme_is_remembered_keys_are_listed_roles_change_in_a_dialog_and_focus_is_always_a_ring(people):
    focus_is_always_a_ring_and_the_skip_link_comes_first(people)
    roles_change_in_a_dialog(people)
    the_theme_is_remembered(people)
    the_question_mark_lists_the_keys_but_not_in_a_field(people)


def the_theme_is_remembered(people):
    people.get_by_role("button", name="Switch between light and dark").click()
    expect(people.locator("html")).to_have_attribute("data-theme", "dark")
    people.reload()
    assert people.locator("html").get_attribute("data-theme") == "dark"


def the_question_mark_lists_the_keys_but_not_in_a_field(people):
    press(people, "?")
    dialog = people.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    press(people, "Escape")
    expect(dialog).to_be_hidden()

    field = people.get_by_label("E-mail")
    field.focus()
    people.keyboard.type("?")
    expect(people.locator("#keys")).to_be_hidden()
    assert field.input_value() == "?"
    people.keyboard.press("Escape")
    people.keyboard.press("Alt+?")
    expect(people.locator("#keys")).to_be_hidden()


def focus_is_always_a_ring_and_the_skip_link_comes_first(people):
    skip = people.get_by_role("link", name="Skip to the content")
    people.keyboard.press("Tab")
    expect(skip).to_be_focused()
    for _ in range(12):
        people.keyboard.press("Tab")
        style, width, element = people.evaluate(RING)
        assert style == "solid", element
        assert width >= 2, element
    skip.focus()
    people.keyboard.press("Enter")
    expect(people.locator("main")).to_be_focused()


def roles_change_in_a_dialog(people):
    people.get_by_role("button", name="Change roles of Mara Quill").click()
    dialog = people.get_by_role("dialog", name="Roles of Mara Quill")
    dialog.get_by_label(re.compile("^Reviewer")).check()
    with turned(people):
        dialog.get_by_role("button", name="Save roles").click()
    expect(people.get_by_role("status")).to_contain_text("Mara Quill is now annotator, reviewer.")


def the_letter_of_a_waiting_row_opens_it_and_the_desk_has_help_and_leads_back(page, signed_in):
    round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
    signed_in(people_of(round_)[0])
    go(page, f"/p/{round_.project.slug}/")
    press(page, "j")
    expect(page.get_by_role("link", name="Grade pairs")).to_be_focused()
    with turned(page):
        press(page, "g")
    expect(page).to_have_url(re.compile(f"/judging/rounds/{round_.pk}/judge/"))

    press(page, "?")
    expect(page.get_by_role("dialog").get_by_text("press the number of your grade")).to_be_visible()
    press(page, "Escape")
    bar = page.get_by_role("banner")
    expect(bar.get_by_role("link", name="Judging")).to_be_visible()
    with turned(page):
        bar.get_by_role("link", name="Rounds").click()
    assert "Guideline" in words(page, "Judging")


def test_a_phone_has_targets_of_44_px_and_the_open_page_in_its_menu(new_context, live_server, project):
    context = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(context, live_server.url, lead_of(project))
    page = context.new_page()
    go(page, f"/p/{project.slug}/people/")
    assert page.evaluate(SMALL_TARGETS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]

    go(page, f"/p/{project.slug}/evaluation/gates/")
    looking.looks_well(page, "navigation")
    for word in ("Home", "Content", "Judging", "Results"):
        link = page.get_by_role("navigation", name="Project").get_by_role("link", name=word)
        expect(link).to_be_in_viewport(ratio=1)
    gates = page.get_by_role("navigation", name="Results").get_by_role("link", name="Gates")
    expect(gates).to_be_in_viewport(ratio=1)
