"""The smoke tier of `karat eval` from start to end, against asking the same questions one after another.

    python benchmarks/eval_smoke.py [--queries 500] [--blocks 10000] [--pause 50] [--repeats 3]

A release of that size is written to disk, with twenty grades a query. A local HTTP endpoint, and then a program, answer
each question after a pause in milliseconds with a hundred ids. `karat eval RELEASE --tier smoke --gates gates.toml`
runs as a process: it reads and verifies the release, asks its fifty queries, scores them and holds the gates. The
reference asks the same fifty one after another, with urllib or with subprocess, and does nothing else.

A line for each is printed: the median of the repeats in seconds, and how much of the reference's time that is. The exit
code is 1 when either takes more than the minute that a smoke tier has.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from apps.gates.core.rule import sample
from apps.goldsets.formats.content import FrozenBlock, FrozenQuery, GradeRow, SliceRow, TripleRow
from apps.goldsets.formats.folder import write_folder
from tests.goldsets.content import snapshot_facts

MINUTE = 60
DEPTH = 100
GRADED = 20
KARAT = [sys.executable, "-c", "import sys; from apps.config.commandline import main; sys.exit(main(sys.argv[1:]))"]
GATES = """[[gate]]
name = "Anything at all"
figure = "nDCG@10"
at_least = 0

[[gate]]
name = "Quick enough"
figure = "latency_p95"
at_most = 10000
tier = "smoke"
"""
PROGRAM = """import hashlib, sys, time
time.sleep({pause})
first = int(hashlib.sha256(sys.argv[1].encode()).hexdigest(), 16)
print("\\n".join("B%06d" % ((first + place) % {blocks}) for place in range({depth})))
"""


class Made:
    """A version whose every third query is of the test split."""

    def __init__(self, queries: int, blocks: int) -> None:
        chance = random.Random(7)
        words = [f"word{number}" for number in range(5_000)]
        self.texts = [" ".join(chance.choices(words, k=80)) for _ in range(blocks)]
        self.asked = {f"Q{number:05}": " ".join(chance.choices(words, k=8)) for number in range(queries * 3 // 2)}
        self.judged = {query: chance.sample(range(blocks), GRADED) for query in self.asked}

    def split(self, query: str) -> str:
        return "test" if int(query[1:]) % 3 == 2 else "dev"

    def queries(self) -> Iterator[FrozenQuery]:
        return (FrozenQuery(key, text, split=self.split(key)) for key, text in self.asked.items())

    def blocks(self) -> Iterator[FrozenBlock]:
        return (FrozenBlock(f"B{number:06}", "doc", "Title", text) for number, text in enumerate(self.texts))

    def grades(self) -> Iterator[GradeRow]:
        for query, found in self.judged.items():
            for block in sorted(found):
                yield GradeRow(query, f"B{block:06}", block % 4, self.split(query), query_text=self.asked[query])

    def triples(self) -> Iterator[TripleRow]:
        return iter(())

    def slices(self) -> Iterator[SliceRow]:
        return iter(())

    def in_smoke(self) -> list[str]:
        """The texts that the smoke tier asks."""
        dev = [query for query in self.asked if self.split(query) == "dev"]
        return [self.asked[dev[place]] for place in sample(dev)]


@contextmanager
def endpoint(pause: float, blocks: int) -> Iterator[str]:
    """The address of a server that answers every question after the pause, however many there are at once."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            first = len(asked["query"])
            time.sleep(pause)
            body = json.dumps(
                {"hits": [{"id": f"B{(first + place) % blocks:06}"} for place in range(asked["k"])]}
            ).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the figures are what is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/search"
    finally:
        server.shutdown()
        server.server_close()


def evaluated(folder: Path, *system: str) -> None:
    """One run of the command. Raises SystemExit, with what it said, unless every gate passed."""
    words = [*KARAT, "eval", str(folder / "release"), *system, "--tier", "smoke", "--gates", str(folder / "gates.toml")]
    done = subprocess.run([*words, "--quiet", "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"karat eval ended with {done.returncode}: {done.stderr or done.stdout}")


def by_urllib(address: str, texts: list[str]) -> None:
    for text in texts:
        body = json.dumps({"query": text, "k": DEPTH}).encode()
        asked = urllib.request.Request(address, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(asked) as answer:
            json.load(answer)


def by_subprocess(program: Path, texts: list[str]) -> None:
    for text in texts:
        subprocess.run([sys.executable, str(program), text], capture_output=True, check=True)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def told(kind: str, repeats: int, ours: Callable[[], object], theirs: Callable[[], object], reference: str) -> bool:
    """Prints the line; whether the minute was kept. The two take turns."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    mine, other = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{kind}: {mine:.2f} s, {mine / other:.2f} x {reference} one after another ({other:.2f} s)")
    return mine <= MINUTE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=500, help="of the dev split")
    parser.add_argument("--blocks", type=int, default=10_000)
    parser.add_argument("--pause", type=float, default=50, metavar="MS")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    made, pause = Made(args.queries, args.blocks), args.pause / 1_000
    texts = made.in_smoke()
    with tempfile.TemporaryDirectory() as name, endpoint(pause, args.blocks) as address:
        folder = Path(name)
        (folder / "release").mkdir()
        gold_set = {"slug": "made", "name": "Made"}
        facts = {"gold_set": gold_set, "version": "v1", "digest": "0" * 64, "snapshot": snapshot_facts(made)}
        write_folder(made, folder / "release", formats=["jsonl"], facts=facts)
        (folder / "gates.toml").write_text(GATES)
        program = folder / "program.py"
        program.write_text(PROGRAM.format(pause=pause, blocks=args.blocks, depth=DEPTH))
        line = f'{sys.executable} {program} "{{query}}"'
        print(f"{len(texts)} of {args.queries:,} queries, {args.blocks:,} blocks, {args.pause:g} ms an answer")
        kept = [
            told(
                "endpoint",
                args.repeats,
                lambda: evaluated(folder, "--endpoint", address),
                lambda: by_urllib(address, texts),
                "urllib",
            ),
            told(
                "command",
                args.repeats,
                lambda: evaluated(folder, "--command", line),
                lambda: by_subprocess(program, texts),
                "subprocess",
            ),
        ]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
