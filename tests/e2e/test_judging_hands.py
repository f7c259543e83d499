"""The judging screen in people's hands: a thumb, a keyboard alone, no connection, two windows at once."""

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from apps.judging.actions.judgements import choose_keys
from apps.judging.actions.rounds import close_round
from apps.judging.models import Judgement
from apps.judging.selectors.pairs import live_judgements
from tests.e2e import looking
from tests.e2e.keyboard import Keyboard
from tests.e2e.waiting import go, press, ready, settled, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of
from tests.judging.factories import people_of
from tests.judging.world import make_world

pytestmark = pytest.mark.django_db(transaction=True)

SMALLEST_TARGET = 44
FEW_WORDS = 5
# Whether the drawer lies over the whole of each passage, wherever one would touch it.
COVERED = """all => all.map((one) => {
  const box = one.getBoundingClientRect();
  const below = document.querySelector(".desk-keys").getBoundingClientRect().top - 2;
  return [box.top + 2, Math.min(box.bottom, below) - 2].every((y) =>
    document.elementFromPoint((box.left + box.right) / 2, y).closest(".desk-aside"));
})"""
LIT = "CSS.highlights.get('query-words')?.size ?? 0"


round_ = shared(make_world)


@pytest.fixture
def mara(round_):
    return people_of(round_)[0]


@pytest.fixture
def desk(page, round_, mara, signed_in):
    """Opens the screen as Mara; `view` is one pair at a time or all pairs of a query."""
    signed_in(mara)

    def open_at(view="pair"):
        go(page, f"{screen_of(round_)}?view={view}")
        return page

    return open_at


def screen_of(round_) -> str:
    return f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/"


def seat_shown(page) -> int:
    return int(page.locator("#grading input[name=seat]").input_value())


def sent(page) -> None:
    expect(page.locator("[data-unsent]")).to_have_text("all sent")


def live(round_) -> dict[int, int | None]:
    return dict(live_judgements(round_).values_list("seat", "grade"))


def text_of(round_, seat) -> str:
    return round_.seats.get(pk=seat).entry.version.text


def next_after(page, tap) -> int:
    """The pair shown before; another one has come. A finger's click follows its touch, so that is waited for."""
    settled(page)
    before = seat_shown(page)
    tap()
    expect(page.locator("#grading input[name=seat]")).not_to_have_value(str(before))
    return before


def no_key_is_lit(page) -> None:
    """A finger leaves its hover on the key it touched last: the next pair must not look graded."""
    grounds = page.locator(".desk-keys-main .key-button").evaluate_all(
        "all => all.map(k => getComputedStyle(k).backgroundColor)"
    )
    assert len(set(grounds)) == 1


def test_a_phone_story(new_context, live_server, round_, mara):
    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, mara)
    page = phone.new_page()
    witness = looking.Witness(page)
    go(page, f"/p/{round_.project.slug}/judging/")
    with turned(page):
        page.get_by_role("link", name="Start").tap()
    looking.looks_well(page, "judging-phone", full=False, widths=())
    keys_are_under_the_thumb(page)
    place = page.get_by_role("article", name="Passage").locator(".docpath")
    for heading in ("Security handbook", "4 Data protection", "4.2 Backups and archives"):
        expect(place.get_by_text(heading)).to_be_visible()

    first = next_after(page, page.get_by_role("button", name="Answers part").tap)
    no_key_is_lit(page)
    page.get_by_role("button", name="Note").tap()
    page.locator("#note").fill("The mode is missing.")
    second = next_after(page, page.get_by_role("button", name="Related").tap)
    page.get_by_text("Can’t judge").tap()
    third = next_after(page, page.get_by_role("button", name="Missing context").tap)
    page.get_by_role("button", name="Guideline").tap()
    expect(page.get_by_role("complementary", name="Guideline")).to_be_visible()
    assert page.locator(".best").evaluate_all(COVERED) == [True]
    page.get_by_role("button", name="Hide").tap()
    expect(page.get_by_role("complementary", name="Guideline")).to_be_hidden()
    next_after(page, page.get_by_role("link", name="Undo").tap)
    assert seat_shown(page) == third
    next_after(page, page.get_by_role("button", name="Answers all").tap)
    sent(page)
    with turned(page):
        page.get_by_role("link", name="All of a query").tap()
    next_after(page, page.locator(".query-pair .pair-heading").nth(1).tap)
    keys_are_under_the_thumb(page)
    looking.clean(page)
    last = next_after(page, page.get_by_role("button", name="Not relevant").tap)
    sent(page)

    assert live(round_) == {first: 2, second: 1, third: 3, last: 0}
    assert live_judgements(round_).get(seat=second).note == "The mode is missing."
    assert witness.drain() == []


