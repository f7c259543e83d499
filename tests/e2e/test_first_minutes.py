"""The first minutes: from the set-up link straight into the project, whose steps tick themselves."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from apps.accounts.actions.invitations import create_setup_link
from apps.accounts.models import Project
from apps.retrieval.models import Pool
from tests.corpus.factories import make_corpus
from tests.e2e import looking
from tests.e2e.waiting import go, turned, worked
from tests.factories import PASSWORD
from tests.queries.factories import make_query

pytestmark = pytest.mark.django_db(transaction=True)


def set_up(page) -> Project:
    go(page, f"/setup/{create_setup_link(at=timezone.now())}/")
    page.get_by_label("Name", exact=True).fill("Petra Lomas")
    page.get_by_label("E-mail").fill("petra@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("First project").fill("Osterby docs")
    with turned(page):
        page.get_by_role("button", name="Set up").click()
    return Project.objects.get()


def test_from_the_set_up_link_steps_are_ticked_skipped_and_brought_back_up_to_the_first_guideline(page, witness):
    project = set_up(page)
    expect(page.get_by_role("heading", name="First steps")).to_be_visible()
    gold = page.locator(".button.primary")
    expect(gold).to_have_text("Import documents")
    page.get_by_text("Later: your team").click()
    with turned(page):
        page.get_by_role("button", name="Skip: Write Q&As").click()
    expect(page.get_by_text("Skipped: Write Q&As")).to_be_visible()
    with turned(page):
        page.get_by_role("button", name="Bring back: Write Q&As").click()
    expect(page.get_by_text("Skipped: Write Q&As")).to_have_count(0)
    expect(page.get_by_role("button", name="Skip: Write the guideline")).to_have_count(0)

    make_corpus(project)
    make_query(project)
    page.reload()
    expect(page.get_by_text("3 of 6 done")).to_be_visible()
    expect(gold).to_have_text("Choose results")
    looking.looks_well(page, "first-steps")
    with turned(page):
        page.get_by_role("link", name="Choose results").click()
    looking.looks_well(page, "freeze-first")
    with turned(page):
        page.get_by_role("button", name="Freeze 3 passages").click()
    expect(page.get_by_label("BM25 and TF-IDF")).to_be_checked()
    with turned(page):
        page.get_by_role("button", name="Build pool").click()
    worked(page)
    assert Pool.objects.get(project=project).pool_runs.count() == 2

    go(page, f"/p/{project.slug}/")
    with turned(page):
        page.get_by_role("button", name="Judge myself").click()

    expect(page.locator("#notices")).to_contain_text("You are now an annotator too.")
    expect(page.get_by_role("heading", level=1)).to_have_text("The first guideline")
    assert witness.drain() == []
