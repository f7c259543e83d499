"""How long 200 queries take to be drawn from a search log of a million rows, and how much memory, beside csv's reader.

    python benchmarks/query_logs.py [--rows 1000000]

The log is made by a seed: 40,000 queries as often as Zipf has it, an eighth as many people as rows, one word in twenty
with a number, one search in fifty with an e-mail address, one in thirteen without results, four in ten with a click.
Karat reads it twice: once for the page (masks, people, strata), once more for the draw with the words, the clusters and
the sample. The reference is one pass of Python's csv module that only counts the rows. Each runs in a process of its
own; seconds are of the processor, the peak is that of the process. Of a tenth of the rows too: what grows with them
shows.
"""

import argparse
import csv
import gc
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SYLLABLES = ["ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu"]
WORDS = ["".join(parts) for parts in product(SYLLABLES, repeat=3)]
WORDS[::20] = [f"{word} {number}" for number, word in enumerate(WORDS[::20])]
QUERIES, SEED = 40_000, 1


def write_log(path: Path, rows: int) -> None:
    chance = random.Random(SEED)
    asked = [" ".join(chance.choices(WORDS, k=chance.randint(1, 4))) for _ in range(QUERIES)]
    shares = [1 / (place + 1) ** 0.85 for place in range(QUERIES)]
    at = datetime(2026, 8, 4)
    with path.open("w", encoding="utf-8", newline="") as out:
        write = csv.writer(out).writerow
        write(["query", "user", "time", "hits", "clicked"])
        for place, query in enumerate(chance.choices(asked, shares, k=rows)):
            at += timedelta(seconds=chance.randint(1, 10))
            text = f"{query} user{chance.randrange(10**6)}@example.com" if place % 50 == 0 else query
            hits = 0 if place % 13 == 0 else chance.randint(1, 40)
            clicked = f"doc{chance.randrange(1_000)}" if hits and chance.random() < 0.4 else ""
            write([text, f"u{chance.randrange(rows // 8 + 10)}", at.isoformat(), hits, clicked])


def count_rows(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as lines:
        return f"{sum(1 for _ in csv.reader(lines)):,} rows"


def draw_queries(path: Path) -> str:
    """The preview and the draw of the import, without the database."""
    set_up()
    from apps.common.files.tabular import open_source
    from apps.corpus.core.import_plans import propose_columns
    from apps.queries.core.masking import Names
    from apps.querylogs.core.columns import ROLES
    from apps.querylogs.enums import Plan
    from apps.querylogs.execution.drawing import drawn_from
    from apps.querylogs.execution.reading import Codes, read_log
    from apps.querylogs.formats.logs import open_log

    with open_source(path) as source:
        table = open_log(source)
        columns = list(propose_columns(ROLES, table.headings, table.sample).values())
        read_log(table, columns, Codes(Names()))
        source.rewind()
        codes = Codes(Names())
        reading = read_log(open_log(source), columns, codes)
        source.rewind()
        asked = {"least": 5, "wanted": 200, "plan": Plan.BALANCED, "seed": SEED}
        sample = drawn_from(reading, open_log(source), columns, codes, **asked)
    return f"{len(sample.places)} of {len(sample.words):,} queries"


def set_up() -> None:
    """Load Django. The collector of garbage leaves alone what is loaded, as in a worker."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    django.setup()
    gc.freeze()


def measured(name: str, path: Path) -> tuple[float, float, str]:
    """Seconds of the processor, peak in MiB, and what it found."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, sys.argv[0], "--only", name, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    peak, found = done.stdout.split("\t")
    return seconds, float(peak), found.strip()


def compare(
    text: str, unit: str, write: Callable[[Path, int], None], bare: Callable[[Path], str], karat: Callable[[Path], str]
) -> None:
    """The command line of a benchmark: a file of a million units, and one of a tenth, read by a reference and Karat."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(f"--{unit}", type=int, default=1_000_000, dest="most")
    parser.add_argument("--only", nargs=2, metavar=("KIND", "FILE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.only:
        found = {"bare": bare, "Karat": karat}[args.only[0]](Path(args.only[1]))
        print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}\t{found}")
        return
    print(f"| {unit} | | seconds | times bare | peak, MiB | |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for number in (args.most // 10, args.most):
            write(path, number)
            least = 0.0
            for name in ("bare", "Karat"):
                seconds, peak, found = measured(name, path)
                least = least or seconds
                print(f"| {number:,} | {name} | {seconds:.1f} | {seconds / least:.0f} | {peak:.0f} | {found} |")


if __name__ == "__main__":
    compare(__doc__, "rows", write_log, count_rows, draw_queries)
