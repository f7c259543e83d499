"""Backing up, restoring and moving: seconds and memory, beside SQLite's own copy of its file.

    python benchmarks/backups.py [--pairs 500000]

A round with so many pairs, one of five to be judged twice, is backed up and restored by the commands, on SQLite in a
temporary folder, and its project is exported; with DATABASE_URL all of it also moves to a database of its own on
PostgreSQL, and back. The reference is SQLite's own online copy of the same file, which one kind of database can read
and nobody compares with anything.

Printed for each: seconds, thousands of rows a second, the peak of memory in MB, and the ratio of its time to the
reference. The exit code is 1 when the digests of all do not agree.
"""

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judging import world

ROOT = Path(__file__).resolve().parent.parent
ONE_PROJECT = "export a project"
"""The step that leaves out what belongs to the server, so its digest is another."""


class Took(NamedTuple):
    seconds: float
    peak_mb: float
    digest: str


def karat(*arguments: str, env: dict[str, str]) -> Took:
    """A command in a process of its own; its digest is the first that it prints."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "apps.config.commandline", *arguments], cwd=ROOT, env=env, stdout=-1, text=True
    )
    out = process.stdout.read() if process.stdout else ""
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"karat {arguments[0]} failed")
    [digest, *_] = [*re.findall(r"digest ([0-9a-f]{12})", out), ""]
    return Took(time.perf_counter() - began, used.ru_maxrss / 1024, digest)


def copied(source: Path, target: Path) -> float:
    began = time.perf_counter()
    with closing(sqlite3.connect(source)) as here, closing(sqlite3.connect(target)) as there:
        here.backup(there)
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500_000)
    pairs, url = parser.parse_args().pairs, os.environ.get("DATABASE_URL", "")
    with tempfile.TemporaryDirectory(prefix="karat-benchmark-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        world.connect(str(folder / "data"), "")
        slug = world.fill(pairs).slug
        world.leave()
        env = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        steps = {"backup": karat("backup", str(folder / "a.zip"), env=env)}
        there = env | {"KARAT_DATA_DIR": str(folder / "restored")}
        steps["restore"] = karat("restore", str(folder / "a.zip"), env=there)
        plain = copied(folder / "data" / "karat.sqlite3", folder / "copy.sqlite3")
        steps[ONE_PROJECT] = karat("project", "export", slug, str(folder / "project.zip"), env=env)
        with world.OwnDatabase(url) as own:
            if url:
                steps["move to PostgreSQL"] = karat("move", "--to", own, env=there)
                (folder / "restored" / "karat.sqlite3").unlink()
                steps["move to SQLite"] = karat("move", "--to", "sqlite", env=there | {"DATABASE_URL": own})
        return show(steps, plain, folder)


def show(steps: dict[str, Took], plain: float, folder: Path) -> int:
    from apps.backups.formats.archive import Archive

    with Archive(folder / "a.zip") as archive:
        rows = archive.manifest.rows
    size, whole = (folder / name for name in ("a.zip", "copy.sqlite3"))
    print(
        f"{rows:,} rows, {whole.stat().st_size / 1e6:,.0f} MB in SQLite, {size.stat().st_size / 1e6:,.0f} MB backed up"
    )
    print(f"{'':<20}{'seconds':>9}{'rows/ms':>9}{'MB':>7}{'x a copy':>10}")
    for name, took in steps.items():
        speed = rows / took.seconds / 1000
        print(f"{name:<20}{took.seconds:>9.1f}{speed:>9.0f}{took.peak_mb:>7.0f}{took.seconds / plain:>10.1f}")
    print(f"{'a copy by SQLite':<20}{plain:>9.1f}")
    digests = {took.digest for name, took in steps.items() if name != ONE_PROJECT}
    print(f"digests: {'all equal' if len(digests) == 1 else ', '.join(sorted(digests))}")
    return 0 if len(digests) == 1 else 1


if __name__ == "__main__":
    raise SystemExit(main())
