"""From a described system to a pool, in the browser."""

import re

import pytest
from playwright.sync_api import expect

from apps.retrieval.models import Run
from tests.e2e import looking
from tests.e2e.waiting import go, settled, turned, worked
from tests.e2e.worlds import shared
from tests.factories import lead_of, make_project
from tests.retrieval.factories import make_queries, make_snapshot, trec

pytestmark = pytest.mark.django_db(transaction=True)

TOPICS = ["keys", "doors", "audits", "badges", "visitors", "backups"]


def make_room():
    project = make_project("Tarnwick Handbook")
    texts = {
        f"blk-{n:03}": f"The rule about {TOPICS[n % 6]} and {TOPICS[n * 7 % 5]} in part {n} of the handbook."
        for n in range(40)
    }
    make_snapshot(project, texts)
    make_queries(project, {f"Q{n:02}": f"what is the rule about {TOPICS[n % 6]} in part {n}" for n in range(12)})
    return project


project = shared(make_room)


@pytest.fixture
def lead(signed_in, project):
    signed_in(lead_of(project))


def test_a_lead_describes_a_system_pools_it_with_an_upload_and_sees_the_provenance(
    page, project, lead, witness, tmp_path
):
    file = tmp_path / "theirs.run"
    file.write_text("\n".join(trec([("Q00", "blk-001", 2.0), ("Q00", "blk-006", 1.5), ("Q01", "blk-039", 1.0)])))
    go(page, f"/p/{project.slug}/runs/")
    with turned(page):
        page.get_by_role("link", name="Add a system").click()
    with turned(page):
        page.get_by_role("button", name="Create system").click()
    expect(page.get_by_role("heading", name="BM25", exact=True)).to_be_visible()
    the_preview_of_a_faulty_run_is_accessible_and_requires_confirmation_to_skip(page, project, tmp_path / "faulty.run")

    go(page, f"/p/{project.slug}/runs/upload/")
    page.get_by_label("Run file").set_input_files(file)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    with turned(page):
        page.get_by_role("button", name="Import run").click()
    expect(page.get_by_role("heading", name="theirs")).to_be_visible()

    go(page, f"/p/{project.slug}/runs/pools/new/")
    expect(page.get_by_label("BM25")).to_be_checked()
    page.get_by_label("faulty").uncheck()
    page.get_by_label("theirs").uncheck()
    page.get_by_label("How deep").fill("20")
    expect(page.locator("#estimate")).to_contain_text("240 pairs at most")
    page.get_by_label("theirs").check()
    page.get_by_label("How deep").fill("5")
    expect(page.locator("#estimate")).to_contain_text("63 pairs at most")
    settled(page)
    with turned(page):
        page.get_by_role("button", name="Build pool").click()
    expect(page.get_by_text("waiting for a worker")).to_be_visible()

    worked(page)

    expect(page.get_by_role("heading", name=re.compile(r"^\d+ pairs$"))).to_be_visible()
    with turned(page):
        page.get_by_role("link", name="Provenance").click()
    expect(page.get_by_role("cell", name="blk-001")).to_be_visible()
    assert Run.objects.count() == 3
    assert witness.drain() == []


def the_preview_of_a_faulty_run_is_accessible_and_requires_confirmation_to_skip(page, project, file):
    file.write_text("\n".join(trec([("Q00", "blk-001", 2.0), ("Q00", "ghost", 1.5)], "faulty")))
    go(page, f"/p/{project.slug}/runs/upload/")
    page.get_by_label("Run file").set_input_files(file)
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("'ghost' is not a passage of this snapshot.")).to_be_visible()
    looking.clean(page)

    page.get_by_role("button", name="Import run").click()
    assert not Run.objects.exists()
    page.get_by_label("Leave out 1 row").check()
    with turned(page):
        page.get_by_role("button", name="Import run").click()
    expect(page.get_by_role("heading", name="faulty")).to_be_visible()
