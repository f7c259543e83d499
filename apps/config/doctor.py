"""What limits how fast a machine grades: the processor, the disk, or the way to the database. For `karat doctor`.

A few figures are measured, and put into words by plain functions. The words are estimates: they tell which part is the
narrow one and how narrow, not what a load test would find.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from apps.common.text.wording import plural

SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
HERE = {"", "localhost", "127.0.0.1", "::1"}

REFERENCE_WORK_MS = 1.8
"""What `_work` takes on the machine of docs/reference/performance.md, from which the next figures are, too."""
KARAT_MS, DATABASE_MS = 2.5, 2.7
"""Processor time of one grade, its pair included: of Karat, SQLite with it, and of a PostgreSQL server."""
STATEMENTS = 5
"""Round trips to the database in the same time."""
THREADS = 16
"""Requests at once, whose commits wait for the disk together."""
SECONDS_A_GRADE = 10
"""What a person takes for a pair that is easy; most take longer."""

SLOW_COMMIT_MS = 20.0
"""A solid state disk takes 1 to 5 ms to make a commit safe, a rotating one 10; more is a disk over a network."""
FAR_DATABASE_MS = 5.0
"""A server in the same building answers within 1 ms; with more, each page waits for tens of milliseconds."""
SLOW_WORK_MS = 3 * REFERENCE_WORK_MS
"""A third of an ordinary core: a shared one that others use, or one that is throttled."""


class Figures(NamedTuple):
    """Milliseconds at best of a fixed calculation and of a round trip, and in the middle of a commit without that."""

    engine: str
    is_near: bool
    cores: int
    work_ms: float
    round_trip_ms: float
    commit_ms: float


class Limit(NamedTuple):
    """Grades a second that one part allows, what it is, and what to change when it is the narrowest."""

    grades: float
    part: str
    remedy: str


def limits(figures: Figures) -> list[Limit]:
    """What each part allows, the narrowest first."""
    is_near_server = figures.engine == POSTGRESQL and figures.is_near
    work = (KARAT_MS + DATABASE_MS * is_near_server) * figures.work_ms / REFERENCE_WORK_MS
    found = [
        Limit(
            figures.cores * 1000 / work,
            "the processor",
            "More cores or faster ones allow more" + (", or PostgreSQL on another machine." if is_near_server else "."),
        ),
        Limit(THREADS * 1000 / max(figures.commit_ms, 0.01), "the disk of the database", _better_disk(figures)),
    ]
    if figures.engine == POSTGRESQL:
        waits = max(STATEMENTS * figures.round_trip_ms, 0.01)
        found.append(
            Limit(
                THREADS * 1000 / waits,
                "the way to the database",
                "A database server on this machine, or in the same building, allows more.",
            )
        )
    return sorted(found)


def _better_disk(figures: Figures) -> str:
    if figures.engine == SQLITE:
        return "A solid state disk of this machine for the data directory allows more, or PostgreSQL."
    return "A solid state disk for the database server allows more."


def report(figures: Figures) -> list[str]:
    """The figures, and what they mean."""
    narrowest, *others = limits(figures)
    slowness = figures.work_ms / REFERENCE_WORK_MS
    lines = [
        f"Processor: {cores_of(figures)}, {slowness:.1f} times the time of an ordinary core.",
        f"Database: {figures.engine}, {figures.commit_ms:.1f} ms to make a commit safe"
        + (f", {figures.round_trip_ms:.1f} ms for a round trip." if figures.engine == POSTGRESQL else "."),
        f"What limits grading here is {narrowest.part}: about {rounded(narrowest.grades)} grades a second, enough for "
        f"{rounded(narrowest.grades * SECONDS_A_GRADE)} people who take {SECONDS_A_GRADE} seconds for each. "
        + narrowest.remedy,
    ]
    rest = ", ".join(f"{limit.part} {rounded(limit.grades)}" for limit in others)
    return [*lines, f"The other parts allow more: {rest}."]


def warning(figures: Figures) -> str:
    """One line about what is unusually slow here; "" when nothing is."""
    if figures.commit_ms > SLOW_COMMIT_MS:
        slow = f"The disk of the database is slow: {figures.commit_ms:.0f} ms for a commit."
    elif figures.round_trip_ms > FAR_DATABASE_MS:
        slow = f"The database is far away: {figures.round_trip_ms:.0f} ms for a round trip."
    elif figures.work_ms > SLOW_WORK_MS:
        slow = f"The processor is slow: {figures.work_ms / REFERENCE_WORK_MS:.0f} times the time of an ordinary core."
    else:
        return ""
    return f"{slow} About {rounded(limits(figures)[0].grades)} grades a second at most; see `karat doctor`."


def cores_of(figures: Figures) -> str:
    return plural(figures.cores, "core")


def rounded(number: float) -> str:
    """With two digits that count: the estimate has no more."""
    digits = len(str(int(number))) - 2
    return f"{round(number, -digits) if digits > 0 else round(number):,.0f}"


def measure(*, seconds: float) -> Figures:
    """Measure this machine and its database, for about as long. Nothing of what is written stays."""
    is_sqlite = connection.vendor == "sqlite"
    part = seconds / 3
    round_trip = 0.0 if is_sqlite else min(_times(_ask, part))
    commits = _sqlite_commits(part) if is_sqlite else _times(_commit, part)
    return Figures(
        engine=SQLITE if is_sqlite else POSTGRESQL,
        is_near=is_sqlite or _is_here(connection.settings_dict["HOST"]),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        work_ms=min(_times(_work, part)),
        round_trip_ms=round_trip,
        commit_ms=max(sorted(commits)[len(commits) // 2] - round_trip, 0.0),
    )


def _times(do: Callable[[], object], seconds: float) -> list[float]:
    """Milliseconds of each call, for so long, but at least three."""
    end = time.perf_counter() + seconds
    times: list[float] = []
    while len(times) < 3 or time.perf_counter() < end:
        begun = time.perf_counter()
        do()
        times.append((time.perf_counter() - begun) * 1000)
    return times


def _work() -> int:
    return sum(len(str(number * number % 7919)) for number in range(20_000))


def _ask() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _commit() -> None:
    """A transaction that writes a message to the log of the server, which nobody reads, and to no table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_logical_emit_message(true, 'karat', 'karat doctor')")


def _sqlite_commits(seconds: float) -> list[float]:
    """Commits to a database of its own beside Karat's, as safe as those of Karat."""
    beside = Path(connection.settings_dict["NAME"]).parent
    folder = beside if beside.is_dir() else settings.DATA_DIR
    with (
        TemporaryDirectory(prefix=".doctor-", dir=folder) as scratch,
        closing(sqlite3.connect(Path(scratch) / "trial.sqlite3", isolation_level=None)) as trial,
    ):
        trial.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE grade (note TEXT);")
        return _times(lambda: trial.execute("INSERT INTO grade VALUES ('a grade')"), seconds)


def _is_here(host: str) -> bool:
    return host in HERE or host.startswith("/")
