"""Exports of a version with many judgements: time beside that of a bare SELECT, and memory.

    python benchmarks/exporting.py [--judgements 1000000] [--share 10]

Two people have judged every pair, and the version has a grade for each. The forms that are written row by row are
exported to files, once with a tenth of the queries (`--share`) and once with all of them, on SQLite in a folder of its
own, or in a database of its own on PostgreSQL when DATABASE_URL is set. The reference is a SELECT of the columns of the
table that a form has most rows of, without joins and without order, read to its end by the database's own cursor.

Printed for each form: seconds, megabytes, the ratio to the reference, and by how much the peak of memory grew while it
was written, with the share and with all. Memory is flat when the two are alike.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.lists import start

PAIRS_A_QUERY = 500
AT_ONCE = 5_000
FORMS = ("jsonl", "csv", "parquet", "judgements")
GRADES = "SELECT query_id, block_id, grade, resolution, judges FROM goldsets_versiongrade"
JUDGEMENTS = (
    "SELECT entry_id, annotator_id, pass_number, grade, cant_judge, note, given_at, active_ms, away_ms, round_id, "
    "guideline_id FROM judging_judgement"
)
REFERENCES = {"jsonl": GRADES, "csv": JUDGEMENTS, "parquet": GRADES, "judgements": JUDGEMENTS}


class Measured(NamedTuple):
    seconds: float
    size: int
    grown: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgements", type=int, default=1_000_000)
    parser.add_argument("--share", type=int, default=10, help="the smaller export has one in so many queries")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-exporting-") as folder:
        stop = start(folder)
        try:
            _run(options.judgements, options.share, Path(folder))
        finally:
            stop()


def _run(judgements: int, share: int, folder: Path) -> None:
    from django.db import connection

    begun = time.perf_counter()
    version = _version(judgements, share)
    print(f"filled in {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{judgements:,} judgements on {judgements // 2:,} pairs, {connection.vendor}")
    print("form         seconds       MB   x SELECT   memory MB: a share, all")
    for form in FORMS:
        few = _measure(version, form, ["dev"], folder / f"{form}-few")
        many = _measure(version, form, ["dev", "test"], folder / f"{form}-many")
        ratio = many.seconds / _select(REFERENCES[form])
        memory = f"{few.grown / 1e6:8.0f} {many.grown / 1e6:8.0f}"
        print(f"{form:<11}{many.seconds:9.1f}{many.size / 1e6:9.1f}{ratio:11.1f}   {memory}", flush=True)


def _measure(version: Any, form: str, splits: list[str], folder: Path) -> Measured:
    from apps.goldsets.formats.folder import write_folder
    from apps.goldsets.selectors.content import VersionContent

    folder.mkdir()
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begun = time.perf_counter()
    manifest = write_folder(VersionContent(version, splits=splits), folder, formats=[form], facts={})
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
    from apps.goldsets.models import VersionGrade, VersionQuery
    from apps.judging.models import Judgement, Seat
    from apps.queries.models import Query
    from apps.retrieval.models import PoolEntry
    from tests.factories import AT
    from tests.goldsets.factories import draft, make_bench

    bench = make_bench(queries=1, triples=0, judge=False)
    places = _snapshot(bench.project, PAIRS_A_QUERY)
    version = draft(bench, snapshot=places[0].snapshot, test_share=0.0)
    people = list(bench.round.annotators.values_list("annotator", flat=True))
    count = max(1, judgements // (2 * PAIRS_A_QUERY))
    queries = Query.objects.bulk_create(
        Query(project=bench.project, outside_id=f"L{n:06}", text=f"query {n}", created_by=bench.lead, created_at=AT)
        for n in range(count)
    )
    frozen = VersionQuery.objects.bulk_create(
        VersionQuery(
            version=version,
            query=query,
            outside_id=query.outside_id,
            text=query.text,
            split="dev" if n % share == 0 else "test",
        )
        for n, query in enumerate(queries)
    )
    pairs = list(product(range(len(queries)), range(len(places))))
    for chunk in _chunks(iter(pairs)):
        entries = PoolEntry.objects.bulk_create(
            PoolEntry(pool=bench.pool, query=queries[q], version_id=places[p].version_id) for q, p in chunk
        )
        VersionGrade.objects.bulk_create(
            VersionGrade(
                version=version,
                query=frozen[q],
                block_version_id=places[p].version_id,
                block_id=places[p].block.outside_id,
                position=places[p].position,
                grade=(q + p) % 4,
                resolution="unanimous",
                judges=2,
            )
            for q, p in chunk
        )
        seats = Seat.objects.bulk_create(
            Seat(round=bench.round, entry=entry, query_id=entry.query_id, number=n, state="done", annotator_id=person)
            for entry in entries
            for n, person in enumerate(people, start=1)
        )
        Judgement.objects.bulk_create(
            Judgement(
                round=bench.round,
                seat=seat,
                entry_id=seat.entry_id,
                annotator_id=seat.annotator_id,
                grade=seat.entry_id % 4,
                note="names the hour" if seat.pk % 10 == 0 else "",
                active_ms=8_000,
                away_ms=0,
                idempotency_key=f"bench-{seat.pk}",
                given_at=AT,
            )
            for seat in seats
        )
    version.frozen_at, version.digest = AT, "benchmark"
    return version


def _snapshot(project: Any, blocks: int) -> list[Any]:
    from tests.triples.factories import make_snapshot

    texts = {f"b{n:04}": f"The passage number {n} of the benchmark. " * 5 for n in range(blocks)}
    snapshot = make_snapshot(project, texts, corpus=project.corpora.first())
    return list(snapshot.entries.select_related("block", "snapshot").order_by("position"))


def _chunks(pairs: Iterator[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    while chunk := list(islice(pairs, AT_ONCE)):
        yield chunk


if __name__ == "__main__":
    main()
