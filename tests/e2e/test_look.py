"""Every page, as the resolver and the links know them: axe in both themes, no complaint, no page that scrolls sideways.

What does scroll sideways inside its box is reached by keyboard, has a name and shows that more lies beyond.
With KARAT_LOOK=1 each page also leaves screenshots in test-results/.
"""

from urllib.parse import urlsplit

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from playwright.sync_api import Error

from apps.accounts.actions.invitations import create_setup_link, invite
from apps.accounts.enums import Role
from apps.goldsets.enums import VersionState
from apps.judging.actions.guidelines import publish_guideline
from apps.querylogs.actions import close_log
from tests.agreement.factories import answer_items, make_calibration
from tests.e2e import looking, world
from tests.e2e.worlds import shared
from tests.factories import AT, lead_of, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.goldsets.test_training import question, train
from tests.judging.factories import grade_texts, judge_all, make_round, people_of
from tests.judging.same import carry, judged, make_same_pool
from tests.querylogs.factories import make_log

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

MOST_OF_A_KIND = 2
WIDTHS = (390, 1024, 1280)
REFUSED = 409  # a page too: the sentence says why not
# Answers to GET that are no pages: downloads, fragments for htmx, and forms that redirect.
NO_PAGES = {
    "healthz",
    "accounts:sso",
    "accounts:sso-return",
    "readyz",
    "metrics",
    "calibration:log-download",
    "badges:badge",
    "corpus:import-errors",
    "reports:comparison",
    "evaluation:export",
    "agreement:subtopics-file",
    "gates:gates-file",
    "reports:negatives-file",
    "evaluation:pick",
    "reports:evaluation",
    "reports:version",
    "goldsets:export",
    "goldsets:public-file",
    "jobs:progress",
    "judging:earlier",
    "judging:pairs",
    "judging:preview",
    "retrieval:estimate",
    "retrieval:mistakes",
    "retrieval:passages-csv",
    "retrieval:queries-csv",
    "retrieval:sheet",
    "retrieval:results",
    "querylogs:clicks",
    "triples:block",
    "triples:find",
    "triples:hits",
    "triples:queries",
    "review:bulk-steps",
    "review:export-file",
    "review:flags",
}
OF_STRANGERS = {"accounts:login", "accounts:setup", "accounts:join", "accounts:password-reset", "accounts:reset"}
# It holds one released version and one guideline, nobody in it is asked to calibrate, no text in it is the same as
# another, no compound claim is disputed, no candidate waits, no passage is proposed as right as well, its
# first runs miss nothing, none is scored by text, no run leaks, no set of queries is saved, and no ids of traces are
# kept: tests below, the stories of triples, of candidates, of misses, of scores by text, of query sets and of traces
# make them, all but the page of leaks, which is tested without a browser.
NOT_IN_THE_DEMO = {
    "evaluation:leaks",
    "goldsets:send-grades",
    "queries:set",
    "querylogs:log",
    "querylogs:read",
    "evaluation:misses",
    "evaluation:not-located",
    "evaluation:returned",
    "goldsets:difference",
    "goldsets:public-card",
    "goldsets:public-preview",
    "goldsets:public-exclusions",
    "goldsets:training-found",
    "calibration:calibration",
    "calibration:item",
    "judging:carry",
    "judging:difference",
    "judging:differences",
    "judging:guideline-changes",
    "retrieval:loaded-index",
    "retrieval:pace",
    "review:bulk-left",
    "review:candidate",
    "review:candidate-next",
    "review:split",
    "triples:candidate",
}
LINKS = "() => [...document.querySelectorAll('a[href]')].map((a) => a.href)"


class Crawler:
    """Follows the links of one person, `most` of each kind of page. Axe looks at the first of a kind, which costs more
    than all the rest: in both themes, or `in_light` only. Every page is opened, in all widths.
    """

    def __init__(self, page, live_server, witness) -> None:
        self.most = MOST_OF_A_KIND
        self.in_light = False
        self.page = page
        self.root = live_server.url
        self.witness = witness
        self.faults: list[str] = []
        self.seen: dict[str, list[str]] = {}
        self.is_first_of_its_kind = True

    def crawl(self, *starts: str) -> None:
        queue = list(starts)
        while queue:
            path = queue.pop(0)
            if self._is_new(path):
                queue += self._visit(path)

    def look_at(self, *paths: str) -> None:
        """These pages and none that they lead to."""
        for path in paths:
            if self._is_new(path):
                self.is_first_of_its_kind = True
                self._visit(path)

    def _is_new(self, path: str) -> bool:
        if path.startswith(static("")):
            if finders.find(urlsplit(path).path.removeprefix(static(""))) is None:
                self.faults.append(f"{path}: no such file")
            return False
        try:
            name = resolve(urlsplit(path).path).view_name
        except Resolver404:
            self.faults.append(f"{path}: a link to nowhere")
            return False
        visited = self.seen.setdefault(name, [])
        if name in NO_PAGES or "format=csv" in path or path in visited or len(visited) >= self.most:
            return False
        visited.append(path)
        self.is_first_of_its_kind = len(visited) == 1
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
        if self.is_first_of_its_kind:
            faults = looking.axe_faults if self.in_light else looking.faults_in_both_themes
            self.faults += [f"{path}: {fault}" for fault in faults(self.page)]
        self._look_in_all_widths(path)
        links = [urlsplit(link) for link in self.page.evaluate(LINKS)]
        ours = urlsplit(self.root).netloc
        return [link.path + (f"?{link.query}" if link.query else "") for link in links if link.netloc == ours]

    def _look_in_all_widths(self, path: str) -> None:
        looking.look_at(self.page, path.strip("/") or "root")
        for width in (looking.WIDE["width"], *WIDTHS):
            self.faults += [f"{path} {fault}" for fault in looking.faults_at_width(self.page, width)]


