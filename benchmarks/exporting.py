"""Exports of a version with many judgements: time beside that of a bare SELECT, and memory.

    python benchmarks/exporting.py [--judgements 1000000] [--share 10] [--repeats 3]

Two people have judged every pair, and the version has a grade for each. The forms that have a row for each pair or each
judgement are exported to files, once with a tenth of the queries (`--share`) and then with all of them, on SQLite in a
folder of its own, or in a database of its own on PostgreSQL when DATABASE_URL is set. The reference is a SELECT of the
columns of the table that a form has most rows of, without joins and without order, read to its end by the database's
own cursor.

Printed for each form: seconds, megabytes, the ratio to the reference, and by how much the peak of memory grew while it
was written, with the share and with all. Memory is flat when the two are alike. Each export is measured right after a
SELECT of its own, and the ratio is the median of these pairs: what else the machine does meets both.
"""

import argparse
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lists import start
from benchmarks.many_grades import chunks, judge, places_of, queries_of

PAIRS_A_QUERY = 500
FORMS = (
    "jsonl", "csv", "xlsx", "relevance", "notes", "trec", "beir", "parquet", "huggingface", "letor", "judgements"
)  # fmt: skip
RUNS = 3
GRADES = "SELECT query_id, block_id, grade, resolution, judges FROM goldsets_versiongrade"
JUDGEMENTS = (
    "SELECT entry_id, annotator_id, pass_number, grade, cant_judge, note, given_at, active_ms, away_ms, round_id, "
    "guideline_id FROM judging_judgement"
)
WITH_NOTES = ("csv", "xlsx", "notes", "judgements")
REFERENCES = {form: JUDGEMENTS if form in WITH_NOTES else GRADES for form in FORMS}
"""Tables with the notes of judges read their judgements too. Lines for learning to rank also read the runs."""


class Measured(NamedTuple):
    seconds: float
    size: int
    grown: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgements", type=int, default=1_000_000)
    parser.add_argument("--share", type=int, default=10, help="the smaller export has one in so many queries")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-exporting-") as folder:
        stop = start(folder)
        try:
            _run(options.judgements, options.share, options.repeats, Path(folder))
        finally:
            stop()


def _run(judgements: int, share: int, repeats: int, folder: Path) -> None:
    from django.db import connection

    begun = time.perf_counter()
    version = _version(judgements, share)
    print(f"filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for form in FORMS:  # imports, caches
        _measure(version, form, ["dev"], folder)
    print(f"{judgements:,} judgements on {judgements // 2:,} pairs, {connection.vendor}, {repeats} times")
    print("form         seconds       MB   x SELECT   memory MB: a share, all")
    for form in FORMS:
        few = [_measure(version, form, ["dev"], folder) for _ in range(repeats)]
        pairs = [(_select(REFERENCES[form]), _measure(version, form, ["dev", "test"], folder)) for _ in range(repeats)]
        _print_row(form, few, pairs)


def _print_row(form: str, few: list[Measured], pairs: list[tuple[float, Measured]]) -> None:
    seconds, size = median(many.seconds for _, many in pairs), pairs[0][1].size
    ratio = median(many.seconds / select for select, many in pairs)
    grown = max(one.grown for one in few), max(many.grown for _, many in pairs)
    memory = "".join(f"{number / 1e6:9.0f}" for number in grown)
    print(f"{form:<11}{seconds:9.1f}{size / 1e6:9.1f}{ratio:11.1f}   {memory}", flush=True)


def _measure(version: Any, form: str, splits: list[str], folder: Path) -> Measured:
    from apps.goldsets.formats.folder import write_folder
    from apps.goldsets.selectors.content import VersionContent, part_of
    from apps.retrieval.models import Run

    runs = list(Run.objects.select_related("system").order_by("tag")) if form == "letor" else []
    with tempfile.TemporaryDirectory(dir=folder) as out:
        before = _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        begun = time.perf_counter()
        whole = VersionContent(version, every_answer=form == "judgements")
        manifest = write_folder(part_of(whole, splits=splits, runs=runs), Path(out), formats=[form], facts={})
        seconds = time.perf_counter() - begun
    return Measured(seconds, sum(entry["bytes"] for entry in manifest["files"]), _memory("VmHWM") - before)


def _memory(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1_024


def _select(sql: str) -> float:
    from django.db import connection, transaction

    begun = time.perf_counter()
    with transaction.atomic(), connection.chunked_cursor() as cursor:
        cursor.execute(sql)
        while cursor.fetchmany(2_000):
            pass
    return time.perf_counter() - begun


def _version(judgements: int, share: int) -> Any:
    """A version with two judgements for each grade, written in bulk; it is frozen in memory only."""
    from tests.factories import AT
    from tests.goldsets.factories import draft, make_bench

    bench = make_bench(queries=1, triples=0, judge=False)
    places = places_of(bench.project, PAIRS_A_QUERY)
    version = draft(bench, snapshot=places[0].snapshot, test_share=0.0)
    queries = _queries(bench, version, max(1, judgements // (2 * PAIRS_A_QUERY)), share)
    for chunk in chunks(product(queries, places)):
        judge(bench, [(query.query_id, place) for query, place in chunk])
        _grade(version, chunk)
    _rank(bench, [query.query_id for query in queries], places)
    version.frozen_at, version.digest = AT, "benchmark"
    return version


def _queries(bench: Any, version: Any, count: int, share: int) -> list[Any]:
    """The queries of the version; one in so many is in dev, the others are in test."""
    from apps.goldsets.models import VersionQuery

    return VersionQuery.objects.bulk_create(
        VersionQuery(
            version=version,
            query=query,
            outside_id=query.outside_id,
            text=query.text,
            split="dev" if n % share == 0 else "test",
        )
        for n, query in enumerate(queries_of(bench, count))
    )


def _rank(bench: Any, queries: list[int], places: list[Any]) -> None:
    """Runs that return nine of ten passages for every query."""
    from apps.retrieval.core.ranking import pack
    from apps.retrieval.models import Ranking, Run
    from tests.factories import AT
    from tests.retrieval.factories import make_system

    system = make_system(bench.project)
    for n in range(RUNS):
        run = Run.objects.create(
            project=bench.project, system=system, snapshot=places[0].snapshot, tag=f"run{n}", depth=len(places),
            created_by=bench.lead, created_at=AT,
        )  # fmt: skip
        found = [place.position for place in places if place.position % 10 != n]
        packed = pack(found, [float(len(found) - rank) for rank in range(len(found))])
        rankings = (Ranking(run=run, query_id=query, packed=packed, length=len(found)) for query in queries)
        Ranking.objects.bulk_create(rankings, batch_size=500)


def _grade(version: Any, pairs: list[tuple[Any, Any]]) -> None:
    from apps.goldsets.models import VersionGrade

    VersionGrade.objects.bulk_create(
        VersionGrade(
            version=version,
            query=query,
            block_version_id=place.version_id,
            block_id=place.block.outside_id,
            position=place.position,
            grade=(query.pk + place.position) % 4,
            resolution="unanimous",
            judges=2,
        )
        for query, place in pairs
    )


if __name__ == "__main__":
    main()
