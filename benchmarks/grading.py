"""Fetching one pair and grading it, by many people at once: how many loops a second, and what a loop costs.

    python benchmarks/grading.py [--kinds plain repeats …] [--pairs 10000 …] [--clients 32] [--seconds 8] [--turns 4]
        [--beside 0] [--kills 0]

For each size a database of its own (SQLite in a temporary folder, and one on PostgreSQL when DATABASE_URL names a
server) gets an open round of each kind with 20 % of its pairs to be judged twice (`judging.world.PLANS`). `karat up`
serves them; so many clients, each a person who is signed in, fetch one pair and grade it, again and again, from one
other process on the same machine. Several sizes stand beside each other and take turns, `--turns` of them within their
seconds, for the speed of a shared machine changes from one minute to the next.

Printed are loops a second, the time of a loop, the processor time that Karat's processes and PostgreSQL's take for one,
and beside each kind the floor, measured just after it: the same web server answering with one INSERT. A loop is two
requests, so its floor is half as many loops as inserts. The exit code is 1 when a request failed, an acknowledged grade
is missing, or a pair has more grades than its plan asked for.

`--beside 100000` has the server's worker import so many passages and build a pool from two systems meanwhile, and says
how far both came. `--kills 6` kills all processes of the server so often and starts it again; clients then connect
again, and the times of their loops include its start. With either, sizes are measured one after the other, and one kind
is measured.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing.managers import BarrierProxy as Barrier
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judging import load, loops, servers, world
from benchmarks.judging.beside import Beside
from benchmarks.judging.kills import Kills
from benchmarks.memory import family

TICK = os.sysconf("SC_CLK_TCK")


class Measured(NamedTuple):
    """One kind of round; processor times in milliseconds a loop."""

    kind: str
    loops: loops.Loops
    karat_ms: float
    database_ms: float
    floor: float


class Size(NamedTuple):
    """One size on one database."""

    kinds: list[Measured]
    faults: list[str]
    beside: str


def processor_seconds(pids: list[int]) -> dict[int, float]:
    """What each of these processes has taken so far; those that have ended are left out."""
    taken = {}
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        taken[pid] = (int(fields[11]) + int(fields[12])) / TICK
    return taken


def _since(before: dict[int, float], after: dict[int, float]) -> float:
    """Of those that still live: one that has ended may have taken all of it long ago."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def database_processes() -> list[int]:
    """The processes of PostgreSQL on this machine, which nobody else should be using."""
    names = Path("/proc").glob("[0-9]*/comm")
    return [int(path.parent.name) for path in names if path.read_text().startswith("postgres")]


class Trouble(NamedTuple):
    """What happens to the server while it is measured."""

    passages: int = 0
    kills: int = 0


