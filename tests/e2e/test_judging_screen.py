"""The judging screen in a browser: keys, text fields, undo, evidence, the queue of unsent grades."""

import gzip
import re
from contextlib import nullcontext

import pytest
from playwright.sync_api import expect

from apps.judging.models import Judgement
from apps.judging.selectors.pairs import live_judgements
from tests.e2e import looking
from tests.e2e.waiting import go, press, ready, settled
from tests.e2e.worlds import shared
from tests.judging.factories import make_round, people_of
from tests.judging.world import grade_some, make_world

pytestmark = pytest.mark.django_db(transaction=True)


def make_begun():
    round_ = make_world()
    grade_some(round_, people_of(round_)[0], 3)
    return round_


round_ = shared(make_begun)
untouched = shared(make_world)


@pytest.fixture
def mara(round_):
    return people_of(round_)[0]


@pytest.fixture
def screen(page, round_, mara, signed_in):
    signed_in(mara)
    go(page, screen_of(round_))
    return page


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


def test_pairs_are_graded_noted_excused_and_undone_by_key(screen, round_, mara, witness):
    looking.clean(screen, "judging", full=False)
    told = screen.locator(".desk > :not(.desk-top), [data-pile]").evaluate_all(
        "all => all.map(x => x.outerHTML).join()"
    )
    for word in ("rank", "score", "found_by", "bm25", "run", "depth", "sef arden"):
        assert word not in told.lower().replace("who runs it", "")

    # A grade from before this page is reached, too.
    last = Judgement.objects.latest("pk")
    press(screen, "u")
    expect(screen.locator("button[name=grade][value='2']")).to_have_attribute("aria-pressed", "true")
    assert seat_shown(screen) == last.seat_id
    press(screen, "1")
    sent(screen)
    assert live(round_)[last.seat_id] == 1

    first = seat_shown(screen)
    for keys in ("Control+2", "Alt+2", "Meta+2"):
        press(screen, keys)
    assert seat_shown(screen) == first
    press(screen, "2")
    second = seat_shown(screen)
    assert second != first
    sent(screen)
    assert live(round_)[first] == 2
    expect(screen.locator(".count")).to_have_text("pair 5 of 24")

    press(screen, "n")
    screen.keyboard.type("0123 x u m t g")
    assert seat_shown(screen) == second
    screen.keyboard.press("Escape")
    press(screen, "1")
    sent(screen)
    assert live_judgements(round_).get(seat=second).note == "0123 x u m t g"
    assert screen.locator("#note").input_value() == ""

    third = seat_shown(screen)
    press(screen, "w", "e")  # reasons of a list that is closed: nothing is sent
    assert seat_shown(screen) == third
    press(screen, "x")
    expect(screen.get_by_text("Why can’t it be judged?")).to_be_visible()
    screen.locator(".docpath").click()
    expect(screen.get_by_text("Why can’t it be judged?")).to_be_hidden()
    press(screen, "x", "w")
    sent(screen)
    judgement = live_judgements(round_).get(seat=third)
    assert (judgement.grade, judgement.cant_judge) == (None, "unreadable")

    fourth = seat_shown(screen)
    press(screen, "u", "u")
    assert seat_shown(screen) == second
    expect(screen.locator("button[name=grade][value='1']")).to_have_attribute("aria-pressed", "true")
    press(screen, "0")
    assert seat_shown(screen) == fourth
    sent(screen)
    assert live(round_)[second] == 0
    assert Judgement.objects.filter(seat=second).count() == 2
    assert witness.drain() == []


def test_many_grades_in_a_row_show_the_next_pair_at_once_and_all_arrive(screen, round_):
    """Asked in the same task as the key: no answer can have come."""
    seats = []
    for n in range(21):
        settled(screen)
        before, after = screen.evaluate(
            """(key) => {
                const shown = () => document.querySelector("#grading input[name=seat]").value;
                const before = shown();
                document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
                return [before, shown()];
            }""",
            str(n % 4),
        )
        assert n == 20 or before != after
        seats.append(int(before))

    expect(screen.get_by_role("heading", name=re.compile("You are finished with"))).to_be_visible()
    assert [live(round_)[seat] for seat in seats] == [n % 4 for n in range(21)]
    assert Judgement.objects.count() == 24


