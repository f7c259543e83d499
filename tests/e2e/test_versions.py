"""A version in a real browser: from a draft that something blocks to a release, its items and its files."""

import json
import zipfile

import pytest
from django.urls import reverse

from apps.accounts.models import Project
from apps.goldsets.models import Version
from apps.judging.actions.adjudication import adjudicate
from apps.judging.models import Round
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.rounds import entry_in
from apps.queries.models import Query
from tests.agreement.factories import make_noisy_round, make_reviewed
from tests.e2e import looking
from tests.e2e.waiting import go, press, turned
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_source
from tests.judging.factories import make_pool
from tests.retrieval.factories import import_lines, trec
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
    queries = Query.objects.filter(project=project).values_list("outside_id", flat=True)
    for tag in ("lexical-2026-05", "dense"):
        import_lines(project, snapshot, trec([(query, "access", 1.5) for query in queries], tag=tag), tag=tag)
    return project, round_


busy = shared(make_busy_project)


def settle(project: Project, round_: Round) -> None:
    lead = lead_of(project)
    for pair in adjudicable(round_, lead):
        entry = entry_in(round_, pair.entry_id)
        adjudicate(round_=round_, entry=entry, adjudicator=lead, grade=2, reason="Half.", error_type="slip", at=AT)


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
    page.get_by_text("Learning to rank").click()
    page.get_by_role("checkbox", name="dense").check()
    looking.looks_well(page, "version")
    with page.expect_download() as download:
        page.get_by_role("button", name="dev", exact=True).click()
    with zipfile.ZipFile(download.value.path()) as files:
        assert [one["run"] for one in json.loads(files.read("letor/features.json"))["features"]] == ["dense"]
    with turned(page):
        page.get_by_role("link", name="See test items").click()
    page.get_by_text("This view is logged.").wait_for()
    looking.clean(page, "version-items")
    go(page, reverse("goldsets:list", args=[project.slug]))
    looking.clean(page, "versions")

    assert Version.objects.get().state == "released"
    assert witness.drain() == []
