"""Reviews, disputes, the guided split and stale Q&As in a browser: keys and where the focus goes."""

import re

import pytest
from playwright.sync_api import Page, expect

from apps.corpus.execution.search_index import index_snapshot
from apps.review.models import Verdict
from apps.triples.actions.triples import refresh_staleness
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.triples_world import ACCESS, TEXTS, TITLES, Team, make_handbook, make_second_dispute
from tests.e2e.waiting import go, press, settled, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of
from tests.review.factories import make_accepted, make_in_review, reload, reviewers_of
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


team = shared(make_handbook)


@pytest.fixture
def stale(team) -> list[Triple]:
    """Three stale Q&As: the evidence kept, the evidence gone, and the block gone."""
    made = [
        make_accepted(team.project, author=team.jun, snapshot=team.snapshot, **ACCESS),
        make_accepted(
            team.project,
            author=team.jun,
            snapshot=team.snapshot,
            key="PLA-6.3",
            question="How often is a customer’s root key rotated?",
            answer="At least every twelve months.",
            evidence="at least every twelve months",
        ),
        make_accepted(
            team.project,
            author=team.jun,
            snapshot=team.snapshot,
            key="SEC-2.8",
            question="What is said of laptops?",
            answer=TEXTS["SEC-2.8"].split(".")[0] + ".",
            evidence=TEXTS["SEC-2.8"].split(".")[0] + ".",
        ),
    ]
    texts = TEXTS | {
        "SEC-3.6": TEXTS["SEC-3.6"].replace("it cannot be extended", "it may be extended once"),
        "PLA-6.3": TEXTS["PLA-6.3"].replace("every twelve months", "every six months"),
    }
    del texts["SEC-2.8"]
    newer = make_snapshot(team.project, texts, titles=TITLES, corpus=team.snapshot.corpus)
    index_snapshot(newer)
    refresh_staleness(project=team.project, snapshot=newer, at=AT)
    return [reload(triple) for triple in made]


def leads(page: Page, key: str, heading: str) -> None:
    """The key leads to the page with this heading."""
    with turned(page):
        press(page, key)
    expect(page.locator("h1")).to_contain_text(heading)


def at(page: Page, team: Team, triple: Triple) -> None:
    go(page, f"{team.home}/review/triples/{triple.pk}/")


# The review ----------------------------------------------------------------------------------------------------------


def test_a_reviewer_skips_confirms_undoes_and_flags_by_keys_alone(page, team, signed_in, witness):
    triple, other = (
        make_in_review(team.project, author=team.jun, snapshot=team.snapshot, **(ACCESS | asked))
        for asked in ({}, {"question": "Who ends it?"})
    )
    signed_in(reviewers_of(triple)[0])
    go(page, f"{team.home}/review/next/")
    press(page, "Enter")
    assert not Verdict.objects.exists()
    leads(page, "s", "Who ends it?")
    leads(page, "s", "break-glass")
    press(page, "c")
    leads(page, "Enter", "Who ends it?")
    assert Verdict.objects.get().choice == "confirm"

    leads(page, "u", "break-glass")
    press(page, "f", "2")
    leads(page, "Enter", "Who ends it?")
    assert Verdict.objects.filter(superseded_by=None).get().reasons == ["wrong_block"]

    press(page, "f", "4", "7", "n")
    page.keyboard.type("Too much, c and f typed here.")
    press(page, "Escape")
    expect(page.get_by_role("button", name="Flag", exact=False).first).to_have_attribute("aria-pressed", "true")
    looking.clean(page, "review", full=False)
    with turned(page):
        press(page, "Enter")
    verdict = Verdict.objects.get(revision__triple=other)
    assert (verdict.choice, verdict.reasons, verdict.category) == ("flag", ["overstated"], "numeric")
    assert verdict.note == "Too much, c and f typed here."
    assert witness.drain() == []


# The dispute ---------------------------------------------------------------------------------------------------------


def a_dispute_is_read_side_by_side_and_dropped_in_a_dialog_by_keys(page, team):
    triple = make_second_dispute(team)
    at(page, team, triple)
    expect(page.locator(".policy-notice")).to_contain_text("Split it into atomic claims")
    press(page, "v")
    expect(page.locator("[data-pair]").first).to_be_visible()
    expect(page.locator("[data-pair] del").first).to_be_visible()
    looking.clean(page, "dispute-side-by-side")

    press(page, "d")
    expect(page.get_by_role("dialog", name="Drop T-")).to_be_visible()
    expect(page.get_by_label("Reason")).to_be_focused()
    looking.clean(page, "dispute-drop", full=False)
    press(page, "Escape")
    expect(page.locator("#act-drop")).to_be_focused()
    press(page, "d")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("Nobody asks this.")
    with turned(page):
        press(page, "Control+Enter")
    expect(page.locator("#notices")).to_contain_text("is dropped")
    assert reload(triple).state == State.DROPPED


