"""The judging screen in a browser: keys, text fields, undo, evidence, the queue of unsent grades."""

import gzip
import re

import pytest
from playwright.sync_api import expect

from apps.judging.models import Judgement
from apps.judging.selectors import live_judgements
from tests.e2e import looking
from tests.judging.factories import people_of
from tests.judging.world import grade_some, make_world

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def round_():
    return make_world()


@pytest.fixture
def mara(round_):
    return people_of(round_)[0]


@pytest.fixture
def screen(page, round_, mara, signed_in):
    grade_some(round_, mara, 3)
    signed_in(mara)
    page.goto(f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/")
    return page


def seat_shown(page) -> int:
    return int(page.locator("#grading input[name=seat]").input_value())


def sent(page) -> None:
    expect(page.locator("[data-unsent]")).to_have_text("sent")


def live(round_) -> dict[int, int | None]:
    return dict(live_judgements(round_).values_list("seat", "grade"))


def test_look(screen, look_at, axe_clean, witness):
    axe_clean(screen)
    look_at(screen, "judging", full=False)
    assert witness.drain() == []


def test_look_with_everything_open(screen, context, look_at, axe_clean):
    context.set_offline(True)
    screen.keyboard.press("1")
    screen.keyboard.press("3")
    screen.keyboard.press("m")
    screen.keyboard.press("n")
    screen.keyboard.type("The mode is missing.")
    screen.keyboard.press("Escape")
    screen.keyboard.press("x")
    expect(screen.get_by_text("2 grades could not be sent.")).to_be_visible()

    axe_clean(screen)
    look_at(screen, "judging-open", full=False)


def test_a_number_key_grades_and_the_next_pair_is_on_screen_at_once(screen, round_):
    first = seat_shown(screen)
    screen.keyboard.press("2")

    assert seat_shown(screen) != first
    sent(screen)
    assert live(round_)[first] == 2
    expect(screen.locator(".count")).to_have_text("5 of 24")


def test_many_grades_in_a_row_all_arrive(screen, round_):
    seats = []
    for n in range(21):
        expect(screen.locator(".question")).to_be_visible()
        seats.append(seat_shown(screen))
        screen.keyboard.press(str(n % 4))

    expect(screen.get_by_role("heading", name=re.compile("done as far as you go"))).to_be_visible()
    assert [live(round_)[seat] for seat in seats] == [n % 4 for n in range(21)]
    assert Judgement.objects.count() == 24


def test_keys_write_in_the_note_and_the_note_goes_with_the_grade(screen, round_):
    seat = seat_shown(screen)
    screen.keyboard.press("n")
    screen.keyboard.type("0123 x u m t g")

    assert seat_shown(screen) == seat
    screen.keyboard.press("Escape")
    screen.keyboard.press("1")
    sent(screen)
    assert live_judgements(round_).get(seat=seat).note == "0123 x u m t g"
    assert screen.locator("#note").input_value() == ""


def test_keys_with_modifiers_do_nothing(screen):
    seat = seat_shown(screen)
    for keys in ("Control+2", "Alt+2", "Meta+2"):
        screen.keyboard.press(keys)

    assert seat_shown(screen) == seat


def test_cant_judge_asks_why(screen, round_):
    seat = seat_shown(screen)
    screen.keyboard.press("x")
    expect(screen.get_by_text("Why can’t it be judged?")).to_be_visible()
    screen.locator(".docpath").click()
    expect(screen.get_by_text("Why can’t it be judged?")).to_be_hidden()
    screen.keyboard.press("x")
    screen.keyboard.press("w")

    sent(screen)
    judgement = live_judgements(round_).get(seat=seat)
    assert (judgement.grade, judgement.cant_judge) == (None, "unreadable")
    assert seat_shown(screen) != seat


def test_undo_opens_the_last_pair_with_its_grade_chosen(screen, round_):
    first = seat_shown(screen)
    screen.keyboard.press("3")
    second = seat_shown(screen)
    screen.keyboard.press("u")

    assert seat_shown(screen) == first
    expect(screen.locator("button[name=grade][value='3']")).to_have_attribute("aria-pressed", "true")
    screen.keyboard.press("0")
    assert seat_shown(screen) == second
    sent(screen)
    assert live(round_)[first] == 0
    assert Judgement.objects.filter(seat=first).count() == 2


def test_undo_reaches_grades_from_before_this_page(screen, round_, mara):
    last = Judgement.objects.latest("pk")
    screen.keyboard.press("u")

    expect(screen.locator("button[name=grade][value='2']")).to_have_attribute("aria-pressed", "true")
    assert seat_shown(screen) == last.seat_id
    screen.keyboard.press("1")
    sent(screen)
    assert live(round_)[last.seat_id] == 1


def test_evidence_is_marked_in_the_text_and_sent(screen, round_):
    seat = seat_shown(screen)
    screen.keyboard.press("m")
    text = live_text(round_, seat)

    marked = screen.locator(".doc mark").all_inner_texts()
    screen.keyboard.press("3")
    sent(screen)
    spans = live_judgements(round_).get(seat=seat).spans
    told = "".join(text[start:end] for start, end in spans)
    assert re.sub(r"\W+", "", told) == re.sub(r"\W+", "", "".join(marked)) != ""


def test_selected_words_are_evidence_in_code_points(screen, round_):
    seat = seat_shown(screen)
    screen.evaluate("""() => {
        const leaf = [...document.querySelectorAll(".doc [data-at]")]
            .find((one) => one.getClientRects().length && /\\S.{13}/.test(one.textContent));
        const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
        let node = walker.nextNode();
        while (!/\\S.{13}/.test(node.textContent)) node = walker.nextNode();
        const at = node.textContent.search(/\\S.{13}/);
        const range = document.createRange();
        range.setStart(node, at + 2);
        range.setEnd(node, at + 14);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
    }""")
    words = screen.evaluate("getSelection().toString()")
    screen.keyboard.press("m")
    screen.keyboard.press("2")
    sent(screen)

    ((start, end),) = live_judgements(round_).get(seat=seat).spans
    assert live_text(round_, seat)[start:end] == words.strip()


def live_text(round_, seat) -> str:
    return round_.seats.get(pk=seat).entry.version.text


def test_the_whole_text_opens_on_t_and_the_guideline_closes_on_g(screen):
    while screen.locator(".fold").count() == 0:
        screen.keyboard.press("1")
    hidden = screen.locator(".doc [data-folded]")
    assert hidden.count() > 0
    screen.keyboard.press("t")
    expect(hidden).to_have_count(0)

    guideline = screen.get_by_role("complementary", name="Guideline")
    screen.keyboard.press("g")
    expect(guideline).to_be_hidden()
    screen.keyboard.press("g")
    expect(guideline).to_be_visible()


def test_grades_given_offline_are_kept_counted_and_sent_later(screen, context, round_):
    context.set_offline(True)
    seats = []
    for grade in "012":
        seats.append(seat_shown(screen))
        screen.keyboard.press(grade)

    expect(screen.locator("[data-unsent]")).to_have_text("3 unsent")
    expect(screen.get_by_text("3 grades could not be sent.")).to_be_visible()
    assert not set(seats) & set(live(round_))

    context.set_offline(False)
    sent(screen)
    assert [live(round_)[seat] for seat in seats] == [0, 1, 2]


def test_unsent_grades_survive_closing_the_page(screen, context, page, round_):
    screen.route("**/judgements/", lambda route: route.abort())
    seat = seat_shown(screen)
    screen.keyboard.press("3")
    expect(screen.locator("[data-unsent]")).to_have_text("1 unsent")
    address = screen.url
    screen.close()

    later = context.new_page()
    later.goto(address)
    sent(later)
    assert live(round_)[seat] == 3
    assert seat_shown(later) != seat


def test_an_answer_lost_on_the_way_back_does_not_double_the_grade(screen, round_):
    losses = []

    def lose(route):
        if losses:
            route.continue_()
            return
        losses.append(route.fetch().status)
        route.abort()

    screen.route("**/judgements/", lose)
    seat = seat_shown(screen)
    screen.keyboard.press("2")
    looking.try_now(screen)

    sent(screen)
    assert losses == [201]
    assert Judgement.objects.filter(seat=seat).count() == 1


def test_grades_wait_for_whoever_was_signed_out(screen, context, live_server, round_, mara):
    context.clear_cookies()
    seat = seat_shown(screen)
    screen.keyboard.press("2")
    expect(screen.get_by_text("you are signed out")).to_be_visible()

    looking.sign_in(context, live_server.url, mara)
    context.new_page().goto(f"/p/{round_.project.slug}/judging/")
    screen.bring_to_front()
    looking.try_now(screen)

    sent(screen)
    assert live(round_)[seat] == 2


def test_the_next_pair_is_on_screen_before_the_server_has_answered(screen):
    stuck = screen.evaluate("""() => {
        const shown = () => document.querySelector("#grading input[name=seat]").value;
        const stuck = [];
        for (let n = 0; n < 6; n += 1) {
            const before = shown();
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key: String(n % 4), bubbles: true }));
            if (shown() === before) stuck.push(n);
        }
        return stuck;
    }""")

    assert stuck == []


def test_a_grade_that_is_refused_says_why(screen, round_, mara):
    round_.seats.filter(state="leased").update(state="open", annotator=None, lease_expires_at=None)
    seat = seat_shown(screen)
    other = round_.annotators.exclude(annotator=mara)
    assert not other.exists()
    screen.route(
        "**/judgements/",
        lambda route: route.fulfill(status=409, json={"code": "seat_lapsed", "detail": "It went to somebody else."}),
    )
    screen.keyboard.press("2")

    told = screen.get_by_text(re.compile(r"Q0\d\d, grade 2 was not taken: It went to somebody else\."))
    expect(told).to_be_visible()
    assert seat not in live(round_)
    screen.unroute("**/judgements/")
    screen.reload()
    expect(told).to_be_visible()
    screen.get_by_role("button", name="I have read this").click()
    screen.reload()
    expect(told).to_be_hidden()


def test_nothing_tells_rank_score_system_or_anybody_elses_grade(screen):
    told = screen.locator(".desk > :not(.top), [data-pile]").evaluate_all("all => all.map(x => x.outerHTML).join()")

    for word in ("rank", "score", "found_by", "bm25", "run", "depth", "sef arden"):
        assert word not in told.lower().replace("who runs it", "")


@pytest.mark.parametrize("view", ["pair", "query"])
def test_the_first_page_is_small_with_everything_it_loads(page, round_, mara, signed_in, view):
    signed_in(mara)
    bodies = []
    page.on("response", lambda response: bodies.append(response.body()) if response.ok else None)
    page.goto(f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/?view={view}")
    page.wait_for_load_state("networkidle")

    size = sum(len(gzip.compress(body)) for body in bodies)
    print(f"first judging page, {view}: {size:,} bytes compressed in {len(bodies)} answers")
    assert size <= 60_000


def test_it_works_without_a_script(browser, live_server, round_, mara):
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    looking.sign_in(context, live_server.url, mara)
    page = context.new_page()
    page.goto(f"/p/{round_.project.slug}/judging/rounds/{round_.pk}/judge/")
    first = seat_shown(page)
    page.get_by_role("button", name="Answers part").click()
    second = seat_shown(page)
    page.locator("summary", has_text="Can’t judge").click()
    page.get_by_role("button", name="Needs an expert").click()
    page.locator("[data-undo]").click()

    assert live(round_) == {first: 2, second: None}
    assert seat_shown(page) == second
    context.close()
