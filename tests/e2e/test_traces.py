"""From the form for Langfuse to queries, and from a frozen version back to the traces, by clicks."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.accounts.actions.secrets import save_secret
from apps.querylogs.core.trace_servers import LANGFUSE
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.factories import AT, lead_of, make_project
from tests.goldsets.test_grades_back import asked, make_traced
from tests.querylogs.test_traces import TEXTS, searched
from tests.running_jobs import run_jobs
from tests.trace_server import PUBLIC, SECRET, running_traces
from tests.triples.factories import make_snapshot

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.DATA_DIR = tmp_path


def sign_in_there(page, url: str) -> None:
    page.get_by_label("Address").fill(url)
    page.get_by_label("Public key").fill(PUBLIC)
    page.get_by_label("Secret").select_option(LANGFUSE)


def test_a_lead_fetches_traces_from_langfuse_and_sees_what_is_in_them(page, signed_in):
    project = make_project()
    make_snapshot(project, TEXTS)
    save_secret(project=project, name=LANGFUSE, value=SECRET, actor=lead_of(project), at=AT)
    signed_in(lead_of(project))
    go(page, reverse("querylogs:list", args=[project.slug]))
    looking.looks_well(page, "logs-empty")
    with turned(page):
        page.get_by_role("link", name="From Langfuse or Phoenix").click()
    looking.looks_well(page, "fetch", widths=(390, 1024, 1280))

    with running_traces(searched()) as server:
        sign_in_there(page, server.url)
        page.get_by_label("From", exact=True).fill("2026-08-04T00:00")
        page.get_by_label("To before").fill("2026-08-04T00:00")
        with turned(page):
            page.get_by_role("button", name="Fetch them").click()
        expect(page.get_by_text("The end is not after the beginning.").first).to_be_visible()
        looking.looks_well(page, "fetch-refused")
        page.get_by_label("To before").fill("2026-08-05T00:00")
        with turned(page):
            page.get_by_role("button", name="Fetch them").click()
        run_jobs()
        page.reload()
    looking.looks_well(page, "fetch-job")
    with turned(page):
        page.get_by_role("link", name="See the result").click()

    expect(page.get_by_text("how are keys rotated").first).to_be_visible()
    looking.look_at(page, "fetched")
    go(page, reverse("corpus:import-new", args=[project.slug, "log"]))
    looking.looks_well(page, "import-log")


def test_a_lead_sends_grades_back_from_the_page_of_a_version(page, signed_in):
    version = make_traced()
    project = version.gold_set.project
    save_secret(project=project, name=LANGFUSE, value=SECRET, actor=lead_of(project), at=AT)
    signed_in(lead_of(project))
    go(page, reverse("goldsets:version", args=[project.slug, version.gold_set.slug, version.number]))
    expect(page.get_by_text("Trace annotations").first).to_be_visible()
    looking.look_at(page, "version-with-traces")
    with turned(page):
        page.get_by_role("link", name="Send grades back to Langfuse or Phoenix").click()
    looking.looks_well(page, "send-grades")

    with running_traces(asked()) as server:
        sign_in_there(page, server.url)
        with turned(page):
            page.get_by_role("button", name="Send them").click()
        run_jobs()
        page.reload()

    expect(page.get_by_text("Grades sent")).to_be_visible()
    assert sorted(one["value"] for one in server.scores.values()) == [1.0, 3.0]
