"""Judging a query with subtopics: the grade first, one key each, Enter sends; undo, a phone, the queue of unsent."""

import pytest
from playwright.sync_api import expect

from apps.judging.selectors.pairs import live_judgements
from apps.queries.actions.queries import edit_query
from apps.queries.models import Query
from tests.e2e import looking
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of
from tests.judging.factories import people_of
from tests.judging.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = [
    "Which cipher is used",
    "Where the keys are",
    "Who may restore",
    "How long archives are kept, and which law says so",
]
FACETS = [{"id": str(number), "words": words} for number, words in enumerate(WORDS, start=1)]


def make_faceted():
    round_ = make_world(blocks=4)
    query = Query.objects.get(outside_id="Q017")
    edit_query(query_id=query.pk, actor=lead_of(round_.project), at=AT, facets=FACETS)
    return round_


round_ = shared(make_faceted)


@pytest.fixture
def screen(page, round_, signed_in):
    signed_in(people_of(round_)[0])
    go(page, f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/")
    for _ in range(4):
        if "Q017" not in page.locator(".desk-lead .id").inner_text():
            press(page, "1")
    expect(page.locator(".desk-lead .id")).to_have_text("Q017")
    return page


def seat_shown(page) -> int:
    return int(page.locator("#grading input[name=seat]").input_value())


def answers(page, round_) -> dict[int, tuple[int | None, list[str] | None]]:
    expect(page.locator("[data-unsent]")).to_have_text("all sent")
    rows = live_judgements(round_).values_list("seat", "grade", "facets")
    return {seat: (grade, facets) for seat, grade, facets in rows}


def chosen(page) -> list[str]:
    return page.locator("[data-facets] input:checked").evaluate_all("all => all.map(one => one.value)")


def test_the_grade_comes_first_then_a_key_for_each_subtopic(screen, round_, witness):
    looking.looks_well(screen, "judging-facets-before", full=False)
    first = seat_shown(screen)
    press(screen, "q", "Enter")
    assert (seat_shown(screen), chosen(screen)) == (first, [])

    press(screen, "2", "q", "e", "q", "r")
    assert (seat_shown(screen), chosen(screen)) == (first, ["3", "4"])
    expect(screen.get_by_role("button", name="Send 2 with 2 subtopics")).to_be_visible()
    looking.looks_well(screen, "judging-facets", full=False)

    # Another grade keeps the choices; undo takes the grade back, with all of them.
    press(screen, "3")
    assert chosen(screen) == ["3", "4"]
    press(screen, "u")
    assert (seat_shown(screen), chosen(screen)) == (first, [])
    expect(screen.locator("button[name=grade][aria-pressed]")).to_have_count(0)
    press(screen, "3", "w", "Enter")
    second = seat_shown(screen)
    assert second != first
    assert chosen(screen) == []
    assert answers(screen, round_)[first] == (3, ["2"])

    # A grade without any is kept as said; 0 is sent at once, and so is a reason why it can't be judged.
    press(screen, "1")
    expect(screen.get_by_role("button", name="Send 1, no subtopic")).to_be_visible()
    press(screen, "Enter")
    third = seat_shown(screen)
    press(screen, "0")
    assert {seat: answers(screen, round_)[seat] for seat in (second, third)} == {second: (1, []), third: (0, [])}

    # Undo opens what was sent, with its subtopics, any number of times.
    press(screen, "u", "u", "u")
    assert (seat_shown(screen), chosen(screen)) == (first, ["2"])
    expect(screen.locator("button[name=grade][value='3']")).to_have_attribute("aria-pressed", "true")
    press(screen, "q", "Enter")
    assert answers(screen, round_)[first] == (3, ["1", "2"])
    assert witness.drain() == []


def test_in_all_pairs_of_a_query_each_pair_keeps_what_was_chosen_for_it(screen, round_, witness):
    with turned(screen):
        press(screen, "v")
    first = seat_shown(screen)
    press(screen, "2", "w", "j")
    assert (seat_shown(screen) != first, chosen(screen)) == (True, [])
    press(screen, "k")
    assert (seat_shown(screen), chosen(screen)) == (first, ["2"])
    press(screen, "Enter")
    excused = seat_shown(screen)
    press(screen, "x", "q")

    found = answers(screen, round_)
    assert (found[first], found[excused]) == ((2, ["2"]), (None, None))
    assert witness.drain() == []


def test_on_a_phone_the_subtopics_take_the_place_of_the_grades(screen, round_, witness):
    screen.set_viewport_size({"width": 390, "height": 844})
    first = seat_shown(screen)
    expect(screen.locator(".facet-list")).to_be_visible()
    expect(screen.locator("[data-facets]")).to_be_hidden()

    settled(screen)
    screen.locator("button[name=grade][value='2']").click()
    expect(screen.locator("button[name=grade][value='2']")).to_be_hidden()
    screen.locator("input[name=facets][value='3']").click()
    screen.locator("input[name=facets][value='1']").click()
    screen.get_by_role("button", name="Change").click()
    settled(screen)
    assert chosen(screen) == []
    screen.locator("button[name=grade][value='3']").click()
    screen.locator("input[name=facets][value='3']").click()
    looking.looks_well(screen, "judging-facets-phone", full=False)
    screen.set_viewport_size({"width": 390, "height": 844})
    screen.get_by_role("button", name="Send 3 with 1 subtopic").click()

    assert answers(screen, round_)[first] == (3, ["3"])
    assert witness.drain() == []


def test_what_was_chosen_waits_with_its_grade_while_there_is_no_connection(screen, round_, context):
    first = seat_shown(screen)
    context.set_offline(True)
    press(screen, "2", "e", "Enter")
    expect(screen.locator("[data-unsent-words]")).to_have_text("1 unsent")

    context.set_offline(False)
    looking.try_now(screen)

    assert answers(screen, round_)[first] == (2, ["3"])


def test_without_a_script_the_form_sends_the_subtopics_that_are_ticked(browser, live_server, round_):
    context = browser.new_context(java_script_enabled=False, base_url=live_server.url)
    looking.sign_in(context, live_server.url, people_of(round_)[0])
    page = context.new_page()
    address = f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/"
    page.goto(address)
    for _ in range(4):
        if "Q017" not in page.locator(".desk-lead .id").inner_text():
            page.locator("button[name=grade][value='1']").click()
    seat = seat_shown(page)

    page.get_by_label("Where the keys are").check()
    page.locator("button[name=grade][value='2']").click()
    page.goto(address)

    rows = live_judgements(round_).filter(seat=seat).values_list("grade", "facets")
    assert list(rows) == [(2, ["2"])]
    context.close()
