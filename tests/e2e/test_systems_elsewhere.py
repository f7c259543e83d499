"""A lead keeps a secret, tries a system elsewhere, makes it and runs it, in the browser."""

import pytest
from django.test import override_settings
from playwright.sync_api import expect

from apps.common.web.addresses import parse_openings
from tests.e2e import looking
from tests.e2e.looking import NARROW
from tests.e2e.waiting import go, settled, turned, worked
from tests.factories import lead_of, make_project
from tests.remote_server import SECRET, TEXTS, running
from tests.retrieval.factories import make_queries, make_run, make_snapshot
from tests.retrieval.test_remote_queries import http, make_remote_system

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def port():
    with running() as port, override_settings(OUTBOUND_ALLOW=parse_openings([f"127.0.0.1:{port}"])):
        yield port


@pytest.fixture
def project():
    project = make_project("Tarnwick Handbook")
    make_snapshot(project, TEXTS)
    make_queries(project)
    return project


def test_a_system_elsewhere_is_tried_made_and_run_and_its_pace_is_shown(page, project, port, signed_in, witness):
    signed_in(lead_of(project))
    go(page, f"/p/{project.slug}/settings/")
    with turned(page):
        page.get_by_role("main").get_by_role("link", name="Secrets").click()
    page.get_by_label("Name").fill("search-key")
    page.get_by_label("Value").fill(SECRET)
    with turned(page):
        page.get_by_role("button", name="Save secret").click()
    expect(page.get_by_text("search-key is saved")).to_be_visible()
    assert SECRET not in page.content()
    looking.clean(page, "secrets")

    go(page, f"/p/{project.slug}/runs/systems/new/")
    with turned(page):
        page.get_by_role("link", name="External system").click()
    page.get_by_label("Address").fill(f"http://127.0.0.1:{port}/locked")
    page.get_by_label("Body").fill('{"q": {{query}}}')
    page.get_by_label("Path to the ids").fill("hits[*].doc.id")
    page.get_by_label("Path to the scores").fill("hits[*].score")
    page.get_by_label("Test query").fill("red key")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial")).to_contain_text("The server does not accept the secret (401)")

    page.get_by_text("Signing in").click()
    page.get_by_label("Signs in with").select_option("bearer")
    page.get_by_label("Secret", exact=False).first.select_option("search-key")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial")).to_contain_text("2 of the ids are not")
    looking.clean(page, "system-elsewhere-unknown")

    page.get_by_text("Ids that differ").click()
    page.get_by_label("Prefix to remove from ids").fill("doc:")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#trial")).to_contain_text("every id is in this snapshot")
    settled(page)
    with turned(page):
        page.get_by_role("button", name="Create system").click()

    expect(page.get_by_text("with the secret search-key, as a Bearer token")).to_be_visible()
    looking.clean(page, "system-elsewhere-made")
    with turned(page):
        page.get_by_role("button", name="Run", exact=True).click()
    worked(page)
    expect(page.get_by_text("complete").first).to_be_visible()
    the_pace_and_what_went_by_the_way_are_shown(page, project, port)
    assert witness.drain() == []


def the_pace_and_what_went_by_the_way_are_shown(page, project, port):
    system = make_remote_system(project, http(port, "unknown", scores=""))
    run = make_run(project, project.corpora.get().snapshots.get(), system)
    go(page, f"/p/{project.slug}/runs/systems/{system.pk}/pace/")
    looking.clean(page, "pace")
    go(page, f"/p/{project.slug}/runs/run/{run.pk}/")
    page.get_by_text("The first 6").click()
    expect(page.get_by_role("cell", name="nowhere").first).to_be_visible()
    page.set_viewport_size(NARROW)
    looking.clean(page, "run-elsewhere")