def test_only_a_pair_that_somebody_can_have_seen_takes_grades(page, round_, mara, signed_in):
    """The story holds the clock, so a double press is exactly as fast as it says."""
    signed_in(mara)
    page.clock.install(time=AT)
    page.clock.pause_at(AT + timedelta(seconds=1))
    go(page, screen_of(round_))
    grading, key = page.locator("#grading"), page.get_by_role("button", name="Related")
    counted = page.get_by_role("status").filter(has_text="Not counted")

    first = seat_shown(page)
    page.keyboard.press("1")
    expect(counted).to_have_text("Not counted: the pair had only just appeared.")
    expect(key).to_have_attribute("data-missed", "")
    page.clock.run_for(200)
    key.click()
    assert seat_shown(page) == first
    expect(grading).to_have_attribute("aria-busy", "true")
    page.clock.run_for(100)
    expect(grading).not_to_have_attribute("aria-busy", "true")

    key.dblclick()
    second = seat_shown(page)
    page.clock.run_for(180)
    key.click()
    page.keyboard.press("1")
    assert seat_shown(page) == second != first
    page.clock.run_for(2_000)
    expect(key).not_to_have_attribute("data-missed", "")

    page.keyboard.down("1")
    third = seat_shown(page)
    page.clock.run_for(300)
    page.keyboard.down("1")
    expect(counted).to_have_text("Not counted: a key that is held down counts once.")
    page.keyboard.up("1")
    key.focus()
    page.keyboard.down("Enter")
    fourth = seat_shown(page)
    page.clock.run_for(300)
    page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    assert seat_shown(page) == fourth
    expect(counted).to_have_text("Not counted: a key that is held down counts once.")

    page.locator(".desk-text").hover()
    page.mouse.down()
    page.keyboard.press("1")
    expect(counted).to_have_text("Not counted: a finger or the mouse button was still down.")
    page.mouse.up()
    assert seat_shown(page) == fourth
    key.evaluate("key => key.click()")  # as assistive technology does, without a press
    page.clock.run_for(2_000)
    sent(page)

    assert live(round_) == dict.fromkeys((first, second, third, fourth), 1)


def test_a_double_tap_grades_one_pair(new_context, live_server, round_, mara):
    phone = new_context(viewport=looking.NARROW, has_touch=True, is_mobile=True)
    looking.sign_in(phone, live_server.url, mara)
    page = phone.new_page()
    page.clock.install(time=AT)
    page.clock.pause_at(AT + timedelta(seconds=1))
    go(page, screen_of(round_))
    page.clock.run_for(300)
    first = seat_shown(page)
    box = page.get_by_role("button", name="Answers part").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.touchscreen.tap(*middle)
    expect(page.locator("#grading input[name=seat]")).not_to_have_value(str(first))
    page.touchscreen.tap(*middle)
    expect(page.get_by_role("button", name="Answers part")).to_have_attribute("data-missed", "")
    sent(page)

    assert live(round_) == {first: 2}


def keys_are_under_the_thumb(page) -> None:
    """Every key of the row in sight in the lower half, big enough, and nothing scrolls sideways."""
    assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]
    for key in page.locator(".desk-keys .key-button:visible").all():
        box = key.bounding_box()
        assert box["height"] >= SMALLEST_TARGET, key
        assert looking.NARROW["height"] / 2 < box["y"], key
        assert box["y"] + box["height"] <= looking.NARROW["height"], key
        assert box["x"] >= 0, key
        assert box["x"] + box["width"] <= looking.NARROW["width"], key


def test_a_story_by_keyboard_alone(context, live_server, round_, mara):
    hands = Keyboard(context, live_server.url)
    hands.sit_down(mara, f"/p/{round_.project.slug}/judging/")
    hands.tab_to(hands.page.get_by_role("link", name="Start"))
    hands.turn("Enter")
    hands.reads("Which cipher" if "Which" in hands.page.locator("h1").inner_text() else "How long")
    hands.look_over()

    first = seat_shown(hands.page)
    words = select_a_few_words(hands)
    hands.press("m", "n")
    hands.type("Only half of it.")
    hands.press("Escape", "2")
    second = seat_shown(hands.page)
    hands.press("x", "e")
    hands.press("t", "g", "g", "u")
    assert seat_shown(hands.page) == second
    hands.press("u")
    assert seat_shown(hands.page) == first
    hands.turn("3", "v")
    expect(hands.page.locator(".query-pair").first).to_be_visible()
    hands.look_over()
    hands.press("j", "ArrowDown", "k")
    chosen = seat_shown(hands.page)
    hands.press("1")
    sent(hands.page)

    ((start, end),) = live_judgements(round_).get(seat=first).spans
    assert text_of(round_, first)[start:end] == words
    assert live(round_) == {first: 3, second: None, chosen: 1}
    assert hands.pointers == []


