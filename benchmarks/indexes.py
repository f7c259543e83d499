"""Building and opening lexical indexes: processor time and memory beside those of a bare index in memory.

    python benchmarks/indexes.py [--blocks 500000] [--words 80] [--queries 200] [--depth 100]

On one generated corpus Karat builds BM25 and TF-IDF indexes on disk, in parts, as a worker does; then it opens each,
and opens it and answers queries. The reference is a bare scikit-learn vectoriser that makes a scipy matrix of BM25
weights in memory, and answers from it. Every step is a process of its own, which draws the texts itself, one after the
other; the reference keeps them in a list, since it reads them at once.

Printed for each step: seconds of processor time, the most memory that the process held, and by how much that is above
the memory it began with; for Karat with the ratios to the reference. Files that are mapped into memory count as held
once they are read, though the system may take them back.
"""

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.pooling import PLAIN, BareProduct, collection

ENGINES = ("bm25", "tfidf")


class Measured(NamedTuple):
    """Seconds of processor time, and megabytes at the beginning and at most."""

    seconds: float
    before: float
    most: float

    @property
    def grown(self) -> float:
        return self.most - self.before


def build(engine: str, args: argparse.Namespace, folder: str) -> Callable[[], None]:
    made, texts = _made(engine), collection(args.blocks, args.words, args.queries, seed=1)[0]
    (Path(folder) / engine).mkdir()
    return lambda: made.build(texts, Path(folder) / engine)


def opened(engine: str, args: argparse.Namespace, folder: str) -> Callable[[], None]:
    made = _made(engine)
    return lambda: made.load(Path(folder) / engine)


def answer(engine: str, args: argparse.Namespace, folder: str) -> Callable[[], None]:
    made, queries = _made(engine), collection(0, args.words, args.queries, seed=1)[1]
    return lambda: made.search(made.load(Path(folder) / engine), queries, args.depth)


def bare(_: str, args: argparse.Namespace, __: str) -> Callable[[], None]:
    texts, queries = collection(args.blocks, args.words, args.queries, seed=1)
    return lambda: BareProduct(list(texts)).best(queries, args.depth)


def _made(engine: str) -> Any:
    from apps.retrieval.core.engines.registry import make

    return make(engine, {name: value for name, value in PLAIN.items() if engine == "bm25" or name not in ("k1", "b")})


def in_child(step: Callable, engine: str, args: argparse.Namespace, folder: str, pipe: Connection) -> None:
    work = step(engine, args, folder)
    before, begun = _memory("VmRSS"), time.process_time()
    work()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send(Measured(time.process_time() - begun, before, most))


def _memory(name: str) -> float:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) / 1024


def apart(step: Callable, engine: str, args: argparse.Namespace, folder: str) -> Measured:
    """Do a step in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(step, engine, args, folder, theirs))
    child.start()
    theirs.close()
    try:
        measured: Measured = ours.recv()
    except EOFError:
        raise SystemExit(f"{step.__name__} {engine} did not come to an end") from None
    child.join()
    return measured


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--blocks", type=int, default=500_000)
    parser.add_argument("--words", type=int, default=80)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--depth", type=int, default=100)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="karat-indexes-") as folder:
        print(f"{args.blocks:,} blocks of {args.words} words")
        print("step                     CPU s   MB at most   MB more   CPU, more MB: x the bare index")
        reference = apart(bare, "", args, folder)
        print_row("a bare index, in memory", reference)
        for engine in ENGINES:
            print_row(f"{engine}, built", apart(build, engine, args, folder), reference)
            print_row(f"{engine}, opened", apart(opened, engine, args, folder), reference)
            print_row(f"{engine}, {args.queries} queries", apart(answer, engine, args, folder), reference)
    return 0


def print_row(step: str, row: Measured, reference: Measured | None = None) -> None:
    ratios = "" if reference is None else f"{row.seconds / reference.seconds:9.2f}{row.grown / reference.grown:9.2f}"
    print(f"{step:<24}{row.seconds:6.1f}{row.most:13.0f}{row.grown:10.0f}   {ratios}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
