"""What it costs to start: commands of Karat against what they start from.

    python benchmarks/start_up.py [--repeats 7]

Processor time of processes, the median of the repeats, in which all take turns:

karat user list, karat migrate --check, karat check
        against a process in which `django.setup()` has loaded Django's own apps and nothing else
karat score
        four lines of qrels and four of a run, against a process in which pytrec-eval-terrier reads and scores them
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.memory import BARE
from benchmarks.scoring import KARAT, TERRIER, seconds

QRELS = "Q1 0 a 1\nQ1 0 b 0\nQ2 0 a 2\nQ2 0 c 1\n"
RUN = "Q1 Q0 a 1 2 t\nQ1 Q0 b 2 1 t\nQ2 Q0 c 1 2 t\nQ2 Q0 d 2 1 t\n"


def commands(folder: Path) -> dict[str, list]:
    """The processes by name; references are named as such."""
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    return {
        "bare Django": [sys.executable, "-c", BARE],
        "karat user list": [KARAT[0], "user", "list"],
        "karat migrate --check": [KARAT[0], "migrate", "--check"],
        "karat check": [KARAT[0], "check"],
        "pytrec-eval-terrier": [sys.executable, "-c", TERRIER, qrels, run],
        "karat score": [*KARAT, "--qrels", qrels, "--run", run],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        environment = {**os.environ, "KARAT_DATA_DIR": name}
        environment.pop("DATABASE_URL", None)

        def run(command: list) -> None:
            subprocess.run(command, env=environment, check=True, capture_output=True, stdin=subprocess.DEVNULL)

        run([KARAT[0], "migrate", "--verbosity", "0"])
        started = commands(Path(name))
        times: dict[str, list[float]] = {one: [] for one in started}
        for _ in range(args.repeats):
            for one, command in started.items():
                times[one].append(seconds(lambda command=command: run(command)))
    typical = {one: statistics.median(took) for one, took in times.items()}
    for one, took in typical.items():
        reference = "pytrec-eval-terrier" if one == "karat score" else "bare Django"
        if one not in {"bare Django", "pytrec-eval-terrier"}:
            print(
                f"{one}: {took / typical[reference]:.2f} times {reference} ({took:.2f} s, {typical[reference]:.2f} s)"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
