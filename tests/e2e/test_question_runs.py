"""A system answers the questions of a version, and another one's own passages are uploaded, in the browser."""

import json

import pytest
from playwright.sync_api import expect

from apps.goldsets.enums import VersionState
from tests.e2e import looking
from tests.e2e.waiting import go, settled, turned, worked
from tests.e2e.worlds import shared
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.retrieval.factories import make_system

pytestmark = pytest.mark.django_db(transaction=True)

RESULTS = [
    {
        "qid": "T-0001",
        "rank": 1,
        "id": "chunk-81",
        "document_id": "handbook",
        "pages": [24, 25],
        "text": "Eight hours.",
    },
    {"qid": "T-0001", "rank": 2, "document_id": "a-document-with-a-long-name-that-has-no-blank-anywhere-in-it" * 3},
]


def make_room():
    bench = make_bench()
    make_version(VersionState.RELEASED, bench)
    make_system(bench.project)
    return bench


bench = shared(make_room)


@pytest.fixture
def lead(signed_in, bench):
    signed_in(lead_of(bench.project))


def test_a_lead_runs_a_system_on_the_questions_of_a_version_and_reads_the_results_of_one(page, bench, lead, witness):
    question = bench.project.triples.get().current.question
    go(page, f"/p/{bench.project.slug}/runs/")
    with turned(page):
        page.get_by_role("link", name="BM25", exact=True).click()

    page.get_by_label("Which queries").select_option("Questions of Handbook v1, whose snapshot is v1")
    with turned(page):
        page.get_by_role("button", name="Run", exact=True).click()
    worked(page)

    found = page.locator(".run-query").filter(has_text="T-0001")
    expect(found).to_contain_text(question)
    found.locator("summary").click()
    expect(found.locator(".run-results li").first).to_be_visible()
    settled(page)
    assert witness.drain() == []


@pytest.mark.slow
def test_a_lead_uploads_passages_of_another_system_and_their_page_bears_every_window(page, bench, lead, tmp_path):
    file = tmp_path / "chunks.jsonl"
    file.write_text("\n".join(map(json.dumps, RESULTS)))
    go(page, f"/p/{bench.project.slug}/runs/upload/")
    page.get_by_label("Run file").set_input_files(file)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Every question in the file exists in this project.")).to_be_visible()
    looking.clean_in_both_themes(page)

    with turned(page):
        page.get_by_role("button", name="Import run").click()

    expect(page.get_by_text("chunk-81")).to_be_visible()
    expect(page.get_by_text("pages 24–25")).to_be_visible()
    expect(page.get_by_text("returned without its text")).to_be_visible()
    expect(page.get_by_role("link", name="Score it on the Q&As of v1")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as JSON lines").click()
    assert [json.loads(line) for line in download.value.path().read_text().splitlines()] == RESULTS
    looking.clean_in_both_themes(page)
    assert [fault for width in (390, 1024, 1280) for fault in looking.faults_at_width(page, width)] == []
    looking.look_at(page, "run-of-own-passages")
