"""A training manifest in a real browser: pasted, previewed, imported, seen on a draft and on a release, retired."""

import pytest
from django.urls import reverse

from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from tests.e2e import looking
from tests.e2e.waiting import go, turned
from tests.e2e.worlds import shared
from tests.goldsets.factories import draft, make_bench, make_version

pytestmark = pytest.mark.django_db(transaction=True)


def make_release_and_draft() -> tuple[Version, Version]:
    bench = make_bench(queries=4, triples=1)
    return make_version(VersionState.RELEASED, bench, test_share=0.5), draft(bench)


released = shared(make_release_and_draft)


@pytest.mark.slow
def test_a_lead_brings_in_what_a_system_was_trained_on(page, released, signed_in):
    version, following = released
    slug, gold_set = version.gold_set.project.slug, version.gold_set.slug
    query = version.queries.filter(split="test").first()
    signed_in(version.created_by)
    go(page, reverse("goldsets:list", args=[slug]))
    with turned(page):
        page.get_by_role("link", name="Training manifests").click()
    looking.clean(page, "training-empty")

    with turned(page):
        page.get_by_role("link", name="Import training manifest").click()
    looking.clean(page)
    page.get_by_label("Or paste here").fill(f"{query.outside_id}\nelsewhere")
    page.get_by_label("Name", exact=False).first.fill("Ranker of May")
    with turned(page):
        page.get_by_role("button", name="Preview").click()
    page.get_by_text(
        f"This one is in test of a version, and blocks the next freeze until it is retired: {query}"
    ).wait_for()
    looking.clean(page, "training-preview")
    with turned(page):
        page.get_by_role("button", name="Import 2 entries").click()

    go(page, reverse("goldsets:version", args=[slug, gold_set, following.number]))
    page.get_by_role("link", name=f"{query} is in test since an earlier version").wait_for()
    assert page.get_by_role("button", name="Freeze").get_attribute("aria-disabled") == "true"
    looking.clean(page, "training-draft")

    go(page, reverse("goldsets:version", args=[slug, gold_set, version.number]))
    page.get_by_text("1 item of test is known from training (“Ranker of May”)").wait_for()
    looking.clean(page)
    with turned(page):
        page.get_by_role("link", name="See which").click()
    page.get_by_role("cell", name="“Ranker of May” by its id").wait_for()
    looking.clean(page, "training-found")

    go(page, reverse("goldsets:training", args=[slug]))
    page.get_by_role("button", name="Retire Ranker of May").click()
    looking.clean(page, "training")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Retire", exact=True).click()
    page.get_by_text("No draft is checked against it any more.").first.wait_for()
    go(page, reverse("goldsets:version", args=[slug, gold_set, following.number]))
    page.get_by_role("heading", name="Ready to freeze").wait_for()
