"""One size on one database: fill it, serve it, measure, and check that everything adds up."""

import tempfile
from typing import NamedTuple

from benchmarks.judging import browser, load, servers, world

CLIENTS = (1, 8, 32)
REPEATS = 30


class Wanted(NamedTuple):
    pairs: int
    presses: int
    rhythm: float
    seconds: float
    url: str


class Result(NamedTuple):
    """One size on one database."""

    world: world.World
    shown: browser.Shown
    page: list[float]
    pairs: list[float]
    loaded: list[load.Loaded]
    floor: list[load.Loaded]
    faults: list[str]


def measure(wanted: Wanted) -> Result:
    """Fill, serve, measure, check. Runs in a process of its own, for Django knows one database."""
    with tempfile.TemporaryDirectory(prefix="karat-benchmark-") as folder, world.OwnDatabase(wanted.url) as url:
        world.connect(folder, url)
        (there,) = world.fill(wanted.pairs)
        with servers.karat(folder, url) as karat:
            page, pairs, faults = load.pages_of(karat.port, there, REPEATS)
            shown = browser.press(karat.port, there, times=wanted.presses, rhythm=wanted.rhythm)
            loaded = [load.grade_for(karat.port, there, clients, wanted.seconds) for clients in CLIENTS]
        with servers.floor(folder, url) as floor:
            bare = [load.insert_for(floor.port, there, clients, wanted.seconds / 2) for clients in CLIENTS]
        faults += shown.complaints
        faults += [error for one in (*loaded, *bare) for error in one.errors]
        faults += world.broken(wanted.presses + sum(one.grades for one in loaded))
        world.leave()
    return Result(there, shown, page, pairs, loaded, bare, faults)