SELECT_TWELVE_LETTERS = """() => {
    const leaf = [...document.querySelectorAll(".doc [data-at]")]
        .find((one) => one.getClientRects().length && /\\S.{13}/.test(one.textContent));
    const walker = document.createTreeWalker(leaf, NodeFilter.SHOW_TEXT);
    let node = walker.nextNode();
    while (!/\\S.{13}/.test(node.textContent)) node = walker.nextNode();
    const at = node.textContent.search(/\\S.{13}/);
    getSelection().setBaseAndExtent(node, at + 2, node, at + 14);
}"""


def test_evidence_is_a_sentence_or_what_is_selected_and_the_rest_of_the_text_opens(screen, round_):
    seat = seat_shown(screen)
    press(screen, "m")
    marked = screen.locator(".doc mark").all_inner_texts()
    press(screen, "3")
    sent(screen)
    spans = live_judgements(round_).get(seat=seat).spans
    told = "".join(text_of(round_, seat)[start:end] for start, end in spans)
    assert re.sub(r"\W+", "", told) == re.sub(r"\W+", "", "".join(marked)) != ""

    seat = seat_shown(screen)
    settled(screen)
    screen.evaluate(SELECT_TWELVE_LETTERS)
    words = screen.evaluate("getSelection().toString()")
    press(screen, "m", "2")
    sent(screen)
    ((start, end),) = live_judgements(round_).get(seat=seat).spans
    assert text_of(round_, seat)[start:end] == words.strip()

    while screen.locator(".fold").count() == 0:
        press(screen, "1")
    hidden = screen.locator(".doc [data-folded]")
    assert hidden.count() > 0
    press(screen, "t")
    expect(hidden).to_have_count(0)
    guideline = screen.get_by_role("complementary", name="Guideline")
    press(screen, "g")
    expect(guideline).to_be_hidden()
    press(screen, "g")
    expect(guideline).to_be_visible()


def test_a_grade_is_sent_again_until_the_server_has_it_once_and_a_refusal_stays_until_it_is_read(
    screen, context, live_server, round_, mara
):
    later = grades_outlive_a_lost_connection_and_a_closed_page(screen, context, round_)
    a_grade_that_is_refused_says_why_until_it_is_read(later, round_)
    a_grade_is_sent_again_until_the_server_has_it_once(later, context, live_server, round_, mara)


def grades_outlive_a_lost_connection_and_a_closed_page(screen, context, round_):
    """The page that was opened after the closed one."""
    context.set_offline(True)
    seats = []
    for grade in "012":
        seats.append(seat_shown(screen))
        press(screen, grade)
    press(screen, "m", "n")
    screen.keyboard.type("The mode is missing.")
    screen.keyboard.press("Escape")
    press(screen, "x")
    expect(screen.locator("[data-unsent]")).to_have_text("3 unsent")
    expect(screen.get_by_text("3 grades could not be sent.")).to_be_visible()
    assert not set(seats) & set(live(round_))
    looking.clean(screen, "judging-open", full=False)

    context.set_offline(False)
    sent(screen)
    assert [live(round_)[seat] for seat in seats] == [0, 1, 2]

    screen.keyboard.press("Escape")
    screen.route("**/judgements/", lambda route: route.abort())
    seat, address = seat_shown(screen), screen.url
    press(screen, "3")
    expect(screen.locator("[data-unsent]")).to_have_text("1 unsent")
    screen.close()
    later = context.new_page()
    go(later, address)
    sent(later)
    assert live(round_)[seat] == 3
    assert seat_shown(later) != seat
    return later


def a_grade_is_sent_again_until_the_server_has_it_once(screen, context, live_server, round_, mara):
    lost, refused = [], []
    busy = {"code": "database_busy", "detail": "Something long is being written to the database."}

    def lose(route):
        lost.append(route.fetch().status)
        route.abort()

    def refuse(route):
        refused.append(route.request.post_data_json["idempotency_key"])
        route.fulfill(status=503, json=busy, headers={"Retry-After": "1"})

    screen.route("**/judgements/", lose, times=1)
    seat = seat_shown(screen)
    press(screen, "2")
    looking.try_now(screen)
    sent(screen)
    assert lost == [201]
    assert Judgement.objects.filter(seat=seat).count() == 1

    screen.route("**/judgements/", refuse, times=1)
    seat = seat_shown(screen)
    with screen.expect_response(lambda response: response.status == 201) as taken:
        press(screen, "2")
        expect(screen.get_by_text("sent again every 1 second. Something long is being written")).to_be_visible()
    sent(screen)
    assert taken.value.request.post_data_json["idempotency_key"] == refused[0]
    assert live(round_)[seat] == 2

    context.clear_cookies()
    seat = seat_shown(screen)
    press(screen, "2")
    expect(screen.get_by_text("you are signed out")).to_be_visible()
    looking.sign_in(context, live_server.url, mara)
    context.new_page().goto(f"/p/{round_.project.slug}/judging/")
    screen.bring_to_front()
    looking.try_now(screen)
    sent(screen)
    assert live(round_)[seat] == 2


