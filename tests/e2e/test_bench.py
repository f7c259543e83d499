"""Writing at the bench in a browser: it saves itself, holds several blocks, and needs no mouse."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from apps.queries.models import Query
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.triples_world import Team, make_handbook
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db(transaction=True)

SAVED = re.compile(r"saved at \d\d:\d\d")


@pytest.fixture
def team() -> Team:
    return make_handbook()


@pytest.fixture
def bench(page, team, signed_in) -> Page:
    signed_in(team.jun)
    page.goto(f"{team.home}/triples/bench/")
    page.wait_for_load_state("load")
    return page


def question(page: Page):
    return page.get_by_label("Question", exact=False).first


def opened(page: Page, title: str) -> None:
    """The block stands in the reading column and its keys are heard."""
    expect(page.locator("#read .docpath")).to_contain_text(title)


def find(page: Page, words: str, title: str) -> None:
    """Search for a block and open it, by keys."""
    page.keyboard.press("/")
    page.keyboard.type(words)
    expect(page.locator("#results li").first).to_contain_text(title)
    page.keyboard.press("Escape")
    page.locator("#results a").first.focus()
    page.keyboard.press("Enter")
    opened(page, title)


def held() -> list[tuple[str, int]]:
    """The stored expected blocks in their order, each with the number of its marks."""
    blocks = Triple.objects.get().current.expected_blocks.order_by("order")
    return [(one.version.block.outside_id, len(one.spans)) for one in blocks]


def becomes(page: Page, ask: Callable[[], object], wanted: object) -> None:
    """What is stored becomes `wanted` in time."""
    for _ in range(looking.PATIENCE // 100):
        if ask() == wanted:
            return
        page.wait_for_timeout(100)
    assert ask() == wanted


def blur(page: Page) -> None:
    page.evaluate("document.activeElement.blur()")


def test_a_new_draft_saves_itself_and_gets_its_address_without_losing_the_place(bench, team):
    question(bench).focus()
    bench.keyboard.type("How long does emergency access stay open?")

    expect(bench.locator("[data-saved]")).to_have_text(SAVED)

    triple = Triple.objects.get()
    assert bench.url.endswith(f"/triples/{triple.pk}/bench/")
    expect(question(bench)).to_be_focused()
    bench.keyboard.type(" Really?")
    bench.keyboard.press("Tab")
    expect(bench.locator("[data-label]")).to_have_text("T-0001")
    expect(bench.locator("[name=seen_version]")).to_have_value("2")
    triple.refresh_from_db()
    assert Triple.objects.count() == 1
    assert triple.current.question == "How long does emergency access stay open? Really?"

    bench.reload()
    expect(question(bench)).to_have_value("How long does emergency access stay open? Really?")


def test_an_untouched_bench_saves_nothing(bench):
    question(bench).focus()
    bench.keyboard.press("Tab")
    bench.keyboard.press("Tab")
    bench.wait_for_timeout(3200)

    assert not Triple.objects.exists()


def test_the_buttons_of_a_draft_that_saved_itself_go_to_that_draft(bench):
    question(bench).fill("What is a root key?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    bench.get_by_label("Expected answer").fill("A key.")
    bench.get_by_role("button", name="Save draft").click()

    expect(bench.locator("#notices")).to_contain_text("T-0001 is saved")
    assert Triple.objects.get().current.answer == "A key."


def test_pressing_save_while_it_saves_itself_makes_one_draft_and_no_conflict(bench):
    bench.route("**/autosave/", lambda route: (bench.wait_for_timeout(600), route.continue_()))
    question(bench).fill("What is a root key?")
    question(bench).blur()
    bench.get_by_role("button", name="Save draft").click()

    expect(bench.locator("#notices")).to_contain_text("T-0001 is saved")
    assert Triple.objects.count() == 1


def test_the_second_tab_is_told_keeps_its_words_and_stops_saving(bench, context):
    question(bench).fill("First words?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    other = context.new_page()
    other.goto(bench.url)
    question(other).fill("Second words?")
    expect(other.locator("[data-saved]")).to_have_text(SAVED)
    expect(other.locator("[name=seen_version]")).to_have_value("2")

    question(bench).fill("Third words?")

    alert = bench.locator("[data-unsaved]")
    expect(alert).to_contain_text("saved elsewhere")
    expect(alert.get_by_role("link", name="See what is saved")).to_be_visible()
    question(bench).fill("Fourth words?")
    bench.wait_for_timeout(3200)
    expect(alert).to_contain_text("saved elsewhere")
    expect(question(bench)).to_have_value("Fourth words?")
    assert Triple.objects.get().current.question == "Second words?"


def test_words_typed_right_before_a_reload_are_there_again_and_saved(bench):
    bench.on("dialog", lambda dialog: dialog.accept())
    question(bench).fill("First words?")
    bench.reload()
    expect(question(bench)).to_have_value("First words?")
    becomes(bench, lambda: [one.current.question for one in Triple.objects.all()], ["First words?"])
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)

    for words in ("Second words?", "Third words?"):
        question(bench).fill(words)
        bench.wait_for_timeout(600)
        bench.reload()
        expect(question(bench)).to_have_value(words)
        question(bench).press("End")
        bench.keyboard.type(" And more?")
        becomes(bench, lambda: Triple.objects.get().current.question, f"{words} And more?")
        expect(bench.locator("[data-unsaved]")).to_be_hidden()


def test_a_save_that_arrives_after_the_page_was_drawn_again_is_no_conflict(bench):
    bench.on("dialog", lambda dialog: dialog.accept())
    find(bench, "backup encryption", "4.2 Backups and archives")
    question(bench).fill("What is kept?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    blur(bench)
    drawn_before = bench.request.get(bench.url).text()
    bench.keyboard.press("e")
    expect(bench.locator("#chosen .expected")).to_have_count(1)
    question(bench).fill("What is kept, and where?")
    bench.route(bench.url, lambda route: route.fulfill(body=drawn_before, content_type="text/html"), times=1)
    bench.reload()

    expect(bench.locator("[data-brought-back]")).to_be_visible()
    expect(question(bench)).to_have_value("What is kept, and where?")
    expect(bench.locator("#chosen .expected")).to_contain_text("4.2 Backups")
    question(bench).fill("What is kept, where and why?")
    becomes(bench, lambda: Triple.objects.get().current.question, "What is kept, where and why?")
    becomes(bench, held, [("SEC-4.2", 0)])
    expect(bench.locator("[data-unsaved]")).to_be_hidden()


def test_words_brought_back_do_not_write_over_what_another_tab_saved(bench, context):
    bench.on("dialog", lambda dialog: dialog.accept())
    question(bench).fill("First words?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    other = context.new_page()
    other.goto(bench.url)
    bench.route("**/autosave/", lambda route: route.abort())
    question(bench).fill("Second words?")
    question(other).fill("Other words?")
    expect(other.locator("[name=seen_version]")).to_have_value("2")
    bench.reload()
    bench.unroute("**/autosave/")

    expect(bench.locator("[data-unsaved]")).to_contain_text("saved elsewhere")
    expect(question(bench)).to_have_value("Second words?")
    assert Triple.objects.get().current.question == "Other words?"
    bench.reload()
    expect(question(bench)).to_have_value("Other words?")


def test_a_lost_connection_is_said_and_tried_again(bench, context):
    question(bench).fill("What is kept?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    context.set_offline(True)
    question(bench).fill("What is kept when the line is cut?")
    question(bench).blur()

    alert = bench.locator("[data-unsaved]")
    expect(alert).to_contain_text("Not saved: there is no connection.")
    assert Triple.objects.get().current.question == "What is kept?"

    context.set_offline(False)
    expect(alert).to_be_hidden()
    assert Triple.objects.get().current.question == "What is kept when the line is cut?"


def test_an_answer_that_got_lost_makes_neither_a_second_draft_nor_a_conflict(bench):
    lost = []

    def lose(route):
        route.fetch()
        lost.append(route.request.url)
        route.abort()

    bench.route("**/autosave/", lose, times=1)
    question(bench).fill("Did it arrive?")
    question(bench).blur()
    expect(bench.locator("[data-unsaved]")).to_contain_text("Not saved")
    question(bench).fill("Did it arrive, and this too?")
    looking.try_now(bench)

    expect(bench.locator("[data-unsaved]")).to_be_hidden()
    expect(bench.locator("[name=seen_version]")).to_have_value("2")
    assert len(lost) == 1
    assert Triple.objects.get().current.question == "Did it arrive, and this too?"


def test_leaving_warns_only_while_something_is_unsaved(bench, team):
    asked = []
    bench.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    question(bench).fill("What is kept?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    bench.goto(f"{team.home}/triples/")
    assert asked == []

    bench.go_back()
    bench.wait_for_load_state("load")
    bench.route("**/autosave/", lambda route: route.abort())
    question(bench).click()
    bench.keyboard.type("More")
    bench.goto(f"{team.home}/triples/")
    assert asked == ["beforeunload"]


def test_escape_leaves_the_search_field_with_its_words_and_what_they_found(bench):
    bench.keyboard.press("/")
    bench.keyboard.type("backup encryption")
    expect(bench.locator("#results li").first).to_contain_text("4.2 Backups")

    bench.keyboard.press("Escape")
    expect(bench.locator("#id_q_find")).not_to_be_focused()
    expect(bench.locator("#id_q_find")).to_have_value("backup encryption")
    bench.wait_for_timeout(400)
    expect(bench.locator("#results li").first).to_contain_text("4.2 Backups")
    bench.keyboard.press("j")
    bench.keyboard.press("Enter")
    opened(bench, "4.2 Backups and archives")


def test_ctrl_enter_submits_from_a_warning_s_field_and_from_outside_of_fields(bench):
    sent = []
    bench.route("**/submit/", lambda route: (sent.append(route.request.method), route.fulfill(status=204)))
    find(bench, "break glass session", "3.6 Break-glass access")
    bench.keyboard.press("e")
    question(bench).fill("How long may emergency access last?")
    bench.get_by_label("Expected answer").fill("At most eight hours, says the CISO.")
    blur(bench)
    bench.keyboard.press("?")
    expect(bench.locator("#keys [data-send]")).to_contain_text("Submit")
    bench.get_by_role("button", name="Close").click()
    blur(bench)
    bench.keyboard.press("Control+Enter")
    becomes(bench, lambda: len(sent), 1)

    bench.locator("#checks").evaluate(
        "node => { node.insertAdjacentHTML('afterend', '<textarea id=said form=bench data-why></textarea>') }"
    )
    bench.locator("#said").press("Control+Enter")
    becomes(bench, lambda: len(sent), 2)


def test_several_blocks_are_expected_in_an_order_by_keyboard_alone(bench, team):
    find(bench, "backup encryption", "4.2 Backups and archives")
    for key in ("m", "ArrowDown", "m"):
        bench.keyboard.press(key)
    expect(bench.locator("#read mark")).to_have_count(1)
    find(bench, "supplier copies", "9.3 Supplier annex: storage")
    bench.keyboard.press("e")
    expect(bench.locator("#chosen .expected")).to_have_count(2)
    expect(bench.locator("#expect")).to_contain_text("expected")
    bench.keyboard.press("m")
    bench.keyboard.press("m")
    expect(bench.locator("#chosen .expected").nth(1)).to_contain_text("1 span, 15 words")
    bench.get_by_role("radio", name="All of them are needed").focus()
    bench.keyboard.press("Space")
    bench.get_by_role("button", name="Move up: 9.3 Supplier annex: storage").focus()
    bench.keyboard.press("Enter")
    expect(bench.locator("#chosen .expected").first).to_contain_text("9.3 Supplier annex")
    expect(bench.get_by_role("radio", name="All of them are needed")).to_be_checked()
    bench.keyboard.press("w")
    bench.keyboard.type("How are backups protected?")
    blur(bench)
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)

    becomes(bench, held, [("SEC-9.3", 1), ("SEC-4.2", 1)])
    assert Triple.objects.get().current.needs_all_blocks

    bench.get_by_role("button", name="Remove: 4.2 Backups and archives").focus()
    bench.keyboard.press("Enter")
    expect(bench.locator("#chosen .expected")).to_have_count(1)
    expect(bench.get_by_role("radio", name="All of them are needed")).to_have_count(0)
    becomes(bench, held, [("SEC-9.3", 1)])


def test_the_selection_grows_by_sentences_and_by_words(bench):
    find(bench, "break glass session", "3.6 Break-glass access")
    bench.locator("#main").focus()
    for key in ("m", "ArrowDown", "ArrowDown", "Shift+ArrowDown"):
        bench.keyboard.press(key)
    assert bench.evaluate("getSelection().toString()").endswith("did not approve the first.")
    bench.keyboard.press("Shift+ArrowUp")
    assert bench.evaluate("getSelection().toString()") == "A session lasts at most eight hours."
    bench.keyboard.press("Shift+ArrowRight")
    assert bench.evaluate("getSelection().toString().trim()") == "A session lasts at most eight hours. It"

    bench.keyboard.press("m")

    expect(bench.locator("#read mark")).to_have_text("A session lasts at most eight hours. It")
    bench.keyboard.press("u")
    expect(bench.locator("#read mark")).to_have_count(0)


def test_evidence_pasted_as_text_is_lit_in_the_block(bench):
    find(bench, "break glass session", "3.6 Break-glass access")
    bench.keyboard.press("e")
    expect(bench.locator("#chosen .expected")).to_have_count(1)
    bench.locator("#chosen summary").click()
    bench.get_by_label("Evidence as text").fill("Everything typed in a\nNever said")
    blur(bench)
    expect(bench.locator("#chosen .error")).to_have_text("Line 2 is not in the text of the block.")

    bench.get_by_label("Evidence as text").fill("Everything typed in a session is recorded.")
    blur(bench)

    expect(bench.locator("#read mark")).to_have_text("Everything typed in a session is recorded.")
    expect(bench.locator("#chosen .error")).to_have_count(0)


def test_a_triple_starts_from_a_query_that_is_found_on_the_bench(bench, team):
    make_query(team.project, outside_id="Q17", text="who rotates a root key")
    bench.get_by_text("Start from an imported query").click()
    bench.get_by_label("Search the queries").fill("rotates")
    bench.get_by_role("link", name="Q17 who rotates a root key").click()

    expect(question(bench)).to_have_value("who rotates a root key")
    expect(bench.locator("#results li").first).to_contain_text("6.3 Rotation")
    bench.wait_for_load_state("load")
    bench.wait_for_timeout(3000)
    assert not Triple.objects.exists()
    question(bench).fill("Who rotates a root key?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    assert Triple.objects.get().query == Query.objects.get()


def test_a_block_leads_to_the_bench_with_it_expected(page, team, signed_in):
    block = team.block("SEC-3.6")
    block.current = block.versions.get()
    block.save()
    signed_in(team.jun)
    page.goto(f"{team.home}/corpus/blocks/{block.pk}/")
    page.get_by_role("link", name="Write a triple about this block").click()

    opened(page, "3.6 Break-glass access")
    expect(page.locator("#chosen .expected")).to_contain_text("3.6 Break-glass access")


def test_the_bench_on_a_phone_writes_a_whole_triple(page, team, signed_in, axe_clean):
    page.set_viewport_size(looking.NARROW)
    signed_in(team.jun)
    page.goto(f"{team.home}/triples/bench/?q=break+glass&block={team.block('SEC-3.6').pk}")
    page.wait_for_load_state("load")
    assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]
    mark = page.get_by_role("button", name="Mark selection")
    mark.click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    mark.click()
    expect(page.locator("#read mark")).to_have_text("A session lasts at most eight hours.")
    question(page).fill("How long may emergency access last?")
    page.get_by_label("Expected answer").fill("At most eight hours.")
    expect(page.locator("#finish")).to_contain_text("Goes to two reviewers")
    axe_clean(page)
    page.get_by_role("button", name="Submit").last.click()

    expect(page.locator("#notices")).to_contain_text("went to two reviewers")
    assert Triple.objects.get().state == State.IN_REVIEW


def test_the_bench_with_several_blocks_is_clean_in_both_themes(bench, look_at, witness):
    find(bench, "backup encryption", "4.2 Backups and archives")
    bench.keyboard.press("e")
    expect(bench.locator("#chosen .expected")).to_have_count(1)
    find(bench, "supplier copies", "9.3 Supplier annex: storage")
    bench.keyboard.press("e")
    expect(bench.locator("#chosen .expected")).to_have_count(2)
    for details in bench.locator("main details").all():
        details.locator("summary").click()

    looking.clean_in_both_themes(bench)
    look_at(bench, "bench-several", full=False)
    assert witness.drain() == []
