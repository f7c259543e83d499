"""A lead acts on many Q&As of the board by keys: select, look, do, follow and undo, in a browser."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.common.text.wording import plural
from apps.review.actions.bulk import begin_step
from apps.review.enums import BulkKind
from apps.review.models import BulkStep, ReviewSeat
from apps.triples.actions.triples import refresh_staleness
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.e2e import looking
from tests.e2e.triples_world import ACCESS, TEXTS, TITLES, make_handbook
from tests.e2e.waiting import go, press, ready, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_member
from tests.review.bulk.walking import chosen, seen
from tests.review.factories import answer, make_accepted, make_in_review, reviewers_of
from tests.running_jobs import run_jobs
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)

ROTATION = {
    "key": "PLA-6.3",
    "answer": "At least every twelve months.",
    "evidence": "at least every twelve months",
    "domain": "keys",
}


ASKED = (
    "How long does a break-glass session to production stay open?",
    "When must an engineer ask anew for emergency rights?",
    "What ends an approval by itself?",
    "Is there an upper limit on the hours spent inside?",
    "Which comes first, the incident's end or eight hours?",
)


def make_new_edition():
    """Five stale Q&As whose evidence is as before, two whose passage is gone, three in review, two accepted."""
    team = make_handbook()
    for name in ("Ria Sund", "Tom Vale"):
        make_member(team.project, "reviewer", name=name)
    whole = {"project": team.project, "author": team.jun, "snapshot": team.snapshot}
    for question in ASKED:
        make_accepted(**whole, **ACCESS | {"question": question})
    for question in ("How often is a root key rotated?", "Who hears of an unplanned change of the custodian?"):
        make_accepted(**whole, **ROTATION, question=question)
    texts = {key: text for key, text in TEXTS.items() if key != "PLA-6.3"}
    texts["SEC-3.6"] += "\n\nSessions are reviewed each quarter."
    newest = make_snapshot(team.project, texts, titles=TITLES, corpus=team.snapshot.corpus)
    refresh_staleness(project=team.project, snapshot=newest, at=AT)
    for _ in range(3):
        make_in_review(team.project, author=team.jun, snapshot=newest, **{**ACCESS, "question": ""})
    return team


team = shared(make_new_edition)


@pytest.fixture
def board(page, signed_in, team):
    signed_in(lead_of(team.project))

    def board(query=""):
        go(page, f"{team.home}/review/board/{query}")

    return board


def in_state(team, state):
    return Triple.objects.filter(project=team.project, state=state).count()


def test_a_set_is_pinned_again_by_keys_and_given_back(page, witness, team, board):
    board("?state=stale")
    bar = page.locator("[data-bar]")
    expect(bar).to_be_hidden()
    expect(page.get_by_text("the passage is gone from the snapshot")).to_have_count(2)

    press(page, "j", " ", "j", " ")
    expect(bar.get_by_text("2 selected")).to_be_visible()
    expect(bar.get_by_role("button", name="Submit")).to_have_attribute("aria-disabled", "true")
    press(page, " ")
    expect(bar.get_by_text("1 selected")).to_be_visible()
    with turned(page):
        press(page, "a")
    expect(page.get_by_text("All 7 that match are selected.")).to_be_visible()
    with turned(page):
        press(page, "p")
    says = "7 Q&As: 5 with the same evidence are re-pinned and go to review; 2 need their author."
    expect(page.get_by_text(says)).to_be_visible()
    expect(page.get_by_text("Jun Hallam (2) gets one notice.")).to_be_visible()
    page.get_by_text("Show the 5").click()
    page.get_by_text("Show the 2").click()
    expect(bar.get_by_role("link", name="T-0006")).to_be_visible()
    looking.looks_well(page, "board-bulk")
    assert in_state(team, State.IN_REVIEW) == 3

    with turned(page):
        press(page, "Control+Enter")
    expect(page.get_by_text("Re-pinning 5 Q&As")).to_be_visible()
    looking.looks_well(page, "board-bulk-running", full=False)
    run_jobs()
    expect(page.get_by_text("5 Q&As are re-pinned")).to_be_visible()
    expect(page.get_by_text("The list is from before.")).to_be_visible()
    assert in_state(team, State.IN_REVIEW) == 8
    with turned(page):
        page.get_by_role("link", name="Show it again").click()

    answered = Triple.objects.filter(project=team.project, state=State.IN_REVIEW).earliest("pk")
    answer(answered, reviewers_of(answered)[0])
    with turned(page):
        press(page, "u")
    run_jobs()
    expect(page.get_by_text("Undone for 4")).to_be_visible()
    assert in_state(team, State.IN_REVIEW) == 4
    assert Triple.objects.filter(is_stale=True).count() == 6
    with turned(page):
        page.get_by_role("link", name="Which, and why").click()
    expect(page.get_by_role("heading", name="A reviewer has answered it since.")).to_be_visible()
    looking.looks_well(page)
    assert witness.drain() == []


def test_reviewers_a_domain_and_a_reason_are_chosen_by_keys(page, witness, team, board):
    board("?state=in_review&select=all")
    with turned(page):
        press(page, "r")
    with turned(page):
        page.get_by_label("Replace").select_option("unanswered")
    expect(page.get_by_text("reviews to others.")).to_be_visible()
    chosen_people = page.locator(".bulk-people input")
    expect(chosen_people.and_(page.locator(":checked"))).to_have_count(chosen_people.count())
    with turned(page):
        page.get_by_label("Ria Sund").uncheck()
    expect(page.get_by_text("Replaced: Ria Sund")).to_be_visible()
    of_ria = ReviewSeat.objects.filter(reviewer__name="Ria Sund", released_at=None, closed_at=None)
    number = plural(of_ria.count(), "Q&A is", "Q&As are")
    looking.looks_well(page, "board-bulk-assign", full=False)
    with turned(page):
        press(page, "Control+Enter")
    run_jobs()
    expect(page.get_by_text(f"{number} given to other reviewers")).to_be_visible()

    board("?state=stale&select=all")
    with turned(page):
        press(page, "d")
    page.locator(".bulk-fields [name=domain]").fill("keys")
    with turned(page):
        press(page, "Control+Enter")
    expect(page.get_by_text("This is another selection than was shown.")).to_be_visible()
    assert len(witness.drain()) == 1  # the answer was 409
    expect(page.get_by_text("7 Q&As: 5 are changed; 2 stay as they are.")).to_be_visible()
    looking.looks_well(page, "board-bulk-describe", full=False)
    with turned(page):
        press(page, "Control+Enter")
    run_jobs()
    assert Triple.objects.filter(domain="keys").count() == 7

    board("?state=stale&select=all")
    with turned(page):
        press(page, "t")
    page.get_by_label("Passage gone").check()
    looking.looks_well(page, "board-bulk-retire", full=False)
    with turned(page):
        press(page, "Control+Enter")
    run_jobs()
    assert in_state(team, State.RETIRED) == 7
    expect(page.get_by_text("7 Q&As are retired")).to_be_visible()
    with turned(page):
        press(page, "u")
    run_jobs()
    assert in_state(team, State.RETIRED) == 0
    board("?state=stale&select=all")
    with turned(page):
        press(page, "Escape")
    expect(page.locator("[data-bar]")).to_be_hidden()
    assert witness.drain() == []


def test_another_lead_sees_what_runs_and_stops_it(page, witness, team, board):
    other = make_member(team.project, "lead", name="Ines Okonjo-Vale")
    picked = chosen(list(Triple.objects.filter(is_stale=True).order_by("pk")))
    values = {"reason": "block_gone"}
    digest = seen(team.project, BulkKind.RETIRE, picked, lead=other, **values).digest
    begin_step(
        project=team.project, lead=other, kind=BulkKind.RETIRE, values=values, selection=picked, digest=digest,
        at=timezone.now(),
    )  # fmt: skip
    board()
    expect(page.get_by_text("Retiring for Ines Okonjo-Vale: 7 Q&As")).to_be_visible()

    with turned(page):
        page.get_by_role("button", name="Stop").click()
    ready(page)

    assert BulkStep.objects.get().job.state == "cancelled"
    assert in_state(team, State.RETIRED) == 0
    assert witness.drain() == []
