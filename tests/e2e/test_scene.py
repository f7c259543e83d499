"""What fails says why: the step, what was on the page, the console, and the server's log."""

import logging
import threading
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

from tests.e2e import conftest
from tests.e2e.scene import scene

PAGE = """<!doctype html><html lang="en"><title>Rounds</title><body><nav><ul><li><a href="/x">Corpus</a></li></ul></nav>
<main><h1>Round 1 is closed</h1></main><script>console.error("no such key")</script></body></html>"""


@pytest.fixture
def page(browser):
    context = browser.new_context()
    scene.watch(context)
    page = context.new_page()
    yield page
    context.close()


def press_grade(page) -> None:
    expect(page.get_by_role("heading")).to_have_text("Round 2", timeout=1)


def log_as_the_server() -> None:
    thread = threading.Thread(target=logging.getLogger("apps.judging").error, args=("seat 7 has lapsed",))
    thread.start()
    thread.join()


def test_the_report_of_a_failed_story_ends_with_all_that_was_seen_and_heard(page, request):
    page.set_content(PAGE)
    log_as_the_server()
    call = pytest.CallInfo.from_call(lambda: press_grade(page), "call")

    hook = conftest.pytest_runtest_makereport(request.node, call)
    next(hook)
    with pytest.raises(StopIteration) as done:
        hook.send(SimpleNamespace(failed=True, sections=[]))
    ((title, told),) = done.value.value.sections

    assert title == "the story when it failed"
    lines = [line.strip() for line in told.splitlines()]
    step = 'expect(page.get_by_role("heading")).to_have_text("Round 2", timeout=1)'
    assert [line for line in lines if line.startswith("test_scene.py") and line.endswith(step)]
    assert {"about:blank", "Rounds", '- heading "Round 1 is closed" [level=1]', "error: no such key"} <= set(lines)
    assert "seat 7 has lapsed" in lines
    assert not [line for line in lines if "Corpus" in line]
