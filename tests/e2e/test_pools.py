"""A lead pools by budget, draws beside it, has it judged, and reads what the pool misses."""

import re

import pytest
from playwright.sync_api import expect

from apps.retrieval.models import Pool, System
from tests.e2e import looking
from tests.e2e.looking import NARROW, WIDE
from tests.e2e.waiting import go, settled, turned, worked
from tests.factories import lead_of, make_project
from tests.judging.factories import judge_all, make_guideline, make_round, people_of
from tests.retrieval.factories import import_lines, make_queries, make_snapshot, trec

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

BLOCKS = {f"b{number:03}": f"Paragraph {number} on archives and keys." for number in range(150)}
QUESTIONS = {f"Q{number:02}": f"Question number {number}" for number in range(12)}


def test_a_pool_is_built_by_enter_and_another_by_budget_with_what_it_misses(page, signed_in, witness):
    enter_builds_the_pool_and_adds_no_system(page, signed_in)
    assert witness.drain() == []

    project = make_project()
    make_queries(project, QUESTIONS)
    snapshot = make_snapshot(project, BLOCKS)
    for tag, first in (("lexical", 0), ("dense", 10)):
        rows = [(query, f"b{first + at:03}", float(40 - at)) for query in QUESTIONS for at in range(40)]
        import_lines(project, snapshot, trec(rows, tag), system=tag)
    signed_in(lead_of(project))

    go(page, f"/p/{project.slug}/runs/pools/new/")
    expect(page.get_by_label("Source")).to_be_hidden()
    expect(page.get_by_label(re.compile("lexical"))).to_be_checked()
    expect(page.get_by_label(re.compile("dense"))).to_be_checked()
    page.get_by_label("How deep").fill("20")
    expect(page.locator("#estimate")).to_contain_text("480 pairs at most")
    page.get_by_text("Advanced").click()
    expect(page.get_by_label("Budget")).to_be_hidden()
    page.get_by_label("Method").select_option("bandit")
    page.get_by_label("Budget").fill("60")
    page.get_by_label("Applies to").select_option("all")
    page.get_by_label("Random passages").fill("10")
    expect(page.locator("#estimate")).to_contain_text("180 pairs at most")
    settled(page)
    looking.clean(page)
    fits_a_phone(page)
    with turned(page):
        page.get_by_role("button", name="Build pool").click()
    worked(page)

    pool = Pool.objects.get(project=project)
    go(page, f"/p/{project.slug}/runs/pools/{pool.pk}/")
    expect(
        page.get_by_text("A budget of 60 pairs in total, adaptive (bandit), from the top 20 of 2 runs")
    ).to_be_visible()
    make_guideline(project)
    round_ = make_round(project, pool=pool, annotators=1, overlap=0)
    judge_all(round_, people_of(round_)[0], lambda seat: int(seat.entry.version.block.outside_id < "b025") * 2)
    with turned(page):
        page.get_by_role("button", name="Estimate").click()
    worked(page)
    missed = page.locator("#missing")
    expect(missed).to_contain_text("Recall of the pool")
    expect(missed).to_contain_text("120 judged of 120 random passages")
    looking.clean(page)
    fits_a_phone(page)

    with turned(page):
        page.get_by_role("link", name="Grow").click()
    page.get_by_label("Pairs to add").fill("24")
    looking.clean(page, "pool-grow")
    with turned(page):
        page.get_by_role("button", name="Grow pool").click()
    worked(page)
    pool.refresh_from_db()
    assert (pool.state, pool.entry_count >= 60 + 24 + 100) == ("complete", True)

    go(page, f"/p/{project.slug}/runs/pools/{pool.pk}/provenance/")
    expect(page.get_by_role("cell", name="random").first).to_be_visible()
    assert witness.drain() == []


def enter_builds_the_pool_and_adds_no_system(page, signed_in):
    project = make_project()
    make_queries(project, QUESTIONS)
    snapshot = make_snapshot(project, BLOCKS)
    import_lines(project, snapshot, trec([(query, "b001", 1.0) for query in QUESTIONS], "lexical"), system="lexical")
    signed_in(lead_of(project))

    go(page, f"/p/{project.slug}/runs/pools/new/")
    expect(page.get_by_label("BM25 and TF-IDF")).not_to_be_checked()
    with turned(page):
        page.get_by_label("Name").press("Enter")
    worked(page)

    pool = Pool.objects.get(project=project)
    assert [entry.run.system.name for entry in pool.pool_runs.all()] == ["lexical"]
    assert not System.objects.filter(project=project, kind="bm25").exists()


def fits_a_phone(page):
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.set_viewport_size(WIDE)
