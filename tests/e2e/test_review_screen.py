"""The review screen when an answer is refused: the error stands beside the reasons, over none of them."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.agreement.factories import make_calibration
from tests.e2e import looking
from tests.e2e.waiting import go, press, ready, turned
from tests.review.factories import make_in_review, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db(transaction=True)

SIZES = [(1440, 900), (1280, 720), (1024, 768), (390, 844)]

# Choices and the field for words of which another thing covers a part, wherever they are scrolled to.
COVERED = """() => [...document.querySelectorAll(".desk-aside :is(.choice, .field, .notice)")].filter((part) => {
  part.scrollIntoView({ block: "nearest" });
  const { left, right, top, bottom } = part.getBoundingClientRect();
  const places = [[(left + right) / 2, top + 3], [(left + right) / 2, bottom - 3]];
  return !places.every(([x, y]) => part.contains(document.elementFromPoint(x, y)));
}).map((part) => part.textContent.trim().slice(0, 40))"""
OUT_OF_SIGHT = """() => {
  const aside = document.querySelector(".desk-aside").getBoundingClientRect();
  return [...document.querySelectorAll(".desk-aside .choice, .desk-aside .field, .desk-aside .notice")]
    .filter((part) => part.getBoundingClientRect().bottom > aside.bottom)
    .map((part) => part.textContent.trim().slice(0, 40));
}"""


def a_refused_flag_says_why_and_hides_no_reason(page):
    press(page, "f", "6", "7")
    with turned(page):
        press(page, "Enter")
    expect(page.get_by_role("alert")).to_be_visible()

    expect(page.get_by_label("Other", exact=False).first).to_be_checked()
    covered = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        covered[width] = page.evaluate(COVERED)
        if width >= 1280:
            page.evaluate("document.querySelector('.desk-aside').scrollTop = 0")
            covered[f"{width} unscrolled"] = page.evaluate(OUT_OF_SIGHT)
    assert [f"{size}: {part}" for size, parts in covered.items() for part in parts] == []


def escape_goes_back_one_level_at_a_time_and_loses_no_words(screen):
    asked = []
    screen.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    address, flag = screen.url, screen.get_by_role("button", name="Flag", exact=False).first
    why, chosen, menu = (
        screen.get_by_role("textbox", name="Why"),
        screen.locator("[data-reason]:checked"),
        screen.locator("details.menu"),
    )
    press(screen, "f", "Escape")
    expect(flag).to_have_attribute("aria-pressed", "false")
    assert screen.url == address

    press(screen, "f", "4")
    menu.locator("summary").click()
    expect(menu).to_have_attribute("open", "")
    press(screen, "Escape")
    expect(menu).not_to_have_attribute("open", "")
    expect(chosen).to_have_count(1)

    press(screen, "n")
    screen.keyboard.type("The limit is missing.")
    press(screen, "Escape")
    expect(why).not_to_be_focused()
    expect(flag).to_have_attribute("aria-pressed", "true")
    press(screen, "Escape")
    expect(flag).to_have_attribute("aria-pressed", "false")
    expect(chosen).to_have_count(0)
    expect(why).to_have_value("The limit is missing.")
    with screen.expect_event("dialog"):
        press(screen, "Escape")
    assert asked == ["beforeunload"]
    assert screen.url == address
    expect(why).to_have_value("The limit is missing.")

    why.fill("")
    press(screen, "Escape")
    with turned(screen):
        press(screen, "Escape")
    assert screen.url != address


def test_a_verdict_takes_one_trip_a_refused_one_hides_no_reason_and_escape_loses_no_words(page, signed_in):
    project = make_team()
    one, two = make_in_review(project), make_in_review(project)
    signed_in(reviewers_of(one)[0])
    first, second = (reverse("review:screen", args=[project.slug, triple.pk]) for triple in (one, two))
    go(page, second)
    escape_goes_back_one_level_at_a_time_and_loses_no_words(page)
    go(page, second)
    a_refused_flag_says_why_and_hides_no_reason(page)

    page.set_viewport_size(looking.WIDE)
    go(page, first)
    trips = []
    page.on("request", lambda request: trips.append(request.method) if request.is_navigation_request() else None)

    with turned(page):
        press(page, "c", "Enter")

    assert trips == ["POST"]
    assert page.url.endswith(second)
    expect(page.get_by_role("status").filter(has_text=f"{one.label} confirmed.")).to_be_visible()
    with turned(page):
        page.reload()
    assert trips == ["POST", "GET"]
    with turned(page):
        press(page, "u")
    assert page.url.endswith(first)
    page.go_back()
    ready(page)
    assert page.url.endswith(second)
    assert "POST" not in trips[1:]


def test_a_calibration_on_a_phone_asks_before_a_written_note_is_left(page, signed_in):
    made = make_calibration(items=2, confirmed=1, flagged=1)
    signed_in(made.subject)
    page.set_viewport_size({"width": 390, "height": 844})
    go(page, reverse("calibration:item", args=[made.project.slug, 1, 1]))
    address = page.url
    page.locator("[name=note]").fill("The limit is missing.")
    page.get_by_role("heading", level=1).click()
    page.once("dialog", lambda dialog: dialog.dismiss())

    with page.expect_event("dialog"):
        press(page, "Escape")

    assert page.url == address
    expect(page.locator("[name=note]")).to_have_value("The limit is missing.")
