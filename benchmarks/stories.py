"""Whether a browser story ever fails without a defect: all of them, many times over, on a machine kept busy.

    python benchmarks/stories.py [--rounds 20] [--load 12] [options of pytest]

A round is `python manage.py test tests/e2e --all` in one process. As many rounds as `--load` run at once and keep each
other waiting; where fewer are left, processes that only count take their places, so that the load never falls. One line
a round tells what passed and how much processor time it took, Chromium included; the last lines of whatever failed
follow. The exit code is 1 when anything failed. `KARAT_CHROMIUM=chromium` takes the whole browser.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
TESTS = [sys.executable, "manage.py", "test", "--no-setup", "-n", "0", "-q", "--all"]
COUNTS = [sys.executable, "-c", "while True: pass"]


class Load:
    """Keeps `size` processes busy: rounds, and in the places of those that have ended, processes that count."""

    def __init__(self, size: int, rounds: int) -> None:
        self.size, self.left = size, rounds
        self.counting: list[subprocess.Popen] = []
        self.fill()

    def ended(self) -> None:
        self.left -= 1
        self.fill()

    def fill(self) -> None:
        while 0 < self.left < self.size - len(self.counting):
            self.counting.append(subprocess.Popen(COUNTS))
        if self.left == 0:
            self.close()

    def close(self) -> None:
        while self.counting:
            process = self.counting.pop()
            process.kill()
            process.wait()


def run(options: list[str], log: Path) -> tuple[int, float]:
    """One round: its exit code and processor seconds."""
    with log.open("w") as out:
        process = subprocess.Popen(
            [*TESTS, *options, "tests/e2e"],
            cwd=REPO,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "CI": "true"},
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--load", type=int, default=12, help="processes at once, default: %(default)s")
    arguments, options = parser.parse_known_args()
    failed = 0
    load = Load(arguments.load, arguments.rounds)
    with contextlib.closing(load), tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.load) as pool:

        def one(number: int) -> tuple[int, Path, int, float]:
            log = Path(folder) / f"{number}.log"
            return number, log, *run(options, log)

        for number, log, code, used in pool.map(one, range(1, arguments.rounds + 1)):
            load.ended()
            lines = log.read_text().splitlines()
            average = os.getloadavg()[0]
            print(f"round {number}: {lines[-1] if lines else code}, {used:.0f} s of processor, load {average:.0f}")
            if code:
                failed += 1
                print("\n".join(lines[-200:]))
            sys.stdout.flush()
    print(f"{failed} of {arguments.rounds} rounds failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
