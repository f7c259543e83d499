"""Freezing a version with many grades: processor time beside that of a bare INSERT of its rows, and memory.

    python benchmarks/freezing.py [--grades 200000]

Two people have judged every pair. The draft of a gold set's first version is frozen, and then that of its second, which
is compared with the first, on SQLite in a folder of its own, or in a database of its own on PostgreSQL when
DATABASE_URL is set. The reference is an INSERT of the same rows of grades into another draft, by the database's own
cursor, from values that are in memory already.

Printed for each: seconds of processor time of this process, the ratio to the reference, and by how much the peak of
memory grew. A third and smaller freeze goes before them, so that nothing is imported while time runs.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lists import start
from benchmarks.many_grades import chunks, judge, places_of, queries_of

PAIRS_A_QUERY = 500
COLUMNS = ("version_id", "query_id", "block_version_id", "block_id", "position", "grade", "resolution", "judges")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grades", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-freezing-") as folder:
        stop = start(folder)
        try:
            _run(options.grades)
        finally:
            stop()


def _run(grades: int) -> None:
    from django.db import connection

    from apps.goldsets.actions.versions import freeze_version
    from tests.factories import AT
    from tests.goldsets.factories import draft, make_bench

    small = make_bench()
    freeze_version(version_id=draft(small).pk, actor=small.lead, at=AT)
    bench, snapshot = _judged(grades)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{grades:,} grades of two judges each, {connection.vendor}")
    print("                  CPU s   x INSERT   memory MB")
    rows = []
    for name in ("first version", "second version"):
        version = draft(bench, snapshot=snapshot)
        seconds, grown = _measured(lambda pk=version.pk: freeze_version(version_id=pk, actor=bench.lead, at=AT))
        rows.append((name, seconds, grown))
    reference, _ = _measured(_inserting(version, draft(bench, snapshot=snapshot)))
    for name, seconds, grown in rows:
        print(f"{name:<15}{seconds:8.1f}{seconds / reference:11.1f}{grown / 1e6:12.0f}")
    print(f"{'a bare INSERT':<15}{reference:8.1f}")


def _judged(grades: int) -> tuple[Any, Any]:
    """A project in which two people have judged so many pairs alike, and their snapshot."""
    from tests.goldsets.factories import make_bench

    bench = make_bench(queries=1, triples=0, judge=False)
    places = places_of(bench.project, PAIRS_A_QUERY)
    queries = queries_of(bench, max(1, grades // PAIRS_A_QUERY))
    for chunk in chunks(product([query.pk for query in queries], places)):
        judge(bench, chunk)
    return bench, places[0].snapshot


def _measured(work: Callable[[], object]) -> tuple[float, int]:
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begun = time.process_time()
    work()
    return time.process_time() - begun, _memory("VmHWM") - before


def _memory(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1_024


def _inserting(frozen: Any, draft: Any) -> Callable[[], None]:
    """A function that writes the grades of a version into a draft, which has its queries."""
    from django.db import connection, transaction

    from apps.goldsets.models import VersionGrade, VersionQuery

    queries = list(VersionQuery.objects.filter(version=frozen))
    copies = VersionQuery.objects.bulk_create(
        VersionQuery(version=draft, query=row.query, outside_id=row.outside_id, text=row.text, split=row.split)
        for row in queries
    )
    own = {query.pk: copy.pk for query, copy in zip(queries, copies, strict=True)}
    grades = VersionGrade.objects.filter(version=frozen).values_list(*COLUMNS[1:])
    rows = [(draft.pk, own[query], *rest) for query, *rest in grades]
    names, holes = ", ".join(f'"{name}"' for name in COLUMNS), ", ".join(["%s"] * len(COLUMNS))

    def insert() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO goldsets_versiongrade ({names}) VALUES ({holes})", rows)

    return insert


if __name__ == "__main__":
    main()
