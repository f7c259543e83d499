"""What was to be seen and heard when a story failed: its step, each open page, the console, and the server's log."""

import contextlib
import faulthandler
import logging
import re
import socket
import sys
import threading
from collections import deque
from pathlib import Path

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from playwright.sync_api import BrowserContext, Error, Page

RESULTS = Path(__file__).resolve().parent.parent.parent / "test-results"
HERE = Path(__file__).resolve().parent
MOST_REQUESTS = 12
MOST_LINES = 80
MOMENT = 5_000  # milliseconds that a page which fails anyway gets to tell about itself


class Scene:
    """One for each process: what the browser and the server of the test that runs have said."""

    def __init__(self) -> None:
        self.contexts: list[BrowserContext] = []
        self.heard: deque[str] = deque(maxlen=30)
        self.requests: deque[str] = deque(maxlen=MOST_REQUESTS)
        self.log: deque[str] = deque(maxlen=10)

    def begin(self) -> None:
        for said in (self.contexts, self.heard, self.requests, self.log):
            said.clear()

    def watch(self, context: BrowserContext) -> None:
        self.contexts.append(context)
        context.on("console", lambda message: self.heard.append(f"{message.type}: {message.text}"))
        context.on("weberror", lambda error: self.heard.append(f"uncaught: {error.error}"))
        context.on("requestfailed", lambda asked: self.heard.append(f"failed: {asked.url} {asked.failure}"))

    def tell(self, name: str, call: pytest.CallInfo) -> str:
        """Everything, in the order in which one asks."""
        parts = [("Step", _steps(call))]
        pages = [page for context in self.contexts for page in context.pages]
        for number, page in enumerate(pages, start=1):
            parts.append((f"Page {number} of {len(pages)}", _page(page, f"{name}-{number}")))
        parts.append(("Console", "\n".join(self.heard) or "said nothing"))
        parts.append(("Last requests", "\n".join(self.requests) or "none"))
        parts.append(("Server's log", "\n".join(self.log) or "nothing"))
        return "\n".join(f"{head}:\n{_indented(text)}" for head, text in parts)


scene = Scene()


class Listener(logging.Handler):
    """Keeps what the server's threads log; what the test itself logs pytest shows already."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.threadName != "MainThread":
            scene.log.append(self.format(record))


class Handler(WSGIRequestHandler):
    disable_nagle_algorithm = True  # the end of an answer waits for nobody

    def log_message(self, format: str, *args) -> None:
        scene.requests.append(format % args)


class Server(ThreadedWSGIServer):
    """The live server of the stories. It knows whether anybody is still being served."""

    def __init__(self, address, handler, **options) -> None:
        self._open: set[socket.socket] = set()
        self._change = threading.Condition()
        super().__init__(address, Handler, **options)

    def process_request(self, request, client_address) -> None:
        with self._change:
            self._open.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._change:
                self._open.discard(request)
                self._change.notify_all()

    def wait_until_idle(self) -> None:
        """Every connection has ended: nothing of this test reaches the database of the next one.

        What was sent is still answered; a browser that keeps a connection for later is not waited for.
        """
        with self._change:
            for connection in self._open:
                with contextlib.suppress(OSError):  # it has just ended
                    connection.shutdown(socket.SHUT_RD)
            if not self._change.wait_for(lambda: not self._open, timeout=60):
                faulthandler.dump_traceback(sys.__stderr__)
                raise AssertionError("a request does not end: see what its thread does in the output of the tests")


def _steps(call: pytest.CallInfo) -> str:
    """The lines of the story, outermost first, that led to the failure."""
    entries = [entry for entry in call.excinfo.traceback if HERE in Path(entry.path).parents]
    lines = [f"{Path(entry.path).name}:{entry.lineno + 1} {str(entry.statement).strip()}" for entry in entries]
    return "\n".join([*lines, call.excinfo.exconly().splitlines()[0]])


def _page(page: Page, name: str) -> str:
    try:
        RESULTS.mkdir(exist_ok=True)
        picture = RESULTS / f"failed-{re.sub(r'[^a-z0-9-]+', '-', name.lower()).strip('-')[:120]}.png"
        lines = [page.url, page.title()]
        lines += _without_menu(page.locator("body").aria_snapshot(timeout=MOMENT).splitlines())[:MOST_LINES]
        page.screenshot(path=picture, timeout=MOMENT)
        return "\n".join([*lines, f"see {picture.relative_to(RESULTS.parent)}"])
    except Error as error:
        return f"{page.url}\nit tells nothing: {error.message.splitlines()[0]}"


def _without_menu(lines: list[str]) -> list[str]:
    """Neither addresses nor the entries of the project's menu, which every page has."""
    kept, menu = [], None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if menu is not None and depth <= menu:
            menu = None
        if menu is None and not line.lstrip().startswith("- /url:"):
            kept.append(line)
        if line.lstrip().startswith("- navigation"):
            menu = depth
    return kept


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
