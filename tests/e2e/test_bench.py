"""Writing at the bench in a browser: it saves itself, holds several blocks, and needs no mouse."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from apps.queries.models import Query
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.triples_world import make_handbook
from tests.e2e.waiting import go, press, ready, settled, turned
from tests.e2e.worlds import shared
from tests.queries.factories import make_query
from tests.review.factories import make_in_review

pytestmark = pytest.mark.django_db(transaction=True)

SAVED = re.compile(r"saved at \d\d:\d\d")


LONG = 20_000
"""Milliseconds after which whatever the bench does by itself has been done."""

team = shared(make_handbook)


@pytest.fixture
def bench(page, team, signed_in) -> Page:
    signed_in(team.jun)
    go(page, f"{team.home}/triples/bench/")
    return page


@pytest.fixture
def clocked(page, team, signed_in) -> Page:
    """A bench whose clock the story holds: what would take seconds is done at once or not at all."""
    page.clock.install()
    signed_in(team.jun)
    go(page, f"{team.home}/triples/bench/")
    return page


def question(page: Page):
    return page.get_by_label("Question", exact=False).first


def opened(page: Page, title: str) -> None:
    """The block stands in the reading column and nothing is drawn any more."""
    expect(page.locator("#read .docpath")).to_contain_text(title)
    settled(page)


def find(page: Page, words: str, title: str) -> None:
    """Search for a block and open it, by keys."""
    press(page, "/")
    page.keyboard.type(words)
    expect(page.locator("#results [data-found-for]")).to_have_attribute("data-found-for", words)
    expect(page.locator("#results li").first).to_contain_text(title)
    press(page, "Escape")
    page.locator("#results a").first.focus()
    press(page, "Enter")
    opened(page, title)


def stored_blocks() -> list[tuple[str, int]]:
    """The stored expected blocks in their order, each with the number of its marks."""
    blocks = Triple.objects.get().current.expected_blocks.order_by("order")
    return [(one.version.block.outside_id, len(one.spans)) for one in blocks]


def saved(page: Page) -> None:
    """Everything in the form is stored."""
    expect(page.locator("[data-bench]")).to_have_attribute("data-holds", "saved")


def autosaves(page: Page) -> list[str]:
    """Fills with what the bench sends by itself."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/autosave/") else None)
    return sent


def blur(page: Page) -> None:
    page.evaluate("document.activeElement.blur()")


def test_a_draft_saves_itself_gets_its_address_and_two_tabs_never_overwrite_each_other(clocked, context):
    sent = autosaves(clocked)
    question(clocked).focus()
    press(clocked, "Tab", "Tab")
    clocked.clock.run_for(LONG)
    settled(clocked)
    assert sent == []
    assert not Triple.objects.exists()

    question(clocked).focus()
    clocked.keyboard.type("How long does emergency access stay open?")
    clocked.clock.run_for(LONG)
    expect(clocked.locator("[data-saved]")).to_have_text(SAVED)
    triple = Triple.objects.get()
    assert clocked.url.endswith(f"/triples/{triple.pk}/bench/")
    expect(question(clocked)).to_be_focused()
    clocked.keyboard.type(" Really?")
    press(clocked, "Tab")
    expect(clocked.locator("[data-label]")).to_have_text("T-0001")
    expect(clocked.locator("[name=seen_version]")).to_have_value("2")
    assert Triple.objects.get().current.question == "How long does emergency access stay open? Really?"

    clocked.reload()
    ready(clocked)
    expect(question(clocked)).to_have_value("How long does emergency access stay open? Really?")
    clocked.get_by_label("Expected answer").fill("Eight hours.")
    with turned(clocked):
        clocked.get_by_role("button", name="Save draft").click()
    expect(clocked.locator("#notices")).to_contain_text("T-0001 is saved")
    assert Triple.objects.get().current.answer == "Eight hours."
    two_tabs_never_overwrite_each_other(clocked, context)


