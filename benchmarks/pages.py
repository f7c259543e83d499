"""Every page of a project of the size that Karat is for: 2,000 Q&As, 20,000 judged pairs, 20 runs.

    python benchmarks/pages.py [--small] [--repeats 3] [--above 0]

Each address that answers to GET is asked in process, rendered, by one person of each standing that may look, on SQLite
in a folder of its own, or in a database of its own on PostgreSQL when DATABASE_URL is set. Building takes some minutes.
Printed for each page, slowest first: milliseconds of the fastest of `--repeats` and of the first, when nothing was
remembered, statements, and who asked. The exit code is 1 when a page takes more than 500 ms.
"""

import argparse
import gc
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lists import start

PROMISED_MS = 500.0


class Taken(NamedTuple):
    name: str
    standing: str
    milliseconds: float
    first: float
    statements: int
    status: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a small project, to compare statements with")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--above", type=float, default=0.0, help="print pages that take at least so many milliseconds")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="karat-pages-") as folder:
        remove = start(folder)
        from tests import large

        try:
            world = large.build_large(large.SMALL if args.small else large.FULL)
            taken = measure(world, args.repeats)
        finally:
            remove()
    print(f"{'page':<44}{'ms':>8}{'first ms':>10}{'statements':>12}  as")
    for page in sorted(taken, key=lambda page: -page.milliseconds):
        if page.milliseconds >= args.above:
            print(
                f"{page.name:<44}{page.milliseconds:>8.0f}{page.first:>10.0f}{page.statements:>12}  {page.standing}"
                + (f" ({page.status})" if page.status >= 400 else "")
            )
    slow = [page.name for page in taken if page.milliseconds > PROMISED_MS]
    print(f"{len(slow)} of {len(taken)} pages take more than {PROMISED_MS:.0f} ms")
    return 1 if slow else 0


def measure(world: Any, repeats: int) -> list[Taken]:
    """Each page by whoever needs longest."""
    from apps.config.web_server import OBJECTS_BETWEEN_COLLECTIONS
    from tests.large import pages
    from tests.test_statements import Statements
    from tests.world import sign_in

    sign_in(world)
    for asker in world.askers.values():
        asker.answer("get", "/")
    gc.freeze()  # as `karat up` does before the first request
    gc.set_threshold(*OBJECTS_BETWEEN_COLLECTIONS)
    slowest: dict[str, Taken] = {}
    for page in pages(world):
        times = []
        for _ in range(repeats):
            begun = time.perf_counter()
            with Statements() as found:
                status = world.askers[page.standing].answer("get", page.url, whole=True).status_code
            times.append(1_000 * (time.perf_counter() - begun))
        taken = Taken(page.name, page.standing, min(times), times[0], found.number, status)
        if page.name not in slowest or slowest[page.name].milliseconds < taken.milliseconds:
            slowest[page.name] = taken
    return [*slowest.values()]


if __name__ == "__main__":
    raise SystemExit(main())
