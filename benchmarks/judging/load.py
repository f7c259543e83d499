"""Clients that grade over HTTP as fast as they are answered, and what they saw."""

import http.client
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.judging.world import World

HELD = 8
CSRF = "b" * 32


class Loaded(NamedTuple):
    """One measurement under load. Times in seconds."""

    clients: int
    grades: int
    seconds: float
    grading: list[float]
    fetching: list[float]
    errors: list[str]


@dataclass
class Seen:
    grading: list[float] = field(default_factory=list)
    fetching: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Link:
    """A kept connection of one person who is signed in."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.headers = {
            "Cookie": f"karat-session={session}; karat-csrf={CSRF}",
            "X-CSRFToken": CSRF,
            "Content-Type": "application/json",
        }
        self.link: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: dict | None = None) -> tuple[float, int, bytes]:
        """Seconds, status and body. A connection that the server closed while it was idle is opened again."""
        text = json.dumps(body) if body is not None else None
        for attempt in (1, 2):
            fresh = self.link is None
            self.link = self.link or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            begun = time.perf_counter()
            try:
                self.link.request(method, path, text, self.headers)
                response = self.link.getresponse()
                data = response.read()
                return time.perf_counter() - begun, response.status, data
            except (http.client.HTTPException, OSError):
                self.link.close()
                self.link = None
                if fresh or attempt == 2:
                    raise
        raise AssertionError("unreachable")


def grade_for(port: int, world: World, clients: int, seconds: float) -> Loaded:
    """So many people grade for so long, each the pairs they were given, without a pause."""
    root = f"/api/v1/projects/{world.slug}/judging/rounds/{world.round_id}"

    def work(link: Link, seen: Seen, end: float) -> None:
        while time.perf_counter() < end:
            took, status, data = link.ask("GET", f"{root}/pairs/?n={HELD}")
            if status != 200:
                seen.errors.append(f"pairs: {status} {data[:200]!r}")
                return
            seen.fetching.append(took)
            for pair in json.loads(data)["pairs"]:
                if time.perf_counter() >= end:
                    return
                grade(link, seen, f"{root}/judgements/", pair["seat"])

    return in_threads(port, world.hands[:clients], seconds, work)


def insert_for(port: int, world: World, clients: int, seconds: float) -> Loaded:
    """The same number of clients on the floor: the same body, and no pairs to fetch."""

    def work(link: Link, seen: Seen, end: float) -> None:
        number = 0
        while time.perf_counter() < end:
            number += 1
            grade(link, seen, "/", number)

    return in_threads(port, world.hands[:clients], seconds, work)


def grade(link: Link, seen: Seen, path: str, seat: int) -> None:
    body = {"seat": seat, "grade": seat % 4, "active_ms": 900, "idempotency_key": secrets.token_hex(16)}
    took, status, data = link.ask("POST", path, body)
    if status == 201:
        seen.grading.append(took)
    else:
        seen.errors.append(f"grade: {status} {data[:200]!r}")


def in_threads(port: int, sessions: list[str], seconds: float, work: Callable[[Link, Seen, float], None]) -> Loaded:
    seen = [Seen() for _ in sessions]
    gate = threading.Barrier(len(sessions) + 1)

    def run(session: str, mine: Seen) -> None:
        gate.wait()
        try:
            work(Link(port, session), mine, time.perf_counter() + seconds)
        except (http.client.HTTPException, OSError) as fault:
            mine.errors.append(repr(fault))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(sessions, seen, strict=True)]
    for thread in threads:
        thread.start()
    gate.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - begun
    grading = [time for one in seen for time in one.grading]
    fetching = [time for one in seen for time in one.fetching]
    errors = [error for one in seen for error in one.errors]
    return Loaded(len(sessions), len(grading), took, grading, fetching, errors)


def pages_of(port: int, world: World, repeats: int) -> tuple[list[float], list[float], list[str]]:
    """The time of the judging page and of the pairs that the page asks for, one reader, nobody else there."""
    root = f"/p/{world.slug}/judging/rounds/{world.round_id}"
    link, errors = Link(port, world.reader), []
    times: dict[str, list[float]] = {"judge/": [], "pairs/?n=8": []}
    for path, took in times.items():
        for number in range(repeats + 3):
            seconds, status, _ = link.ask("GET", f"{root}/{path}")
            if status != 200:
                errors.append(f"{path}: {status}")
            if number >= 3:
                took.append(seconds)
    return times["judge/"], times["pairs/?n=8"], errors