def test_saving_bears_races_and_lost_connections_and_warns_only_of_what_is_unsaved(bench, context, team):
    make_in_review(team.project, author=team.jun, snapshot=team.snapshot, key="SEC-3.6", question="What is kept?")
    asked: list[str] = []
    bench.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    alert = bench.locator("[data-unsaved]")
    own = Triple.objects.filter(state=State.DRAFT)

    under_way: list[Route] = []
    bench.route("**/autosave/", lambda route: under_way.append(route), times=1)
    with bench.expect_request("**/autosave/"):
        question(bench).fill("What is a root key?")
        question(bench).blur()
    with turned(bench):
        bench.get_by_role("button", name="Save draft").click()
        under_way[0].continue_()
    expect(bench.locator("#notices")).to_contain_text("is saved")
    assert own.count() == 1

    lost: list[str] = []
    bench.route("**/autosave/", lambda route: (route.fetch(), lost.append(route.request.url), route.abort()), times=1)
    question(bench).fill("Did it arrive?")
    question(bench).blur()
    expect(alert).to_contain_text("Not saved")
    question(bench).fill("Did it arrive, and this too?")
    looking.try_now(bench)
    expect(alert).to_be_hidden()
    saved(bench)
    assert len(lost) == 1
    assert own.get().current.question == "Did it arrive, and this too?"

    context.set_offline(True)
    question(bench).fill("What is kept when the line is cut?")
    question(bench).blur()
    expect(alert).to_contain_text("Not saved: there is no connection.")
    assert own.get().current.question == "Did it arrive, and this too?"
    context.set_offline(False)
    expect(alert).to_be_hidden()
    assert own.get().current.question == "What is kept when the line is cut?"

    # A check that arrives after the last save is no unsaved change.
    held_back: list[Route] = []
    bench.route("**/checks/", lambda route: held_back.append(route))
    with bench.expect_request("**/checks/"):
        question(bench).fill("What is kept?")
        blur(bench)
    saved(bench)
    bench.unroute("**/checks/")
    expect(bench.locator("#checks [data-why]")).to_be_visible()
    saved(bench)
    go(bench, f"{team.home}/triples/")
    assert asked == []

    bench.go_back()
    ready(bench)
    bench.route("**/autosave/", lambda route: route.abort())
    question(bench).click()
    bench.keyboard.type("More")
    bench.goto(f"{team.home}/triples/")
    assert asked == ["beforeunload"]


def two_tabs_never_overwrite_each_other(clocked, context):
    other = context.new_page()
    go(other, clocked.url)
    seen = other.locator("[name=seen_version]")
    before = seen.input_value()
    question(other).fill("Second words?")
    question(other).blur()
    expect(seen).not_to_have_value(before)

    question(clocked).fill("Third words?")
    question(clocked).blur()
    alert = clocked.locator("[data-unsaved]")
    expect(alert).to_contain_text("saved elsewhere")
    expect(alert.get_by_role("link", name="See what is saved")).to_be_visible()
    sent = autosaves(clocked)
    question(clocked).fill("Fourth words?")
    question(clocked).blur()
    clocked.clock.run_for(LONG)
    settled(clocked)
    expect(alert).to_contain_text("saved elsewhere")
    assert sent == []

    with turned(clocked):
        clocked.get_by_role("button", name="Save draft").click()
    expect(clocked.get_by_role("alert").first).to_contain_text("saved elsewhere")
    expect(question(clocked)).to_have_value("Fourth words?")
    assert Triple.objects.get().current.question == "Second words?"


