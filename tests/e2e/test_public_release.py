"""A public release in a real browser: one lead prepares and asks, another reads and signs, then it goes out."""

import zipfile

import pytest
from django.urls import reverse

from apps.goldsets.models import PublicRelease, Version
from tests.e2e.waiting import go, press, turned, worked
from tests.e2e.worlds import shared
from tests.goldsets.factories import make_bench
from tests.goldsets.public.factories import make_publishable, make_second_lead

pytestmark = pytest.mark.django_db(transaction=True)


def make_version_and_leads() -> tuple[Version, object]:
    version = make_publishable(make_bench(queries=3, triples=2))
    return version, make_second_lead(version)


publishable = shared(make_version_and_leads)


@pytest.mark.slow
def test_two_leads_release_a_version_to_the_public(page, publishable, signed_in, axe_clean, look_at, witness, tmp_path):
    version, second = publishable
    project = version.gold_set.project
    address = reverse("goldsets:public", args=[project.slug, version.gold_set.slug, version.number])

    signed_in(version.created_by)
    go(page, address)
    axe_clean(page)
    page.get_by_label("The test split too").check()
    with turned(page):
        page.get_by_role("button", name="Prepare").click()
    page.get_by_role("heading", name="v1 is being prepared for the public.").wait_for()
    axe_clean(page)
    look_at(page, "public-release-preparing")
    worked(page)
    page.get_by_role("heading", name="2 of 2 Q&As can go out; one signature is missing.").wait_for()
    assert page.get_by_role("button", name="Release to the public").get_attribute("aria-disabled") == "true"
    axe_clean(page)
    look_at(page, "public-release")
    with turned(page):
        page.get_by_role("link", name="Edit the card").click()
    axe_clean(page)
    page.get_by_label("11. Known gaps").fill("Nothing on suppliers.")
    with turned(page):
        page.get_by_role("button", name="Save the card").click()
    worked(page)
    with turned(page):
        press(page, "s")
    page.get_by_text("Ines Okonjo-Vale is asked to read the preview and sign.").wait_for()

    signed_in(second)
    go(page, reverse("dashboard:home", args=[project.slug]))
    with turned(page):
        page.get_by_role("link", name="Sign the public release of Handbook v1").first.click()
    page.get_by_text("Open the preview first: whoever signs has read what goes out.").wait_for()
    with turned(page):
        press(page, "p")
    page.get_by_role("heading", name="Record 1 of 2").wait_for()
    axe_clean(page)
    look_at(page, "public-release-preview")
    with turned(page):
        press(page, "j")
    page.get_by_role("heading", name="Record 2 of 2").wait_for()
    with turned(page):
        page.get_by_role("link", name="Back to the release").click()
    with turned(page):
        press(page, "s")
    page.get_by_text("Your signature is noted.").wait_for()
    page.get_by_role("heading", name="Before Ines Okonjo-Vale’s signature counts").wait_for()
    axe_clean(page)
    worked(page)
    page.get_by_text("A second lead has signed.").wait_for()

    signed_in(version.created_by)
    go(page, address)
    press(page, "r")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Release").click()
    worked(page)
    page.get_by_role("heading", name="2 of 2 Q&As are public.").wait_for()
    axe_clean(page)
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download handbook-v1-public.zip").click()
    coming.value.save_as(tmp_path / "out.zip")

    assert "Nothing on suppliers." in zipfile.ZipFile(tmp_path / "out.zip").read("DATA_CARD.md").decode()
    assert PublicRelease.objects.get().signed_by == second
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("A mistake.")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    page.get_by_text("The public release is withdrawn.").wait_for()
    page.get_by_role("heading", name="Nothing of v1 is public.").wait_for()
