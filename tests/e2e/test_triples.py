"""Writing, reviewing and settling a triple in a browser, by keyboard."""

import pytest
from playwright.sync_api import Page, expect

from apps.review.actions import post_message, revise
from apps.review.enums import Category, Reason
from apps.review.models import Verdict
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e.triples_world import Team, make_handbook
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


@pytest.fixture
def team() -> Team:
    return make_handbook()


def stands(page: Page, heading: str) -> None:
    """The next page is there with this heading, its scripts too, so that keys are heard."""
    expect(page.locator("h1")).to_contain_text(heading)
    page.wait_for_load_state("load")


def marked(page: Page) -> str:
    return page.locator("#read mark").all_inner_texts()


# The bench -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def bench(page, team, signed_in):
    signed_in(team.jun)
    page.goto(f"{team.home}/triples/bench/?q=backup+encryption+at+rest&block={team.block('SEC-4.2').pk}")
    return page


def test_the_bench_looks_as_drawn(bench, look_at, axe_clean, witness):
    bench.get_by_label("Question", exact=False).first.fill("Which cipher protects customer backups at rest?")
    bench.get_by_label("Expected answer").fill("AES-256, with a separate data key for each archive.")
    bench.locator("#read [data-doc]").focus()
    for _ in range(3):
        bench.keyboard.press("m") if not bench.evaluate("getSelection().toString()") else bench.keyboard.press(
            "ArrowDown"
        )
    bench.keyboard.press("m")
    expect(bench.locator("#read mark")).to_have_count(1)
    expect(bench.locator(".checks")).to_contain_text("Answer: AES-256. Evidence: AES-256-GCM.")
    expect(bench.locator("[data-saved]")).to_contain_text("saved at")
    expect(bench.locator(".checks")).not_to_contain_text("Nearly the same question exists")

    axe_clean(bench)
    look_at(bench, "bench", full=False)
    assert witness.drain() == []


def test_evidence_is_marked_by_keyboard_and_unmarked_by_u(bench):
    bench.keyboard.press("m")
    bench.keyboard.press("ArrowDown")
    bench.keyboard.press("ArrowDown")
    bench.keyboard.press("m")
    expect(bench.locator("#read mark")).to_have_count(1)
    assert marked(bench)[0].startswith("Archives leave the source region encrypted with AES-256-GCM")
    expect(bench.locator("#marked")).to_have_text("1 span, 17 words")

    bench.keyboard.press("u")

    expect(bench.locator("#read mark")).to_have_count(0)


def test_evidence_is_marked_by_mouse(bench):
    bench.locator("#read [data-at]").nth(1).dblclick(position={"x": 30, "y": 14})
    bench.get_by_role("button", name="Mark selection").click()

    expect(bench.locator("#read mark")).to_have_count(1)
    assert marked(bench)[0] in {"Archives", "leave"}


def test_enter_opens_the_first_block_found_and_keeps_what_was_written(bench):
    question = bench.get_by_label("Question", exact=False).first
    question.fill("How long does emergency access stay open?")
    question.blur()
    bench.keyboard.press("/")
    bench.keyboard.type("break glass session")
    expect(bench.locator(".results li").first).to_contain_text("3.6 Break-glass access")

    bench.keyboard.press("Enter")

    expect(bench.locator("#read .docpath")).to_contain_text("3.6 Break-glass access")
    expect(question).to_have_value("How long does emergency access stay open?")


def test_from_search_to_submit_without_the_mouse(bench, team):
    bench.keyboard.press("/")
    bench.keyboard.type("break glass session")
    expect(bench.locator(".results li").first).to_contain_text("3.6 Break-glass access")
    bench.keyboard.press("Escape")
    bench.keyboard.press("j")
    bench.keyboard.press("Enter")
    expect(bench.locator("#read .docpath")).to_contain_text("3.6 Break-glass access")
    bench.locator("#main").focus()
    for key in ("m", "ArrowDown", "ArrowDown", "m"):
        bench.keyboard.press(key)
    expect(bench.locator("#read mark")).to_have_count(1)
    bench.get_by_label("Question", exact=False).first.focus()
    bench.keyboard.type("How long does emergency access stay open?")
    bench.keyboard.press("Tab")
    bench.keyboard.type("At most eight hours.")
    expect(bench.locator("#finish")).to_contain_text("Goes to two reviewers")
    bench.keyboard.press("Control+Enter")

    expect(bench.locator("#notices")).to_contain_text("went to two reviewers, round 1")
    triple = Triple.objects.get()
    block = triple.current.expected_blocks.get()
    assert (triple.state, block.version.block) == (State.IN_REVIEW, team.block("SEC-3.6"))
    assert [block.version.text[a:b] for a, b in block.spans] == ["A session lasts at most eight hours."]