def test_words_typed_right_before_a_reload_come_back_and_never_over_those_of_another_tab(bench, context):
    bench.on("dialog", lambda dialog: dialog.accept())
    question(bench).fill("First words?")
    bench.reload()
    expect(question(bench)).to_have_value("First words?")
    expect(bench.locator("[data-saved]")).to_have_text(SAVED)
    assert Triple.objects.get().current.question == "First words?"
    question(bench).fill("Second words?")
    bench.reload()
    expect(question(bench)).to_have_value("Second words?")
    question(bench).press("End")
    bench.keyboard.type(" And more?")
    question(bench).blur()
    saved(bench)
    assert Triple.objects.get().current.question == "Second words? And more?"
    expect(bench.locator("[data-unsaved]")).to_be_hidden()

    # A save that arrives after the page was rendered again is no conflict.
    find(bench, "backup encryption", "4.2 Backups and archives")
    drawn_before = bench.request.get(bench.url).text()
    press(bench, "e")
    expect(bench.locator("#chosen .expected-block")).to_have_count(1)
    question(bench).fill("What is kept, and where?")
    bench.route(bench.url, lambda route: route.fulfill(body=drawn_before, content_type="text/html"), times=1)
    bench.reload()
    expect(bench.locator("[data-brought-back]")).to_be_visible()
    expect(question(bench)).to_have_value("What is kept, and where?")
    expect(bench.locator("#chosen .expected-block")).to_contain_text("4.2 Backups")
    question(bench).fill("What is kept, where and why?")
    blur(bench)
    saved(bench)
    assert Triple.objects.get().current.question == "What is kept, where and why?"
    assert stored_blocks() == [("SEC-4.2", 0)]
    expect(bench.locator("[data-unsaved]")).to_be_hidden()

    other = context.new_page()
    go(other, bench.url)
    bench.route("**/autosave/", lambda route: route.abort())
    question(bench).fill("Words that nobody saved?")
    seen = other.locator("[name=seen_version]")
    before = seen.input_value()
    question(other).fill("Other words?")
    blur(other)
    expect(seen).not_to_have_value(before)
    bench.reload()
    bench.unroute("**/autosave/")
    expect(bench.locator("[data-unsaved]")).to_contain_text("saved elsewhere")
    expect(question(bench)).to_have_value("Words that nobody saved?")
    assert Triple.objects.get().current.question == "Other words?"
    bench.reload()
    expect(question(bench)).to_have_value("Other words?")


def test_the_search_by_keys_opens_what_was_meant_and_a_query_or_a_passage_starts_a_triple(clocked, team):
    a_triple_starts_from_a_query_searched_on_the_bench_or_from_a_passage(clocked, team)
    the_search_by_keys_opens_what_was_meant_and_keeps_what_was_written(clocked, team)


def the_search_by_keys_opens_what_was_meant_and_keeps_what_was_written(clocked, team):
    under_way: list[Route] = []
    for is_under_way in (False, True):
        go(clocked, f"{team.home}/triples/bench/")
        under_way.clear()
        clocked.route("**/find/**", lambda route: under_way.append(route))
        address = clocked.url
        press(clocked, "/")
        if is_under_way:
            with clocked.expect_request("**/find/**"):
                clocked.keyboard.type("backup encryption")
                clocked.clock.run_for(LONG)
            clocked.keyboard.press("Enter")
        else:
            clocked.keyboard.type("backup encryption")
            with clocked.expect_request("**/find/**"):
                clocked.keyboard.press("Enter")
        expect(clocked.locator("#results li")).to_have_count(0)
        under_way[0].continue_()
        opened(clocked, "4.2 Backups and archives")
        expect(clocked.locator("#results a").first).to_be_focused()
        assert clocked.url == address
        assert len(under_way) == 1
        clocked.unroute("**/find/**")

    question(clocked).fill("How long does emergency access stay open?")
    question(clocked).blur()
    clocked.locator("#id_q_find").fill("")
    clocked.keyboard.type("break glass session")
    expect(clocked.locator("#results [data-found-for='break glass session'] li").first).to_contain_text("3.6 Break")
    press(clocked, "Escape")
    expect(clocked.locator("#id_q_find")).not_to_be_focused()
    expect(clocked.locator("#id_q_find")).to_have_value("break glass session")
    clocked.clock.run_for(LONG)
    settled(clocked)
    press(clocked, "j", "Enter")
    opened(clocked, "3.6 Break-glass access")
    expect(question(clocked)).to_have_value("How long does emergency access stay open?")


