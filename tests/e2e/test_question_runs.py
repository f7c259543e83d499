"""Passages that another system cut itself are uploaded in the browser."""

import json

import pytest
from playwright.sync_api import expect

from apps.goldsets.enums import VersionState
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version

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
    {"qid": "T-0001", "rank": 2, "id": "a-passage-with-a-long-name-that-has-no-blank-anywhere-in-it" * 3},
]


def test_a_lead_uploads_passages_of_another_system_and_their_page_bears_every_window(page, signed_in, tmp_path):
    bench = make_bench()
    make_version(VersionState.RELEASED, bench)
    signed_in(lead_of(bench.project))
    file = tmp_path / "chunks.jsonl"
    file.write_text("\n".join(map(json.dumps, RESULTS)))
    go(page, f"/p/{bench.project.slug}/runs/upload/")
    page.get_by_label("Run file").set_input_files(file)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Every question in the file exists in this project.")).to_be_visible()
    looking.looks_well(page, widths=())

    with turned(page):
        page.get_by_role("button", name="Import run").click()

    expect(page.get_by_text("chunk-81")).to_be_visible()
    expect(page.get_by_text("pages 24–25")).to_be_visible()
    expect(page.get_by_text("returned without its text")).to_be_visible()
    expect(page.get_by_role("link", name="Score it on the Q&As of v1")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as JSON lines").click()
    assert [json.loads(line) for line in download.value.path().read_text().splitlines()] == RESULTS
    looking.looks_well(page, "run-of-own-passages", widths=(390, 1024, 1280))
