"""Every page, as the resolver and the links know them: axe in both themes, no complaint, no sideways scroll.

With KARAT_LOOK=1 each page also leaves screenshots in test-results/.
"""

import os
from urllib.parse import urlsplit

import pytest
from django.urls import Resolver404, resolve
from django.utils import timezone
from playwright.sync_api import Error

from apps.accounts.actions import create_setup_link
from apps.goldsets.enums import VersionState
from tests.e2e import looking, world
from tests.factories import lead_of
from tests.goldsets.factories import make_version

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.crawl]

MOST_OF_A_KIND = 2
NARROW = 390
REFUSED = 409  # a page too: the sentence says why not
# Answers to GET that are no pages: downloads, fragments for htmx, and forms that redirect.
NO_PAGES = {
    "healthz",
    "corpus:import-errors",
    "evaluation:export",
    "evaluation:pick",
    "goldsets:export",
    "jobs:progress",
    "judging:pairs",
    "judging:preview",
    "retrieval:estimate",
    "retrieval:mistakes",
    "triples:block",
    "triples:find",
}
OF_STRANGERS = {"accounts:login", "accounts:setup", "accounts:join"}
NOT_IN_THE_DEMO = {"goldsets:difference"}  # it holds one released version; a test below makes two
LINKS = "() => [...document.querySelectorAll('a[href]')].map((a) => a.href)"


class Crawler:
    """Follows the links of one person, a few of each kind of page, and looks hard at each."""

    def __init__(self, page, live_server, witness) -> None:
        self.page = page
        self.root = live_server.url
        self.witness = witness
        self.faults: list[str] = []
        self.seen: dict[str, list[str]] = {}

    def crawl(self, *starts: str) -> None:
        queue = list(starts)
        while queue:
            path = queue.pop(0)
            if self._is_new(path):
                queue += self._visit(path)

    def _is_new(self, path: str) -> bool:
        try:
            name = resolve(urlsplit(path).path).view_name
        except Resolver404:
            self.faults.append(f"{path}: a link to nowhere")
            return False
        visited = self.seen.setdefault(name, [])
        if name in NO_PAGES or path in visited or len(visited) >= MOST_OF_A_KIND:
            return False
        visited.append(path)
        return True

    def _visit(self, path: str) -> list[str]:
        self.page.set_viewport_size(looking.WIDE)
        try:
            response = self.page.goto(path)
        except Error as error:
            self.faults.append(f"{path}: {error.message.splitlines()[0]}")
            return []
        complaints = self.witness.drain()
        if response is None or response.status not in (200, REFUSED):
            self.faults.append(f"{path}: answered {response and response.status}")
            return []
        if response.status == 200:
            self.faults += [f"{path}: {complaint}" for complaint in complaints]
        for scheme in ("light", "dark"):
            looking.theme(self.page, scheme)
            self.faults += [f"{path} ({scheme}): {fault}" for fault in looking.axe_faults(self.page)]
        self._look_narrow(path)
        links = [urlsplit(link) for link in self.page.evaluate(LINKS)]
        ours = urlsplit(self.root).netloc
        return [link.path + (f"?{link.query}" if link.query else "") for link in links if link.netloc == ours]

    def _look_narrow(self, path: str) -> None:
        if os.environ.get("KARAT_LOOK"):
            looking.look_at(self.page, path.strip("/") or "root")
        self.page.set_viewport_size(looking.NARROW)
        width = self.page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW:
            self.faults.append(f"{path}: scrolls sideways on a phone, {width} px")


@pytest.fixture
def small_world():
    return world.build()


@pytest.fixture
def crawler(page, live_server, witness):
    return Crawler(page, live_server, witness)


def test_every_page_of_a_lead_is_clean_and_none_is_forgotten(small_world, crawler, signed_in):
    signed_in(small_world.lead)

    crawler.crawl("/", f"/p/{small_world.project.slug}/", *small_world.unlinked)

    assert "\n".join(crawler.faults) == ""
    forgotten = set(world.page_names()) - set(crawler.seen) - NO_PAGES - OF_STRANGERS - NOT_IN_THE_DEMO
    assert ", ".join(sorted(forgotten)) == ""


def test_every_page_of_an_annotator_is_clean(small_world, crawler, signed_in):
    signed_in(small_world.annotator)

    crawler.crawl("/", f"/p/{small_world.project.slug}/")

    assert "\n".join(crawler.faults) == ""


def test_the_doors_are_clean(small_world, crawler):
    crawler.crawl("/login/", f"/join/{small_world.invitation}/")

    assert "\n".join(crawler.faults) == ""


def test_the_set_up_page_is_clean(db, crawler):
    crawler.crawl(f"/setup/{create_setup_link(at=timezone.now())}/")

    assert "\n".join(crawler.faults) == ""


def test_the_difference_of_two_versions_is_clean(crawler, signed_in):
    former = make_version(VersionState.SUPERSEDED)
    project = former.gold_set.project
    signed_in(lead_of(project))

    crawler.crawl(f"/p/{project.slug}/versions/{former.gold_set.slug}/v2/difference/")

    assert "\n".join(crawler.faults) == ""
    assert "goldsets:difference" in crawler.seen