def enter_lists_the_passages_without_javascript(new_context, team, live_server):
    context = new_context(java_script_enabled=False)
    looking.sign_in(context, live_server.url, team.jun)
    page = context.new_page()
    page.goto(f"{team.home}/triples/bench/")
    page.get_by_role("searchbox", name="Search the snapshot").fill("backup encryption")
    page.keyboard.press("Enter")
    expect(page.locator("#results li").first).to_contain_text("4.2 Backups")


def ctrl_enter_submits_from_a_warning_s_field_and_from_outside_of_fields(bench):
    bench.route("**/submit/", lambda route: route.fulfill(status=204))
    question(bench).fill("How long may emergency access last?")
    bench.get_by_label("Expected answer").fill("At most eight hours, says the CISO.")
    blur(bench)
    saved(bench)
    press(bench, "?")
    expect(bench.locator("#keys [data-send]")).to_contain_text("Submit")
    bench.get_by_role("button", name="Close").click()
    blur(bench)
    with bench.expect_request("**/submit/") as first:
        press(bench, "Control+Enter")

    bench.locator("#checks").evaluate(
        "node => { node.insertAdjacentHTML('afterend', '<textarea id=said form=bench data-why></textarea>') }"
    )
    with bench.expect_request("**/submit/") as second:
        bench.locator("#said").press("Control+Enter")
    assert [sent.value.method for sent in (first, second)] == ["POST", "POST"]


def test_evidence_is_marked_by_sentences_by_words_by_mouse_and_as_text_and_ctrl_enter_submits(bench):
    evidence_is_marked_by_sentences_by_words_by_mouse_and_as_text(bench)
    ctrl_enter_submits_from_a_warning_s_field_and_from_outside_of_fields(bench)


def evidence_is_marked_by_sentences_by_words_by_mouse_and_as_text(bench):
    find(bench, "break glass session", "3.6 Break-glass access")
    marks = bench.locator("#read mark")
    bench.locator("#main").focus()
    press(bench, "m", "ArrowDown", "ArrowDown", "Shift+ArrowDown")
    assert bench.evaluate("getSelection().toString()").endswith("did not approve the first.")
    press(bench, "Shift+ArrowUp")
    assert bench.evaluate("getSelection().toString()") == "A session lasts at most eight hours."
    press(bench, "Shift+ArrowRight")
    assert bench.evaluate("getSelection().toString().trim()") == "A session lasts at most eight hours. It"
    press(bench, "m")
    expect(marks).to_have_text("A session lasts at most eight hours. It")
    expect(bench.locator("#marked")).to_have_text("1 span, 8 words")
    press(bench, "u")
    expect(marks).to_have_count(0)
    settled(bench)

    bench.locator("#read [data-at]").nth(1).dblclick(position={"x": 30, "y": 14})
    bench.get_by_role("button", name="Mark selection").click()
    expect(marks).to_have_count(1)
    assert " " not in marks.inner_text()
    press(bench, "u")
    expect(marks).to_have_count(0)

    if not bench.locator("#chosen .expected-block").count():
        press(bench, "e")
    expect(bench.locator("#chosen .expected-block")).to_have_count(1)
    settled(bench)
    bench.locator("#chosen summary").click()
    bench.get_by_label("Evidence as text").fill("Everything typed in a\nNever said")
    blur(bench)
    expect(bench.locator("#chosen .error")).to_have_text("Line 2 is not in the text of the passage.")
    bench.get_by_label("Evidence as text").fill("Everything typed in a session is recorded.")
    blur(bench)
    expect(marks).to_have_text("Everything typed in a session is recorded.")
    expect(bench.locator("#chosen .error")).to_have_count(0)