def a_grade_that_is_refused_says_why_until_it_is_read(screen, round_):
    refusal = {"code": "seat_lapsed", "detail": "It went to somebody else."}
    screen.route("**/judgements/", lambda route: route.fulfill(status=409, json=refusal))
    seat = seat_shown(screen)
    press(screen, "2")

    told = screen.get_by_text(re.compile(r"Q0\d\d, grade 2 was not accepted: It went to somebody else\."))
    expect(told).to_be_visible()
    assert seat not in live(round_)
    screen.unroute("**/judgements/")
    screen.reload()
    expect(told).to_be_visible()
    ready(screen)
    screen.get_by_role("button", name="I have read this").click()
    expect(told).to_be_hidden()
    screen.reload()
    ready(screen)
    expect(told).to_be_hidden()


@pytest.mark.parametrize("view", ["pair", "query"])
def test_the_first_page_is_small_with_everything_it_loads(page, untouched, signed_in, view):
    signed_in(people_of(untouched)[0])
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    # Of a query all pairs come with the page; of pairs, the first few.
    with page.expect_response("**/pairs/**") if view == "pair" else nullcontext():
        go(page, f"{screen_of(untouched)}?view={view}")

    bodies = [answer.body() for answer in answers if answer.ok]
    size = sum(len(gzip.compress(body)) for body in bodies)
    print(f"first judging page, {view}: {size:,} bytes compressed in {len(bodies)} answers")
    assert size <= 60_000


def test_it_works_without_a_script(new_context, live_server, untouched):
    context = new_context(java_script_enabled=False)
    looking.sign_in(context, live_server.url, people_of(untouched)[0])
    page = context.new_page()
    page.goto(screen_of(untouched))
    first = seat_shown(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Answers part").click()
    second = seat_shown(page)
    page.locator("summary", has_text="Can’t judge").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Needs an expert").click()
    with page.expect_navigation():
        page.locator("[data-undo]").click()

    assert live(untouched) == {first: 2, second: None}
    assert seat_shown(page) == second


def test_the_last_grades_are_counted_within_ones_share_and_beyond_and_said_to_be_saved(page, signed_in):
    the_page_says_that_the_last_grade_is_being_saved(page, signed_in)
    page.unroute_all()
    the_counter_stays_at_ones_share_when_one_goes_on(page, signed_in)


def the_counter_stays_at_ones_share_when_one_goes_on(page, signed_in):
    round_ = make_round(queries=1, blocks=10, overlap=0.0)
    signed_in(people_of(round_)[0])
    go(page, screen_of(round_))
    for place in range(1, 6):
        expect(page.locator(".count")).to_have_text(f"pair {place} of 5")
        press(page, "1")

    expect(page.get_by_role("heading", name="Your share of Round 1 is done")).to_be_visible()
    expect(page.get_by_text("5 more pairs are open to you")).to_be_visible()
    page.get_by_role("link", name="Go on helping").click()
    expect(page.locator(".count")).to_have_text("pair 6 past your 5")
    expect(page.locator("[data-own]")).to_contain_text("your share of 5 is done")
    press(page, "u")
    expect(page.locator(".count")).to_have_text("pair 5 of 5")


def the_page_says_that_the_last_grade_is_being_saved(page, signed_in):
    round_ = make_round(queries=1, blocks=3, overlap=1.0)
    signed_in(people_of(round_)[0])
    page.route("**/pairs/**", lambda route: route.abort())  # so that the page does not know that no pair is left
    go(page, screen_of(round_))
    for place in (1, 2, 3):
        expect(page.locator("[data-own]")).to_contain_text(f"{place - 1} sent")
        if place == 3:
            page.route("**/judgements/", lambda route: None)
        press(page, "1")

    expect(page.locator("[data-read]")).to_contain_text("Saving your last grade")
    expect(page.locator("[data-read]")).not_to_contain_text("The next pair is loading")
