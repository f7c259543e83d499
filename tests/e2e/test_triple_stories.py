"""What becomes of a triple, told in a browser from the bench to its end: keys only, each page clean in both themes."""

from collections.abc import Iterator

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.models import User
from apps.corpus.execution.search_index import index_snapshot
from apps.triples.actions.triples import refresh_staleness, start_draft
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e.keyboard import Keyboard
from tests.e2e.triples_world import TEXTS, TITLES, Team, make_handbook
from tests.e2e.waiting import settled
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of
from tests.review.factories import make_accepted, reload, reviewers_of
from tests.triples.factories import make_snapshot, make_wording

pytestmark = pytest.mark.django_db(transaction=True)


ASKED = "How long does emergency access stay open?"


team = shared(make_handbook)


@pytest.fixture
def keys(context, live_server) -> Iterator[Keyboard]:
    keyboard = Keyboard(context, live_server.url)
    yield keyboard
    assert keyboard.pointers == []


def write_and_submit(keys: Keyboard, team: Team, answer: str = "At most eight hours.", asks: str = ASKED) -> Triple:
    """Find the block, mark the evidence, write, submit: from an empty bench, as Jun."""
    keys.sit_down(team.jun, f"{team.home}/triples/bench/")
    keys.press("/")
    keys.type("break glass session")
    expect(keys.page.locator("[data-found-for='break glass session']")).to_be_visible()
    keys.reads("3.6 Break-glass access", ".search-results li")
    keys.press("Escape", "j", "Enter")
    keys.reads("3.6 Break-glass access", "#read .docpath")
    keys.tab_to(keys.page.locator("#read [data-doc]"))
    keys.press("m", "ArrowDown", "ArrowDown", "Enter")
    keys.reads("A session lasts at most eight hours.", "#read mark")
    settled(keys.page)
    keys.look_over()
    keys.write_into(keys.page.locator("#id_question"), asks)
    keys.press("Tab")
    keys.type(answer)
    keys.reads("Goes to two reviewers", "#finish")
    keys.turn("Control+Enter")
    keys.reads("went to two reviewers, round 1", "#notices")
    triple = Triple.objects.latest("pk")
    block = triple.current.expected_blocks.get()
    assert block.version.block == team.block("SEC-3.6")
    assert [block.version.text[start:end] for start, end in block.spans] == ["A session lasts at most eight hours."]
    return triple


def answer(keys: Keyboard, team: Team, reviewer: User, *pressed: str, why: str = "", asks: str = ASKED) -> None:
    keys.sit_down(reviewer, f"{team.home}/review/next/")
    keys.reads(asks)
    keys.press(*pressed)
    if why:
        keys.press("n")
        keys.type(why)
        keys.press("Escape")
    keys.look_over()
    keys.turn("Enter")
    expect(keys.page.locator(".toast")).to_be_visible()


def open_triple(keys: Keyboard, team: Team, person: User, triple: Triple) -> None:
    keys.sit_down(person, f"{team.home}/review/triples/{triple.pk}/")
    keys.reads(ASKED)
    keys.look_over()


def test_a_flag_is_answered_by_a_revision_that_both_confirm_or_withdrawn_as_no_fault(keys, team):
    triple = write_and_submit(keys, team)
    confirmer, flagger = reviewers_of(triple)
    answer(keys, team, confirmer, "c")
    answer(keys, team, flagger, "f", "5", "9", why="It also closes when the incident ends.")

    open_triple(keys, team, team.jun, triple)
    keys.turn("r")
    keys.reads("At most eight hours", "#id_answer")
    keys.write_into(keys.page.locator("#id_answer"), "At most eight hours; it cannot go on longer.")
    keys.reads("Opens a new round", "#finish")
    keys.turn("Control+Enter")
    keys.reads("round 2", "#notices")
    for reviewer in (confirmer, flagger):
        answer(keys, team, reviewer, "c")

    assert (reload(triple).state, reload(triple).resolution) == (State.ACCEPTED, "revised")

    triple = write_and_submit(keys, team, "No longer than eight hours.", asks=f"{ASKED} And when asked again?")
    confirmer, flagger = reviewers_of(triple)
    answer(keys, team, confirmer, "c")
    answer(keys, team, flagger, "f", "3", "8", why="It says “at most”.")
    open_triple(keys, team, flagger, triple)
    keys.turn("w")
    keys.reads("Withdraw the flag", "#doing h2")
    keys.tab_to(keys.page.locator("#doing button"))
    keys.turn("Enter")
    keys.reads("is accepted", "#notices")
    assert (reload(triple).state, reload(triple).resolution) == (State.ACCEPTED, "policy:synonym")


