"""A real browser for the tests in this folder."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e import looking
from tests.e2e.scene import Listener, Server, scene

HERE = Path(__file__).resolve().parent
ON_BOTH = {"test_main_story.py", "test_oidc_provider.py"}
"""What is walked on PostgreSQL too."""
ALWAYS = {*ON_BOTH, "test_judging_screen.py", "test_review_screen.py", "test_scene.py"}
"""The main story and the two screens on which people spend their days; all others are left to --all."""
ARGUMENTS = ["--disable-dev-shm-usage", "--disable-background-networking", "--disable-gpu"]
expect.set_options(timeout=looking.PATIENCE)
LiveServerThread.server_class = Server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if item.path.name not in ON_BOTH:
                item.add_marker(pytest.mark.once)
            if item.path.name not in ALWAYS:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    """Whatever fails says in its last lines where the story stood and what was there to see."""
    report = yield
    if report.failed and call.when != "teardown":
        report.sections.append(("the story when it failed", scene.tell(item.name, call)))
    return report


@pytest.fixture(autouse=True)
def _scene() -> Iterator[None]:
    listener = Listener(logging.WARNING)
    scene.begin()
    logging.getLogger().addHandler(listener)
    yield
    logging.getLogger().removeHandler(listener)


def chromium() -> str | None:
    """The browser that KARAT_CHROMIUM names, else the one without windows, else the whole one."""
    named = os.environ.get("KARAT_CHROMIUM")
    return shutil.which(named) if named else shutil.which("chromium-headless-shell") or shutil.which("chromium")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it. Without one these tests are skipped; under CI that is an error."""
    path = chromium()
    if path is None:
        reason = "no Chromium: apt-get install chromium-headless-shell"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    arguments = [*ARGUMENTS, "--no-sandbox"] if os.geteuid() == 0 else ARGUMENTS
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def new_context(browser: Browser, live_server) -> Iterator[Callable[..., BrowserContext]]:
    """Makes fresh browser profiles that know the address of the live server. All end before the database is emptied."""
    made: list[BrowserContext] = []

    def make(**options) -> BrowserContext:
        options = {"viewport": looking.WIDE, "reduced_motion": "reduce"} | options
        context = browser.new_context(base_url=live_server.url, **options)
        context.add_init_script(looking.WATCH)
        context.set_default_timeout(looking.PATIENCE)
        scene.watch(context)
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()
    live_server.thread.httpd.wait_until_idle()


@pytest.fixture
def context(new_context) -> BrowserContext:
    return new_context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def signed_in(context: BrowserContext, live_server):
    """`signed_in(user)` makes the browser be that person from the next page on."""

    def become(user) -> None:
        context.clear_cookies()
        looking.sign_in(context, live_server.url, user)

    return become


@pytest.fixture
def witness(page: Page) -> looking.Witness:
    return looking.Witness(page)