small_world = shared(world.build)


@pytest.fixture
def crawler(page, live_server, witness):
    return Crawler(page, live_server, witness)


@pytest.mark.long
def test_every_page_of_a_lead_is_clean_and_none_is_forgotten(small_world, crawler, signed_in):
    signed_in(small_world.lead)

    crawler.crawl("/", f"/p/{small_world.project.slug}/", *small_world.unlinked)

    assert "\n".join(crawler.faults) == ""
    forgotten = world.page_names() - set(crawler.seen) - NO_PAGES - OF_STRANGERS - NOT_IN_THE_DEMO
    assert ", ".join(sorted(forgotten)) == ""


def test_every_page_of_an_annotator_is_clean(small_world, crawler, signed_in):
    signed_in(small_world.annotator)
    crawler.most = 1
    crawler.in_light = True  # the colours of these pages are those of the lead's

    crawler.crawl("/", f"/p/{small_world.project.slug}/")

    assert "\n".join(crawler.faults) == ""


def test_what_no_link_of_the_demo_leads_to_is_clean(transactional_db, crawler, signed_in):
    """Pages of strangers, two versions, training, grades carried over, a new guideline, and a calibration."""
    crawler.crawl(f"/setup/{create_setup_link(at=timezone.now())}/")
    project = make_project()
    _, invitation = invite(project=project, actor=lead_of(project), roles=[Role.VIEWER], at=timezone.now())
    crawler.crawl("/login/", f"/join/{invitation}/")

    former = make_version(VersionState.SUPERSEDED)
    signed_in(lead_of(former.gold_set.project))
    crawler.look_at(f"/p/{former.gold_set.project.slug}/versions/{former.gold_set.slug}/v2/difference/")

    bench = make_bench(queries=4, triples=1)
    version = make_version(VersionState.RELEASED, bench, test_share=0.5)
    train(bench, question(version.queries.filter(split="test").first().outside_id))
    signed_in(bench.lead)
    place = [bench.project.slug, version.gold_set.slug, version.number]
    crawler.look_at(reverse("goldsets:training-found", args=place))

    pool = make_same_pool()
    judged(pool)
    signed_in(lead_of(pool.project))
    page = f"/p/{pool.project.slug}/judging/pools/{pool.pk}/carry/"
    crawler.look_at(page)
    round_ = carry(pool)
    crawler.look_at(f"{page}?empty", f"/p/{pool.project.slug}/judging/rounds/{round_.pk}/")

    round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0, judges=1)
    judge_all(round_, people_of(round_)[0], lambda seat: 2)
    lead = lead_of(round_.project)
    grades = [
        entry | ({"definition": "Only where it names the mode."} if entry["grade"] == 2 else {})
        for entry in grade_texts()
    ]
    publish_guideline(project=round_.project, actor=lead, grades=grades, markdown="Take the *lower* grade.", at=AT)
    signed_in(lead)
    crawler.look_at(f"/p/{round_.project.slug}/judging/guideline/2/changes/")

    log = make_log(round_.project)
    address = f"/p/{round_.project.slug}/queries/logs/{log.pk}/"
    crawler.look_at(f"{address}1/")
    close_log(log_id=log.pk, actor=lead, at=AT)
    crawler.look_at(address)

    made = make_calibration(items=2, confirmed=1, flagged=1)
    signed_in(made.subject)
    home = f"/p/{made.project.slug}/agreement/calibration/1/"
    crawler.look_at(home, f"{home}item/1/")
    answer_items(made, made.subject)
    answer_items(made, made.partner, "flag")
    crawler.look_at(f"{home}?answered")

    assert "\n".join(crawler.faults) == ""
    met = {
        "goldsets:difference",
        "goldsets:training-found",
        "judging:carry",
        "judging:round",
        "judging:guideline-changes",
        "querylogs:log",
        "querylogs:read",
    }
    assert met | {"accounts:login", "calibration:calibration", "calibration:item"} <= set(crawler.seen)