class Turns:
    """Turns of processes that wait for each other: one works, in the order of their places."""

    def __init__(self, barrier: Barrier, place: int, count: int) -> None:
        self.barrier, self.place, self.count = barrier, place, count

    @contextmanager
    def next(self) -> Iterator[None]:
        for place in range(self.barrier.parties):
            if place == self.place:
                yield
            self.barrier.wait()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Who fails leaves nobody waiting."""
        try:
            yield
        except BaseException:
            self.barrier.abort()
            raise


def measure(
    pairs: int, kinds: list[str], clients: int, seconds: float, url: str, trouble: Trouble, turns: Turns
) -> Size:
    """Fill, serve, measure, check. Runs in a process of its own, for Django knows one database."""
    with (
        turns.together(),
        tempfile.TemporaryDirectory(prefix="karat-benchmark-") as folder,
        world.OwnDatabase(url) as own,
    ):
        world.connect(folder, own)
        worlds = world.fill(pairs, kinds)
        beside = Beside(world.project(worlds[0]), folder, trouble.passages) if trouble.passages else None
        with servers.karat(folder, own) as karat, servers.floor(folder, own) as floor:
            kills = Kills(karat, trouble.kills, seconds) if trouble.kills else None
            turns.barrier.wait()  # until the other is filled too
            time.sleep(2)
            found, seats, faults = [], [], list[str]()
            for there in worlds:
                seen, in_karat, in_database = [], 0.0, 0.0
                for _ in range(turns.count):
                    with turns.next():
                        processes = family(karat.process.pid)
                        before, database = processor_seconds(processes), processor_seconds(database_processes())
                        if kills:
                            kills.begin()
                        if beside:
                            beside.begin()
                        seen.append(
                            _loops(karat.port, there, clients, seconds / turns.count, comes_back=trouble.kills > 0)
                        )
                        in_karat += _since(before, processor_seconds(processes))
                        in_database += _since(database, processor_seconds(database_processes()))
                with turns.next():
                    bare = load.insert_for(floor.port, there, clients, seconds / 2)
                whole = loops.joined(seen)
                seats += whole.seats
                faults += [f"{there.kind}: {fault}" for fault in (*whole.errors, *bare.errors)]
                n = max(1, len(whole.times)) / 1000
                karat_ms, database_ms = in_karat / n, in_database / n if url else 0.0
                speed = bare.grades / bare.seconds / 2
                found.append(Measured(there.kind, whole, float("nan") if kills else karat_ms, database_ms, speed))
            state = beside.state() if beside else ""
            faults += [kills.join() if kills else ""]
        stands = world.inconsistent() if trouble.kills else world.broken(len(set(seats)))
        faults += [*stands, *world.lost(seats)]
        world.leave()
    return Size(found, [*filter(None, faults)], state)


def all_sizes(
    sizes: list[int], kinds: list[str], clients: int, seconds: float, url: str, trouble: Trouble, turns: int
) -> list[Size]:
    """Beside each other in turns; one after the other when something else goes on beside them."""
    spawn = multiprocessing.get_context("spawn")
    apart = bool(trouble.kills or trouble.passages)
    with spawn.Manager() as manager, ProcessPoolExecutor(len(sizes), spawn, max_tasks_per_child=1) as pool:
        barrier = manager.Barrier(1 if apart else len(sizes))
        order = [Turns(barrier, 0 if apart else place, 1 if apart else turns) for place in range(len(sizes))]
        measured = []
        for pairs, own in zip(sizes, order, strict=True):
            measured.append(pool.submit(measure, pairs, kinds, clients, seconds, url, trouble, own))
            if apart:
                wait(measured)
        return [one.result() for one in measured]


def _loops(port: int, there: world.World, clients: int, seconds: float, *, comes_back: bool) -> loops.Loops:
    """From another process: Python has one processor for all threads of one."""
    root = f"/api/v1/projects/{there.slug}/judging/rounds/{there.round_id}"
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        hands = there.hands[:clients]
        ways = {"kind": there.kind, "comes_back": comes_back}
        return pool.submit(loops.loops, port, root, hands, seconds, **ways).result()


def at(share: float, values: list[float]) -> float:
    """A percentile by nearest rank, in milliseconds."""
    ranked = sorted(values) or [float("nan")]
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=[*world.PLANS], default=[*world.PLANS], metavar="KIND")
    parser.add_argument("--pairs", nargs="+", type=int, default=[10_000])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--beside", type=int, default=0, metavar="PASSAGES")
    parser.add_argument("--kills", type=int, default=0)
    args = parser.parse_args()
    trouble = Trouble(args.beside, args.kills)
    kinds = args.kinds[:1] if args.beside or args.kills else args.kinds
    databases = {"SQLite": ""}
    if url := os.environ.get("DATABASE_URL", ""):
        databases["PostgreSQL"] = url

    faults: list[str] = []
    columns = [
        ("loops/s", 9),
        ("p50 ms", 8),
        ("p95", 7),
        ("p99", 7),
        ("longest", 9),
        ("Karat ms", 10),
        ("database", 10),
        ("floor", 7),
        ("÷ floor", 9),
    ]
    print(f"{'':<12}{'':<14}{'pairs':>10}", *(f"{name:>{width}}" for name, width in columns), sep="")
    for name, where in databases.items():
        sizes = all_sizes(args.pairs, kinds, args.clients, args.seconds, where, trouble, args.turns)
        for place, kind in enumerate(kinds):
            for pairs, size in zip(args.pairs, sizes, strict=True):
                one = size.kinds[place]
                p50, p95, p99, longest = (at(share, one.loops.times) for share in (0.5, 0.95, 0.99, 1))
                print(
                    f"{name:<12}{kind:<14}{pairs:>10,}{one.loops.speed:>9.0f}{p50:>8.0f}{p95:>7.0f}{p99:>7.0f}"
                    f"{longest:>9.0f}{one.karat_ms:>10.2f}{one.database_ms:>10.2f}{one.floor:>7.0f}"
                    f"{one.loops.speed / one.floor:>9.2f}",
                    *filter(None, [size.beside]),
                    flush=True,
                )
        for pairs, size in zip(args.pairs, sizes, strict=True):
            faults += [f"{name}, {pairs:,} pairs: {fault}" for fault in size.faults]
    print(f"errors, lost grades and pairs over quota: {len(faults) or 'none'}")
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
