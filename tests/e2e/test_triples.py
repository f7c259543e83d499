"""Writing, reviewing and settling a triple in a browser, by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from apps.review.actions.disputes import post_message
from apps.review.actions.submitting import revise
from apps.review.enums import Category, Reason
from apps.review.models import Verdict
from apps.triples.models import Triple
from tests.e2e.triples_world import Team, make_handbook
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.factories import AT
from tests.review.factories import answer, make_disputed, make_in_review, reload, reviewers_of
from tests.triples.factories import make_wording

pytestmark = pytest.mark.django_db(transaction=True)

ACCESS = {
    "key": "SEC-3.6",
    "question": "How long does a break-glass session to production stay open?",
    "answer": "About eight hours, after which it closes and a new approval is needed.",
    "evidence": "A session lasts at most eight hours. It closes by itself at the end of the incident or when the eight"
    " hours are over, whichever comes first;",
    "domain": "access",
}


team = shared(make_handbook)


def leads(page: Page, key: str, heading: str) -> None:
    """The key leads to the page with this heading."""
    with turned(page):
        press(page, key)
    expect(page.locator("h1")).to_contain_text(heading)


def marked(page: Page) -> list[str]:
    return page.locator("#read mark").all_inner_texts()


# The bench -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(page, team, signed_in):
    signed_in(team.jun)
    go(page, f"{team.home}/triples/bench/?q=backup+encryption+at+rest&block={team.block('SEC-4.2').pk}")
    return page


@pytest.mark.slow
def test_the_bench_looks_as_drawn(bench, look_at, axe_clean, witness):
    bench.get_by_label("Question", exact=False).first.fill("Which cipher protects customer backups at rest?")
    bench.get_by_label("Expected answer").fill("AES-256, with a separate data key for each archive.")
    bench.locator("#read [data-doc]").focus()
    press(bench, "m", "ArrowDown", "ArrowDown", "m")
    expect(bench.locator("#read mark")).to_have_count(1)
    expect(bench.locator(".checks")).to_contain_text("Answer: AES-256. Evidence: AES-256-GCM.")
    expect(bench.locator("[data-bench]")).to_have_attribute("data-holds", "saved")
    expect(bench.locator(".checks")).not_to_contain_text("Nearly the same question exists")

    axe_clean(bench)
    look_at(bench, "bench", full=False)
    assert witness.drain() == []


def test_evidence_is_marked_by_keyboard_and_unmarked_by_u(bench):
    press(bench, "m", "ArrowDown", "ArrowDown", "m")
    expect(bench.locator("#read mark")).to_have_count(1)
    assert marked(bench)[0].startswith("Archives leave the source region encrypted with AES-256-GCM")
    expect(bench.locator("#marked")).to_have_text("1 span, 17 words")

    press(bench, "u")

    expect(bench.locator("#read mark")).to_have_count(0)


def test_evidence_is_marked_by_mouse(bench):
    bench.locator("#read [data-at]").nth(1).dblclick(position={"x": 30, "y": 14})
    bench.get_by_role("button", name="Mark selection").click()

    expect(bench.locator("#read mark")).to_have_count(1)
    assert marked(bench)[0] in {"Archives", "leave"}


def test_enter_opens_the_first_result_and_keeps_the_text(bench):
    question = bench.get_by_label("Question", exact=False).first
    question.fill("How long does emergency access stay open?")
    question.blur()
    press(bench, "/")
    bench.keyboard.type("break glass session")
    expect(bench.locator("[data-found-for='break glass session']")).to_be_visible()
    expect(bench.locator(".search-results li").first).to_contain_text("3.6 Break-glass access")

    press(bench, "Enter")

    expect(bench.locator("#read .docpath")).to_contain_text("3.6 Break-glass access")
    expect(question).to_have_value("How long does emergency access stay open?")


def test_two_tabs_cannot_overwrite_each_other(bench, context, team):
    bench.get_by_label("Question", exact=False).first.fill("First words?")
    with turned(bench):
        bench.get_by_role("button", name="Save draft").click()
    expect(bench.locator("#notices")).to_contain_text("T-0001 is saved")
    other = context.new_page()
    go(other, bench.url)
    other.get_by_label("Question", exact=False).first.fill("Second words?")
    with turned(other):
        other.get_by_role("button", name="Save draft").click()
    expect(other.locator("#notices")).to_contain_text("saved")

    bench.route("**/autosave/", lambda route: route.abort())
    bench.get_by_label("Question", exact=False).first.fill("Third words?")
    with turned(bench):
        bench.get_by_role("button", name="Save draft").click()

    expect(bench.get_by_role("alert")).to_contain_text("saved elsewhere")
    expect(bench.get_by_label("Question", exact=False).first).to_have_value("Third words?")
    assert Triple.objects.get().current.question == "Second words?"


# Review --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def review(page, team, signed_in):
    """The review screen of the person in the first seat, with a second triple behind it."""
    triple = make_in_review(team.project, author=team.jun, snapshot=team.snapshot, **ACCESS)
    make_in_review(team.project, author=team.jun, snapshot=team.snapshot, **(ACCESS | {"question": "Who ends it?"}))
    page.triple, page.reviewer = triple, reviewers_of(triple)[0]
    signed_in(page.reviewer)
    go(page, f"{team.home}/review/next/")
    return page


@pytest.mark.slow
def test_the_review_screen_looks_as_drawn(review, look_at, axe_clean, witness):
    press(review, "f", "4", "q", "n")
    review.keyboard.type("The block sets a limit of eight hours; “about” lets nine pass.")
    review.keyboard.press("Escape")

    expect(review.get_by_role("button", name="Flag", exact=False).first).to_have_attribute("aria-pressed", "true")
    axe_clean(review)
    look_at(review, "review", full=False)
    assert witness.drain() == []


def test_a_flag_by_keys_alone(review):
    press(review, "f", "4", "q", "n")
    review.keyboard.type("Too much, c and f typed here.")
    press(review, "Escape")
    leads(review, "Enter", "Who ends it?")

    verdict = Verdict.objects.get()
    assert (verdict.choice, verdict.reasons, verdict.category) == ("flag", ["overstated"], "numeric")
    assert verdict.note == "Too much, c and f typed here."


def test_confirming_skipping_and_undoing(review):
    press(review, "Enter")
    assert not Verdict.objects.exists()
    leads(review, "s", "Who ends it?")
    leads(review, "s", "break-glass")
    press(review, "c")
    leads(review, "Enter", "Who ends it?")
    assert Verdict.objects.get().choice == "confirm"

    leads(review, "u", "break-glass")
    press(review, "f", "2")
    leads(review, "Enter", "Who ends it?")

    assert Verdict.objects.filter(superseded_by=None).get().reasons == ["wrong_block"]


# Disputes ------------------------------------------------------------------------------------------------------------


def make_second_dispute(team: Team) -> Triple:
    """Disputed twice: overstated in round 1, a compound claim in round 2."""
    triple = make_disputed(
        team.project,
        author=team.jun,
        snapshot=team.snapshot,
        key="PLA-6.3",
        question="How often is a customer’s root key rotated?",
        answer="Root keys are rotated every year, and the customer is informed.",
        evidence="at least every twelve months",
    )
    wording = make_wording(
        team.snapshot,
        key="PLA-6.3",
        question="How often is a customer’s root key rotated, and who is told?",
        answer="Root keys are rotated at least every twelve months, and the customer is told thirty days ahead.",
        evidence="at least every twelve months, and at once when a custodian leaves. The customer’s security contact"
        " is told thirty days before a planned rotation",
    )
    revise(project=team.project, triple_id=triple.pk, author=team.jun, snapshot=team.snapshot, wording=wording, at=AT)
    confirmer, flagger = reviewers_of(triple)
    answer(triple, confirmer)
    answer(
        triple,
        flagger,
        "flag",
        reasons=[Reason.UNDERSTATED],
        category=Category.COMPOUND,
        note="Two claims now sit in one answer. Either would do on its own.",
    )
    said = {"project": team.project, "triple_id": triple.pk, "at": AT}
    post_message(**said, author=team.jun, text="I would rather split than write one long sentence.")
    post_message(**said, author=flagger, text="Split works for me.")
    return reload(triple)


@pytest.mark.slow
def test_the_dispute_page_looks_as_drawn(page, team, signed_in, look_at, axe_clean, witness):
    triple = make_second_dispute(team)
    signed_in(team.jun)
    go(page, f"{team.home}/review/triples/{triple.pk}/")

    expect(page.locator(".policy-notice")).to_contain_text("Split it into atomic claims")
    axe_clean(page)
    look_at(page, "dispute")
    press(page, "v")
    expect(page.locator("[data-pair]").first).to_be_visible()
    with turned(page):
        press(page, "s")
    expect(page.locator("#question-1")).to_be_focused()
    axe_clean(page)
    look_at(page, "dispute-split")
    assert witness.drain() == []


@pytest.mark.slow
def test_the_lists_look_calm(page, team, signed_in, look_at, axe_clean):
    make_second_dispute(team)
    make_in_review(team.project, author=team.jun, snapshot=team.snapshot, **ACCESS)
    signed_in(team.petra)
    go(page, f"{team.home}/review/")
    axe_clean(page)
    look_at(page, "review-queue")
    signed_in(team.jun)
    go(page, f"{team.home}/triples/")
    axe_clean(page)
    look_at(page, "triples")