def test_several_blocks_are_expected_in_an_order_by_keyboard_alone(bench, team, witness):
    find(bench, "backup encryption", "4.2 Backups and archives")
    press(bench, "m", "ArrowDown", "m")
    expect(bench.locator("#read mark")).to_have_count(1)
    find(bench, "supplier copies", "9.3 Supplier annex: storage")
    press(bench, "e")
    expect(bench.locator("#chosen .expected-block")).to_have_count(2)
    expect(bench.locator("#expect")).to_contain_text("expected")
    press(bench, "m", "m")
    expect(bench.locator("#chosen .expected-block").nth(1)).to_contain_text("1 span, 15 words")
    settled(bench)
    bench.get_by_role("radio", name="All of them are needed").focus()
    press(bench, "Space")
    settled(bench)
    bench.get_by_role("button", name="Move up: 9.3 Supplier annex: storage").focus()
    press(bench, "Enter")
    expect(bench.locator("#chosen .expected-block").first).to_contain_text("9.3 Supplier annex")
    expect(bench.get_by_role("radio", name="All of them are needed")).to_be_checked()
    press(bench, "w")
    bench.keyboard.type("How are backups protected?")
    blur(bench)
    saved(bench)
    assert stored_blocks() == [("SEC-9.3", 1), ("SEC-4.2", 1)]
    assert Triple.objects.get().current.needs_all_blocks

    expect(bench.locator("[data-start]")).to_have_count(0)  # the first save takes away what a triple starts from
    for details in bench.locator("main details").all():
        details.locator("summary").click()
    looking.looks_well(bench, "bench-several", widths=(), full=False)
    bench.get_by_role("button", name="Remove: 4.2 Backups and archives").focus()
    press(bench, "Enter")
    expect(bench.locator("#chosen .expected-block")).to_have_count(1)
    expect(bench.get_by_role("radio", name="All of them are needed")).to_have_count(0)
    saved(bench)
    assert stored_blocks() == [("SEC-9.3", 1)]
    assert witness.drain() == []


def a_triple_starts_from_a_query_searched_on_the_bench_or_from_a_passage(clocked, team):
    make_query(team.project, outside_id="Q17", text="who rotates a root key")
    sent = autosaves(clocked)
    clocked.get_by_text("Start from an imported query").click()
    clocked.get_by_label("Search the queries").fill("rotates")
    with turned(clocked):
        clocked.get_by_role("link", name="Q17 who rotates a root key").click()
    expect(question(clocked)).to_have_value("who rotates a root key")
    expect(clocked.locator("#results li").first).to_contain_text("6.3 Rotation")
    clocked.clock.run_for(LONG)
    settled(clocked)
    assert sent == []
    question(clocked).fill("Who rotates a root key?")
    blur(clocked)
    expect(clocked.locator("[data-saved]")).to_have_text(SAVED)
    assert Triple.objects.get().query == Query.objects.get()

    block = team.block("SEC-3.6")
    block.current = block.versions.get()
    block.save()
    go(clocked, f"{team.home}/corpus/blocks/{block.pk}/")
    with turned(clocked):
        clocked.get_by_role("link", name="Write a Q&A about this passage").click()
    opened(clocked, "3.6 Break-glass access")
    expect(clocked.locator("#chosen .expected-block")).to_contain_text("3.6 Break-glass access")


def test_the_bench_on_a_phone_writes_a_whole_triple_and_works_without_scripts(
    page, team, signed_in, new_context, live_server
):
    enter_lists_the_passages_without_javascript(new_context, team, live_server)
    page.set_viewport_size(looking.NARROW)
    signed_in(team.jun)
    go(page, f"{team.home}/triples/bench/?q=break+glass&block={team.block('SEC-3.6').pk}")
    assert page.evaluate("document.documentElement.scrollWidth") <= looking.NARROW["width"]
    mark = page.get_by_role("button", name="Mark selection")
    mark.click()
    press(page, "ArrowDown", "ArrowDown")
    mark.click()
    expect(page.locator("#read mark")).to_have_text("A session lasts at most eight hours.")
    question(page).fill("How long may emergency access last?")
    page.get_by_label("Expected answer").fill("At most eight hours.")
    expect(page.locator("#finish")).to_contain_text("Goes to two reviewers")
    expect(page.locator(".checks")).to_contain_text("found in the evidence")
    looking.clean(page)
    with turned(page):
        page.get_by_role("button", name="Submit").last.click()

    expect(page.locator("#notices")).to_contain_text("went to two reviewers")
    assert Triple.objects.get().state == State.IN_REVIEW
