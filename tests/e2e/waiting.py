"""How a story waits: for what the page announces, never for time.

A page that hears keys and clicks carries `data-ready` on its root (static/js/ready.js), and what the server is asked
for has aria-busy. `turned` is for everything that leads to another page, `settled` for what must not have happened.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.running_jobs import run_jobs

LEFT = "document.documentElement.dataset.left = ''"
READY = "html[data-ready]"
NEW = "html[data-ready]:not([data-left])"
QUIET = "html[data-ready]:not(:has([aria-busy=true]))"
UP_TO_DATE = "html[data-ready]:not(:has([hx-get*='refresh=1']))"


def ready(page: Page) -> None:
    """Whatever page is open, its scripts have run."""
    page.locator(READY).wait_for(state="attached")


@contextmanager
def turned(page: Page) -> Iterator[None]:
    """What is done inside leads to another page; that one has come, with its scripts."""
    page.evaluate(LEFT)
    yield
    page.locator(NEW).wait_for(state="attached")


def settled(page: Page) -> None:
    """The page asks the server for nothing more."""
    page.locator(QUIET).wait_for(state="attached")


def go(page: Page, path: str) -> None:
    """Type an address. The page has come, was not refused, and hears keys."""
    answer = page.goto(path)
    assert answer is None or answer.ok, f"{path}: {answer.status}"
    ready(page)


def worked(page: Page) -> None:
    """A worker does what waits. A page that watches a job loads itself again at its end, which is waited for."""
    run_jobs()
    page.locator(UP_TO_DATE).wait_for(state="attached")


def press(page: Page, *keys: str) -> None:
    """Keys one after another, each on a page that hears it and has drawn what the one before led to.

    On the judging screen each on a pair that takes grades: its form is busy until somebody can have seen the pair.
    """
    for key in keys:
        settled(page)
        page.keyboard.press(key)
