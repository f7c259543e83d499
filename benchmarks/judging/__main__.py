"""Judging with few pairs and with many: a reader in Chromium, and clients who grade as fast as they are answered.

    python benchmarks/judging [--few 10000] [--many 1000000] [--presses 200] [--rhythm 100] [--seconds 10]

For each size a database of its own (SQLite in a temporary folder, and one on PostgreSQL when DATABASE_URL names a
server) gets an open round for 33 people, 20 % of its pairs to be judged twice; the seats are written by the job that
opens a round in earnest. `karat up` serves it. Measured are

  press        in Chromium, from the key's time stamp to the frame after the one that shows the next pair, one press
               each --rhythm milliseconds after the last pair was there
  page, pairs  the time of the judging page and of the pairs it asks for, nobody else there
  wire         what that browser, its cache empty, was sent for the judging page, against the page alone
  grades       by 1, 8 and 32 clients with a session each, over kept connections, for --seconds each, without a pause

and beside the grades the floor: the same server answering the same body with one INSERT into the same database. The
tables give medians and tails, the ratios of many to few, and what Karat's rules cost over the floor. The exit code is
1 when a request failed, an acknowledged grade is missing, or a pair has more grades than its plan asked for.
"""

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from benchmarks.judging.measuring import Result, Wanted, measure


def at(share: float, values: list[float]) -> float:
    """A percentile by nearest rank; nan for no values."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))] if ranked else float("nan")


def tell(name: str, few: Result, many: Result) -> None:
    small, large = f"{few.world.pairs:,} pairs", f"{many.world.pairs:,} pairs"
    print(f"\n{name}: opened in {few.world.opened_in:.1f} s and {many.world.opened_in:.1f} s")
    print(f"{'milliseconds':<24}{small:>16}{large:>18}{'ratio':>8}")
    rows = [("key press → painted", few.shown.presses, many.shown.presses, 1.0)]
    rows += [("judging page", few.page, many.page, 1000.0), ("next pairs", few.pairs, many.pairs, 1000.0)]
    rows += [
        (f"pairs, {one.clients} client{'s' * (one.clients > 1)}", one.fetching, other.fetching, 1000.0)
        for one, other in zip(few.loaded, many.loaded, strict=True)
    ]
    for title, one, other, unit in rows:
        for share in (0.5, 0.95):
            a, b = at(share, one) * unit, at(share, other) * unit
            print(f"{f'{title}, p{share * 100:.0f}':<24}{a:>16.1f}{b:>18.1f}{b / a:>8.2f}")
    for result in (few, many):
        print(f"\ngrades, {result.world.pairs:,} pairs")
        print("clients  grades/s   p50 ms     p95     p99  errors  floor/s  floor ÷ Karat")
        for one, bare in zip(result.loaded, result.floor, strict=True):
            speed, under = one.grades / one.seconds, bare.grades / bare.seconds
            p50, p95, p99 = (at(share, one.grading) * 1000 for share in (0.5, 0.95, 0.99))
            print(
                f"{one.clients:>7}{speed:>10.1f}{p50:>9.1f}{p95:>8.1f}{p99:>8.1f}{len(one.errors):>8}"
                f"{under:>9.1f}{under / speed:>15.2f}"
            )
    tell_weight(many.shown.weights)


def tell_weight(weights: dict[str, int]) -> None:
    """What the first judging page takes on the wire, by kind; the page itself is the reference."""
    kinds = {"page": "/judge/", "scripts": ".js", "style sheets": ".css", "pairs": "/pairs/"}
    sums = {kind: sum(size for url, size in weights.items() if mark in url) for kind, mark in kinds.items()}
    whole = sum(weights.values())
    print(
        f"\nfirst judging page: {whole / 1000:.1f} kB on the wire in {len(weights)} requests, heads included,", end=" "
    )
    print(f"{whole / sums['page']:.1f} times the page alone")
    print("kB: " + ", ".join(f"{kind} {size / 1000:.1f}" for kind, size in sums.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--few", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=1_000_000)
    parser.add_argument("--presses", type=int, default=200)
    parser.add_argument("--rhythm", type=float, default=100)
    parser.add_argument("--seconds", type=float, default=10)
    args = parser.parse_args()
    databases = {"SQLite": ""}
    if url := os.environ.get("DATABASE_URL", ""):
        databases["PostgreSQL"] = url

    faults: list[str] = []
    for name, url in databases.items():
        results = []
        for pairs in (args.few, args.many):
            wanted = Wanted(pairs, args.presses, args.rhythm, args.seconds, url)
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                results.append(pool.submit(measure, wanted).result())
        tell(name, *results)
        faults += [f"{name}, {result.world.pairs:,} pairs: {fault}" for result in results for fault in result.faults]
    print(f"\nerrors and pairs over quota: {len(faults) or 'none'}")
    for fault in faults[:20]:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
