"""A real browser for the tests in this folder."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e import looking

HERE = Path(__file__).resolve().parent
MAIN_STORY = "test_main_story.py"
ARGUMENTS = ["--disable-dev-shm-usage", "--disable-background-networking", "--disable-gpu"]
expect.set_options(timeout=looking.PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.e2e)
            if item.path.name != MAIN_STORY:
                item.add_marker(pytest.mark.once)


def chromium() -> str | None:
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


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
def context(browser: Browser, live_server) -> Iterator[BrowserContext]:
    """A fresh browser profile that knows the address of the live server."""
    context = browser.new_context(base_url=live_server.url, viewport=looking.WIDE, reduced_motion="reduce")
    context.add_init_script(looking.WATCH)
    context.set_default_timeout(looking.PATIENCE)
    yield context
    context.close()


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


@pytest.fixture
def axe_clean():
    return looking.axe_clean


@pytest.fixture
def look_at():
    return looking.look_at