def test_two_tabs_cannot_overwrite_each_other(bench, context, team):
    bench.get_by_label("Question", exact=False).first.fill("First words?")
    bench.get_by_role("button", name="Save draft").click()
    expect(bench.locator("#notices")).to_contain_text("T-0001 is saved")
    other = context.new_page()
    other.goto(bench.url)
    other.get_by_label("Question", exact=False).first.fill("Second words?")
    other.get_by_role("button", name="Save draft").click()
    expect(other.locator("#notices")).to_contain_text("saved")

    bench.get_by_label("Question", exact=False).first.fill("Third words?")
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
    page.goto(f"{team.home}/review/next/")
    return page


def test_the_review_screen_looks_as_drawn(review, look_at, axe_clean, witness):
    for key in ("f", "4", "q"):
        review.keyboard.press(key)
    review.keyboard.press("n")
    review.keyboard.type("The block sets a limit of eight hours; “about” lets nine pass.")
    review.keyboard.press("Escape")

    expect(review.get_by_role("button", name="Flag", exact=False).first).to_have_attribute("aria-pressed", "true")
    axe_clean(review)
    look_at(review, "review", full=False)
    assert witness.drain() == []


def test_a_flag_by_keys_alone(review):
    for key in ("f", "4", "q", "n"):
        review.keyboard.press(key)
    review.keyboard.type("Too much, c and f typed here.")
    review.keyboard.press("Escape")
    review.keyboard.press("Enter")

    stands(review, "Who ends it?")
    verdict = Verdict.objects.get()
    assert (verdict.choice, verdict.reasons, verdict.category) == ("flag", ["overstated"], "numeric")
    assert verdict.note == "Too much, c and f typed here."


def test_confirming_skipping_and_undoing(review):
    review.keyboard.press("Enter")
    assert not Verdict.objects.exists()
    review.keyboard.press("s")
    stands(review, "Who ends it?")
    review.keyboard.press("s")
    stands(review, "break-glass")
    review.keyboard.press("c")
    review.keyboard.press("Enter")
    stands(review, "Who ends it?")
    assert Verdict.objects.get().choice == "confirm"

    review.keyboard.press("u")
    stands(review, "break-glass")
    for key in ("f", "2", "Enter"):
        review.keyboard.press(key)
    stands(review, "Who ends it?")

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


def test_the_dispute_page_looks_as_drawn(page, team, signed_in, look_at, axe_clean, witness):
    triple = make_second_dispute(team)
    signed_in(team.jun)
    page.goto(f"{team.home}/review/triples/{triple.pk}/")

    expect(page.locator(".policy")).to_contain_text("Split it into atomic claims")
    axe_clean(page)
    look_at(page, "dispute")
    page.keyboard.press("v")
    expect(page.locator("[data-pair]").first).to_be_visible()
    page.keyboard.press("s")
    expect(page.locator("#question-1")).to_be_focused()
    axe_clean(page)
    look_at(page, "dispute-split")
    assert witness.drain() == []


def test_a_flag_is_answered_by_a_revision_and_both_confirm(page, team, signed_in):
    triple = make_disputed(team.project, author=team.jun, snapshot=team.snapshot, **ACCESS)
    signed_in(team.jun)
    page.goto(f"{team.home}/review/triples/{triple.pk}/")
    page.keyboard.press("r")
    answer_field = page.get_by_label("Expected answer")
    expect(answer_field).to_have_value(ACCESS["answer"])
    page.wait_for_load_state("load")
    answer_field.fill("At most eight hours; it closes by itself.")
    expect(page.locator("#finish")).to_contain_text("Opens a new round")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#notices")).to_contain_text("round 2")

    for reviewer in reviewers_of(triple):
        signed_in(reviewer)
        page.goto(f"{team.home}/review/next/")
        expect(page.locator("ins").first).to_be_visible()
        page.keyboard.press("c")
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_contain_text("confirmed")

    assert (reload(triple).state, reload(triple).resolution) == (State.ACCEPTED, "revised")


def test_the_flagger_withdraws_by_the_synonym_policy(page, team, signed_in):
    triple = make_disputed(
        team.project, author=team.jun, snapshot=team.snapshot, flag={"category": "synonym"}, **ACCESS
    )
    signed_in(reviewers_of(triple)[1])
    page.goto(f"{team.home}/review/triples/{triple.pk}/")
    page.keyboard.press("w")
    expect(page.get_by_label("Synonym or tense")).to_be_checked()
    page.wait_for_load_state("load")
    page.get_by_role("button", name="Withdraw the flag").last.focus()
    page.get_by_role("button", name="Withdraw the flag").first.press("Enter")

    expect(page.locator("#notices")).to_contain_text("is accepted")
    assert reload(triple).resolution == "policy:synonym"


def test_the_lists_look_calm(page, team, signed_in, look_at, axe_clean):
    make_second_dispute(team)
    make_in_review(team.project, author=team.jun, snapshot=team.snapshot, **ACCESS)
    signed_in(team.petra)
    page.goto(f"{team.home}/review/")
    axe_clean(page)
    look_at(page, "review-queue")
    signed_in(team.jun)
    page.goto(f"{team.home}/triples/")
    axe_clean(page)
    look_at(page, "triples")