def test_a_form_of_a_dispute_has_the_focus_gives_it_back_and_sends_it_to_two_others(page, team, signed_in, witness):
    triple = make_second_dispute(team)
    for person, key, name in ((reviewers_of(triple)[1], "w", "withdraw"), (lead_of(team.project), "a", "adjudicate")):
        signed_in(person)
        at(page, team, triple)
        with turned(page):
            press(page, key)
        expect(page.locator("[data-doing] input:focus")).to_have_count(1)
        looking.clean(page, f"dispute-{name}")
        with turned(page):
            press(page, "Escape")
        expect(page.locator("#doing")).to_have_count(0)
        expect(page.locator(f"#act-{name}")).to_be_focused()
        with turned(page):
            press(page, "Escape")
        expect(page).to_have_url(re.compile(r"/review/$"))

    at(page, team, triple)
    expect(page.locator(".verdict-history")).to_contain_text("Confirmed by")
    expect(page.locator(".thread").first).to_contain_text("Either would do on its own.")
    with turned(page):
        press(page, "a")
    press(page, "2", "n")
    page.keyboard.type("The note is not what was asked.")
    with turned(page):
        press(page, "Control+Enter")
    expect(page.locator("#notices")).to_contain_text("is in review")
    assert reload(triple).round == 3
    assert witness.drain() == []


def test_a_dispute_is_dropped_in_a_dialog_or_split_by_keys(page, team, signed_in, witness):
    signed_in(team.jun)
    a_dispute_is_read_side_by_side_and_dropped_in_a_dialog_by_keys(page, team)
    assert witness.drain() == []
    a_split_is_guided_by_keys_and_says_where_it_is_rejected(page, team, witness)
    assert witness.drain() == []


def a_split_is_guided_by_keys_and_says_where_it_is_rejected(page, team, witness):
    triple = make_second_dispute(team)
    go(page, f"{team.home}/review/triples/{triple.pk}/split/")
    page.locator("#answer-2").fill("Words of my own.")
    page.locator("#question-1").fill("")
    with turned(page):
        page.locator("#question-1").press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("Claim 1 has no question of its own.")
    expect(page.locator("#question-1")).to_be_focused()
    expect(page.locator("#answer-2")).to_have_value("Words of my own.")
    looking.clean(page)
    witness.drain()  # the browser notes the refusal

    at(page, team, triple)
    leads(page, "l", "Split it into claims")
    expect(page.locator("#question-1")).to_be_focused()
    expect(page.locator("#question-1")).to_have_value("How often is a customer’s root key rotated?")
    looking.clean(page, "split")
    press(page, "Escape")
    press(page, "o")
    expect(page.locator("#question-3")).to_be_focused()
    expect(page.locator("#question-2")).to_have_value("Who is told?")
    page.keyboard.type("How long are backups kept?")
    press(page, "Tab")
    page.keyboard.type("Seven years.")
    page.get_by_text("Another passage").nth(2).press("Enter")
    page.get_by_label("Search a passage for claim 3").press_sequentially("backup restore seven years")
    expect(page.locator("#found-3 .search-hit").first).to_contain_text("4.2 Backups")
    settled(page)
    page.locator("#found-3 .search-hit").first.press("Enter")
    third = page.get_by_role("group", name="Evidence of claim 3")
    expect(third.get_by_text("Remove this passage")).to_be_visible()
    third.get_by_label("Both names are kept", exact=False).press("Space")
    expect(page.locator("#checks-3")).to_contain_text("found in the evidence")
    settled(page)
    with turned(page):
        page.locator("#answer-3").press("Control+Enter")
    expect(page.locator("#notices")).to_contain_text("is split into")
    assert Triple.objects.filter(parent=triple, state=State.DRAFT).count() == 3


# Stale triples -------------------------------------------------------------------------------------------------------


def test_stale_triples_are_gone_through_by_keys(page, team, stale, signed_in, witness):
    signed_in(team.jun)
    at(page, team, stale[0])
    expect(page.locator(".text-comparison")).to_contain_text("Evidence unchanged")
    looking.clean(page, "stale-page")

    signed_in(lead_of(team.project))
    go(page, f"{team.home}/review/stale/")
    looking.clean(page, "stale-list")
    leads(page, "Enter", ACCESS["question"])
    expect(page.locator(".text-comparison mark")).to_have_count(2)
    looking.clean(page, "stale", full=False)
    leads(page, "p", "root key rotated")
    expect(page.get_by_role("button", name="Pin to the new text")).to_have_attribute("aria-disabled", "true")
    looking.clean(page, "stale-lost", full=False)
    leads(page, "s", "laptops")
    expect(page.locator(".text-comparison")).to_contain_text("The newest snapshot does not contain this passage.")
    press(page, "x")
    expect(page.get_by_role("dialog", name="Retire")).to_be_visible()
    looking.clean(page)
    press(page, "1")
    leads(page, "Enter", "root key rotated")
    with turned(page):
        press(page, "r")
    expect(page.locator("#id_answer")).to_have_value("At least every twelve months.")
    assert [reload(triple).state for triple in stale] == [State.IN_REVIEW, State.ACCEPTED, State.RETIRED]
    assert witness.drain() == []