def select_a_few_words(hands) -> str:
    """A sentence by its key, cut at both ends with the arrows; the words that are left."""
    whole = ""
    while len(whole.split()) < FEW_WORDS:
        hands.press("s")
        whole = hands.page.evaluate("getSelection().toString()")
    hands.press("Shift+ArrowRight", "ArrowLeft", "ArrowLeft")
    words = hands.page.evaluate("getSelection().toString()").strip()
    assert words in whole
    assert 0 < len(words) < len(whole)
    return words


def test_twenty_grades_without_a_connection_arrive_once_each_and_are_undone_after_a_reload(desk, context, round_):
    page = desk()
    expect(page.locator("[data-ahead]")).to_have_text("19 pairs")
    context.set_offline(True)
    seats = []
    for n in range(20):
        seats.append(seat_shown(page))
        press(page, str(n % 4))
    expect(page.locator("[data-unsent]")).to_have_text("20 unsent")
    expect(page.get_by_text("20 grades could not be sent.")).to_be_visible()
    assert not Judgement.objects.exists()

    context.set_offline(False)
    sent(page)
    assert [live(round_)[seat] for seat in seats] == [n % 4 for n in range(20)]
    assert Judgement.objects.count() == 20
    expect(page.get_by_text("could not be sent")).to_be_hidden()

    page.reload()
    ready(page)
    reached = []
    for _ in range(9):
        before = seat_shown(page)
        press(page, "u")
        expect(page.locator("#grading input[name=seat]")).not_to_have_value(str(before))
        reached.append(seat_shown(page))
    assert reached == seats[:-10:-1]
    expect(page.locator("button[name=grade][value='3']")).to_have_attribute("aria-pressed", "true")
    press(page, "2")
    press(page, "0")
    sent(page)
    assert Judgement.objects.count() == 22


def test_all_pairs_of_a_query_take_the_same_keys_and_the_next_query_follows_the_last(desk, context, round_):
    page = desk("query")
    rows = page.locator(".query-pair")
    expect(rows).to_have_count(12)
    told = page.locator(".desk > :not(.desk-top), [data-pile]").evaluate_all("all => all.map(x => x.outerHTML).join()")
    assert not [word for word in ("rank", "score", "found_by", "bm25", "depth") if word in told.lower()]

    first = seat_shown(page)
    press(page, "n")
    page.keyboard.type("Half.")
    page.keyboard.press("Escape")
    press(page, "j")
    second = seat_shown(page)
    assert page.locator("#note").input_value() == ""
    press(page, "ArrowUp")
    assert page.locator("#note").input_value() == "Half."
    press(page, "2")
    assert seat_shown(page) == second
    expect(rows.first.locator(".grade")).to_have_text("2")
    context.set_offline(True)
    rows.nth(4).locator(".pair-heading").click()
    press(page, "m")
    fifth = seat_shown(page)
    press(page, "3")
    press(page, "u")
    assert seat_shown(page) == fifth
    press(page, "1")
    expect(page.locator("[data-unsent]")).to_have_text("2 unsent")
    looking.clean(page, "judging-query", full=False)
    context.set_offline(False)
    sent(page)

    assert live(round_) == {first: 2, fifth: 1}
    assert live_judgements(round_).get(seat=fifth).spans
    page.reload()
    expect(rows).to_have_count(12)
    expect(page.locator(".query-pair .grade:not(.none)")).to_have_count(2)

    ready(page)
    question = page.locator("h1.question")
    query = question.inner_text()
    for _ in range(10):
        expect(question).to_have_text(query)
        press(page, "1")
    expect(question).not_to_have_text(query)
    expect(rows).to_have_count(12)
    sent(page)
    assert Judgement.objects.count() == 12 + 1  # the fifth pair was graded twice


def test_keys_are_chosen_by_pressing_them_and_a_switch_for_the_querys_words_is_remembered(desk, page, round_, mara):
    the_querys_words_are_lit_by_a_switch_that_is_remembered(desk())
    keys_are_chosen_by_pressing_them_and_work_everywhere(desk, page, round_, mara)
    a_project_does_without_lit_words(page, round_)


