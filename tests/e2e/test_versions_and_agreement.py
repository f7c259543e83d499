"""Agreement and versions in a real browser: from noisy grades to a release, clean by axe, in every theme."""

import pytest
from django.urls import reverse

from apps.accounts.models import Project
from apps.goldsets.models import Version
from apps.judging.actions.adjudication import adjudicate
from apps.judging.models import Round
from apps.judging.selectors.pairs import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.queries.models import Query
from tests.agreement.factories import make_noisy_round, make_reviewed
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_source
from tests.judging.factories import make_pool
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


def make_busy_project() -> tuple[Project, Round]:
    project = make_project("Tarnwick Handbook")
    snapshot = make_snapshot(project)
    source = make_source(project)
    pool = make_pool(project, queries=12, snapshot=snapshot)
    Query.objects.filter(project=project).update(source=source)
    round_ = make_noisy_round(project, pool=pool, share=0.5)
    make_reviewed(project, both=6, one=2, none=1)
    return project, round_


busy = shared(make_busy_project)


def settle(project: Project, round_: Round) -> None:
    lead = lead_of(project)
    for pair in adjudicable(round_, lead):
        entry = entry_in(round_, pair.entry_id)
        adjudicate(round_=round_, entry=entry, adjudicator=lead, grade=2, reason="Half.", error_type="slip", at=AT)


def test_agreement_is_read_down_to_its_pairs_and_leads_to_what_to_improve(page, busy, signed_in, witness):
    project, _ = busy
    signed_in(lead_of(project))

    go(page, reverse("agreement:overview", args=[project.slug]))
    looking.clean(page, "agreement")
    with turned(page):
        page.get_by_role("link", name="Mara Quist and Tobias Engel").click()
    page.get_by_role("heading", name="Who gave what").wait_for()
    looking.clean(page, "agreement-pair")
    with turned(page):
        page.get_by_role("link", name="Mara Quist 1, Tobias Engel 1").click()
    page.get_by_text("Mara Quist gave 1; Tobias Engel gave 1").wait_for()
    looking.clean(page, "agreement-items")

    go(page, reverse("agreement:differences", args=[project.slug]))
    for way in ("Query", "Week", "Grade boundary"):
        with turned(page):
            page.get_by_label("Broken down by").get_by_role("link", name=way).click()
        looking.clean(page)
    with turned(page):
        page.get_by_role("link", name="Improve the guideline").last.click()
    page.get_by_role("heading", name="Queries with most disagreement").wait_for()
    looking.clean(page, "agreement-tighten")
    with turned(page):
        page.get_by_role("navigation", name="Judging").get_by_role("link", name="Annotators").click()
    with turned(page):
        page.get_by_role("link", name="Find likely mistakes with a label model").click()
    page.get_by_role("heading", name="Label model").wait_for()
    looking.clean(page)
    with turned(page):
        page.get_by_role("link", name="Mara Quist").first.click()
    page.get_by_role("heading", name="By week").wait_for()
    looking.clean(page, "agreement-person")
    with turned(page):
        page.get_by_role("navigation", name="Judging").get_by_role("link", name="Agreement").click()
    with turned(page):
        page.get_by_role("navigation", name="Agreement").get_by_role("link", name="Improve the guideline").click()
    with turned(page):
        page.get_by_role("link", name="Write the next guideline").click()
    page.get_by_role("heading", name="Guideline, version 2").wait_for()

    assert witness.drain() == []


def test_a_version_from_draft_to_release(page, busy, signed_in, witness):
    project, round_ = busy
    signed_in(lead_of(project))

    go(page, reverse("goldsets:list", args=[project.slug]))
    looking.clean(page, "versions-empty")
    with turned(page):
        page.get_by_role("link", name="New gold set").click()
    page.get_by_label("Name").fill("Handbook")
    with turned(page):
        page.get_by_role("button", name="Create gold set").click()
    page.get_by_label(round_.name).check()
    looking.clean(page, "version-form")
    with turned(page):
        page.get_by_role("button", name="Create draft").click()
    page.get_by_role("heading", name="What blocks the freeze").wait_for()
    looking.clean(page, "version-draft")

    settle(project, round_)
    page.reload()
    page.get_by_role("heading", name="Ready to freeze").wait_for()
    press(page, "f")
    page.get_by_role("dialog").get_by_text("A frozen version can never be changed or deleted.").wait_for()
    looking.clean(page)
    with turned(page):
        press(page, "Control+Enter")
    press(page, "r")
    page.get_by_role("dialog").get_by_text("A release can never be undone.").wait_for()
    looking.clean(page)
    with turned(page):
        page.get_by_role("button", name="Release v1").click()
    page.get_by_text("v1 is released.").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="TREC, dev and test").click()
    assert download.value.suggested_filename == "handbook-v1-trec.zip"
    looking.clean(page, "version")
    with turned(page):
        page.get_by_role("link", name="See test items").click()
    page.get_by_text("This view is logged.").wait_for()
    looking.clean(page, "version-items")
    go(page, reverse("goldsets:list", args=[project.slug]))
    looking.clean(page, "versions")

    assert Version.objects.get().state == "released"
    assert witness.drain() == []