def test_a_compound_claim_is_split_into_two_that_are_accepted(keys, team):
    triple = write_and_submit(keys, team, "At most eight hours, and it cannot be extended.")
    confirmer, flagger = reviewers_of(triple)
    answer(keys, team, confirmer, "c")
    answer(keys, team, flagger, "f", "4", "9", why="Two facts, and the mark holds one.")

    open_triple(keys, team, team.jun, triple)
    keys.turn("l")
    keys.reads("Split it into claims")
    keys.look_over()
    asks = ("How long may break-glass access last?", "Can break-glass access be extended?")
    answers = ("At most eight hours.", "No, it cannot be extended.")
    for number, (question, answer_) in enumerate(zip(asks, answers, strict=True), start=1):
        keys.write_into(keys.page.locator(f"#question-{number}"), question)
        keys.write_into(keys.page.locator(f"#answer-{number}"), answer_)
    second = keys.page.get_by_role("group", name="Evidence of claim 2")
    keys.tab_to(second.get_by_text("Other sentences of this passage"))
    keys.press("Enter")
    keys.tab_to(second.get_by_label("It closes by itself", exact=False).first)
    keys.press("Space")
    keys.reads("The answer has no figures to compare.", "#checks-2")
    settled(keys.page)
    keys.tab_to(keys.page.locator("#answer-2"))
    keys.turn("Control+Enter")
    keys.reads("is split into", "#notices")

    children = list(Triple.objects.filter(parent=triple).order_by("number"))
    for child, asked in zip(children, asks, strict=True):
        keys.sit_down(team.jun, f"{team.home}/triples/{child.pk}/bench/")
        expect(keys.page.locator("#id_question")).to_have_value(asked)
        keys.look_over()
        keys.tab_to(keys.page.locator("#id_answer"))
        keys.turn("Control+Enter")
        keys.reads("went to two reviewers", "#notices")
        for reviewer in reviewers_of(child):
            answer(keys, team, reviewer, "c", asks=asked)

    open_triple(keys, team, team.jun, triple)
    assert [reload(child).state for child in children] == [State.ACCEPTED] * 2
    assert reload(triple).state == State.SPLIT
    for child in children:
        expect(keys.page.get_by_role("link", name=child.label).first).to_be_visible()


def test_a_stale_triple_is_pinned_to_the_new_text_and_a_candidate_of_a_machine_is_adopted(keys, team):
    triple = make_accepted(
        team.project,
        author=team.jun,
        snapshot=team.snapshot,
        key="SEC-3.6",
        question=ASKED,
        answer="At most eight hours.",
        evidence="A session lasts at most eight hours.",
    )
    texts = TEXTS | {"SEC-3.6": TEXTS["SEC-3.6"].replace("It closes by itself", "It ends on its own")}
    newer = make_snapshot(team.project, texts, titles=TITLES, corpus=team.snapshot.corpus)
    index_snapshot(newer)
    refresh_staleness(project=team.project, snapshot=newer, at=AT)

    keys.sit_down(team.jun, f"{team.home}/review/stale/")
    keys.look_over()
    keys.turn("Enter")
    keys.reads(ASKED)
    expect(keys.page.locator("ins").first).to_contain_text("ends on its own")
    keys.look_over()
    keys.turn("p")
    keys.reads("pinned to the new text", "#notices")
    assert reload(triple).state == State.IN_REVIEW
    for reviewer in reviewers_of(triple):
        answer(keys, team, reviewer, "c")

    assert (reload(triple).state, reload(triple).is_stale) == (State.ACCEPTED, False)
    assert reload(triple).revision.snapshot == newer

    candidate = start_draft(
        project=team.project,
        author=lead_of(team.project),
        snapshot=newer,
        wording=make_wording(newer, key="SEC-3.6", question=ASKED),
        is_machine_written=True,
        at=AT,
    )
    keys.sit_down(team.jun, reverse("triples:candidate", args=[team.project.slug, candidate.pk]))
    keys.reads(ASKED)
    keys.look_over()
    keys.turn("a")
    expect(keys.page.locator("#id_question")).to_have_value(ASKED)
    assert (reload(candidate).adopted_by, reload(candidate).author) == (team.jun, team.jun)