def keys_are_chosen_by_pressing_them_and_work_everywhere(desk, page, round_, mara):
    desk()
    with turned(page):
        page.get_by_role("link", name="Your keys").click()
    page.get_by_label("Undo").press("x")
    with turned(page):
        page.get_by_role("button", name="Save keys").click()
    expect(page.get_by_text("“x” is “Can’t judge” already.")).to_be_visible()
    looking.clean(page, "judging-keys")
    page.get_by_label("Undo").press("b")
    with turned(page):
        page.get_by_role("button", name="Save keys").click()
    expect(page.get_by_text("Your keys are saved.")).to_be_visible()
    go(page, screen_of(round_))
    expect(page.locator("[data-undo] .key")).to_have_text("b")

    choose_keys(person=mara, keys={"grade_2": "d", "undo": "z", "whole": "ö", "cant_judge": "2"}, digits_are_free=True)
    desk()
    while page.locator(".fold").count() == 0:
        press(page, "1")
    before = seat_shown(page)
    expect(page.locator("button[name=grade][value='2'] .key")).to_have_text("d")
    expect(page.locator("button[name=grade][value='2']")).to_have_attribute("aria-keyshortcuts", "d")
    expect(page.locator(".fold .key").first).to_have_text("ö")

    press(page, "?")
    expect(page.locator("[data-page-keys]")).to_contain_text("zUndo")
    press(page, "d")
    assert seat_shown(page) == before
    page.keyboard.press("Escape")
    press(page, "n")
    page.keyboard.type("d2z")
    page.keyboard.press("Escape")
    assert seat_shown(page) == before
    press(page, "u")
    press(page, "2")
    expect(page.get_by_text("Why can’t it be judged?")).to_be_visible()
    page.keyboard.press("Escape")
    press(page, "d")
    press(page, "z")
    assert seat_shown(page) == before
    sent(page)
    assert live(round_)[before] == 2


def the_querys_words_are_lit_by_a_switch_that_is_remembered(page):
    while page.evaluate(LIT) == 0:
        press(page, "1")
    press(page, "l")
    assert page.evaluate(LIT) == 0
    page.reload()
    ready(page)
    assert page.evaluate(LIT) == 0
    expect(page.get_by_role("button", name="Highlights")).to_have_attribute("aria-pressed", "false")

    press(page, "l")
    assert page.evaluate(LIT) > 0


def a_project_does_without_lit_words(page, round_):
    round_.project.policies["lit_terms"] = False
    round_.project.save()
    page.reload()
    ready(page)
    assert page.evaluate(LIT) == 0
    expect(page.get_by_role("button", name="Highlights")).to_have_count(0)


def test_another_tab_another_machine_a_closed_tab_and_a_closed_round_lose_no_grade(
    desk, context, new_context, live_server, round_, mara
):
    page = desk()
    other = context.new_page()
    go(other, screen_of(round_))
    first = seat_shown(page)
    assert seat_shown(other) == first
    press(other, "3")
    expect(page.locator("#grading input[name=seat]")).not_to_have_value(str(first))
    sent(other)
    expect(page.locator("[data-own]")).to_contain_text("1 sent")
    other.close()

    second = seat_shown(page)
    machine = new_context()
    looking.sign_in(machine, live_server.url, mara)
    elsewhere = machine.new_page()
    go(elsewhere, screen_of(round_))
    assert seat_shown(elsewhere) == second
    press(elsewhere, "3")
    sent(elsewhere)
    press(page, "1")
    expect(page.get_by_text("grade 1 was not accepted: You already answered grade 3 for this pair")).to_be_visible()
    assert live(round_) == {first: 3, second: 3}

    page.route("**/judgements/", lambda route: route.abort())
    third = seat_shown(page)
    press(page, "2")
    expect(page.locator("[data-unsent]")).to_have_text("1 unsent")
    page.close()
    later = context.new_page()
    with later.expect_response("**/judgements/"):
        later.goto(f"/p/{round_.project.slug}/judging/")
    assert live(round_) == {first: 3, second: 3, third: 2}

    go(later, screen_of(round_))
    later.route("**/judgements/", lambda route: route.abort())
    press(later, "2")
    expect(later.locator("[data-unsent]")).to_have_text("1 unsent")
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    later.unroute("**/judgements/")
    go(later, screen_of(round_))
    expect(later.get_by_text("grade 2 was not accepted: This round is closed.")).to_be_visible()
    assert Judgement.objects.count() == 3
