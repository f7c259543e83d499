"""Imports of passages (JSONL) and of judgements (qrels): rows a second, processor time, memory, beside a bare insert.

    python benchmarks/importing.py [--blocks 100000] [--judgements 200000] [--share 2] [--repeats 1]

Each file is generated, uploaded and imported by the jobs that do it in production: one reads it for the preview, one
applies it, and the sealer adds the new records to the audit chain. A file of one in `--share` of the rows is imported
before one of all, on SQLite in a folder of its own, or in a database of its own on PostgreSQL when DATABASE_URL is set.
The reference writes the rows that the import has added to its tables once more, into empty tables of the same columns,
keys and indexes, without triggers and foreign keys: by COPY on PostgreSQL, by one executemany a table on SQLite.

Printed for each step: rows of the file a second, processor seconds of this process, those of the database's server
where it is a process of this machine, the ratio of the time to that of the reference, and by how much the peak of
memory grew, with the share and with all. Memory is flat when the two are alike; time is linear when twice the rows take
twice the seconds. The ratios are medians of the repeats, each with a reference of its own.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.exporting import _memory as memory
from benchmarks.lists import start

JUDGED_BLOCKS = 20_000
BLOCKS_A_QUERY = 500
WORDS = [f"{first}{second}" for first in ("stor", "volum", "backup", "rotat", "audit") for second in ("", "e", "ing")]
TABLES = {
    "blocks": ("corpus_document", "corpus_block", "corpus_blockversion", "corpus_formerversion"),
    "judgements": ("retrieval_poolquery", "retrieval_poolentry", "judging_seat", "judging_judgement"),
    "seal": ("audit_link",),
}


class Measured(NamedTuple):
    seconds: float
    cpu: float
    server: float
    grown: int


class Step(NamedTuple):
    """One step of an import, with the file's share of the rows and with all, and the reference's seconds."""

    name: str
    few: Measured
    many: Measured
    floor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=100_000)
    parser.add_argument("--judgements", type=int, default=200_000)
    parser.add_argument("--share", type=int, default=2, help="the smaller file has one in so many rows")
    parser.add_argument("--repeats", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-importing-") as folder:
        stop = start(folder)
        try:
            _run(options, Path(folder))
        finally:
            stop()


def _run(options: argparse.Namespace, folder: Path) -> None:
    from django.db import connection

    project = _project(options.judgements, folder)
    print(f"{connection.vendor}, one in {options.share} rows and all, {options.repeats} times")
    print("                    rows   rows/s    CPU s   server    x bare   CPU s: a share   memory MB: a share, all")
    for kind, rows, write in (
        ("blocks", options.blocks, _write_blocks),
        ("judgements", options.judgements, _write_judgements),
    ):
        if rows:
            _compare(kind, rows, options, lambda count, write=write: write(count, folder), project)


def _compare(kind: str, rows: int, options: argparse.Namespace, write: Callable[[int], Path], project: Any) -> None:
    _import(kind, project, write(1_000))  # imports, caches
    found = []
    for _ in range(options.repeats):
        few = _import(kind, project, write(rows // options.share))
        before = {table: _last_key(table) for table in (*TABLES[kind], *TABLES["seal"])}
        many = _import(kind, project, write(rows))
        floors = {
            step: _bare(TABLES["seal"] if step == "seal" else TABLES[kind], before) for step in ("import", "seal")
        }
        found.append([Step(name, few[name], many[name], floors.get(name, floors["import"])) for name in few])
    for steps in zip(*found, strict=True):
        _print_row(kind, rows, steps)


def _print_row(kind: str, rows: int, steps: tuple[Step, ...]) -> None:
    seconds, cpu, server = (median(getattr(step.many, name) for step in steps) for name in ("seconds", "cpu", "server"))
    ratio = median(step.many.seconds / step.floor for step in steps)
    few = median(step.few.cpu for step in steps)
    grown = (max(step.few.grown for step in steps), max(step.many.grown for step in steps))
    print(
        f"{kind:<11}{steps[0].name:<7}{rows:>7,}{rows / seconds:>9,.0f}{cpu:>9.2f}{server:>9.2f}{ratio:>10.1f}"
        f"{few:>17.2f}" + "".join(f"{number / 1e6:>12.0f}" for number in grown),
        flush=True,
    )


def _import(kind: str, project: Any, path: Path) -> dict[str, Measured]:
    """Upload the file, and measure each step of its import."""
    from django.core.files.uploadedfile import UploadedFile
    from django.utils import timezone

    from apps.audit.execution.sealing import seal_all
    from apps.corpus.actions.imports import confirm_import, start_import
    from apps.corpus.imports.documents import NEW
    from apps.corpus.models import Import
    from tests.factories import lead_of
    from tests.running_jobs import run_jobs

    lead = lead_of(project)
    name = f"{kind} {path.stem} {time.monotonic_ns()}"
    options = {"corpus": NEW, "name": name, "format": "jsonl", "ids": "file", "mode": "replace"}
    if kind == "judgements":
        options = {"format": "qrels", "snapshot": str(_snapshot(project)), "name": name}

    def read() -> None:
        with path.open("rb") as stream:
            file = UploadedFile(stream, name=path.name, size=path.stat().st_size)
            known = "corpus" if kind == "blocks" else kind
            start_import(project=project, kind=known, file=file, options=options, actor=lead, at=timezone.now())
        run_jobs()

    def apply() -> None:
        confirm_import(import_id=Import.objects.latest("pk").pk, actor=lead, at=timezone.now())
        run_jobs()

    steps = {"read": _measured(read), "import": _measured(apply)}
    item = Import.objects.latest("pk")
    if item.state != "applied":
        raise SystemExit(f"{path.name}: {item.state} {item.failure} {item.plan}")
    steps["seal"] = _measured(seal_all)
    return steps if kind == "judgements" else {name: step for name, step in steps.items() if name != "seal"}


def _measured(do: Callable[[], object]) -> Measured:
    server = _server()
    grown = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    begun, cpu, served = time.perf_counter(), time.process_time(), server()
    do()
    seconds = time.perf_counter() - begun
    return Measured(seconds, time.process_time() - cpu, server() - served, memory("VmHWM") - grown)


def _server() -> Callable[[], float]:
    """The processor seconds of the server's process for this connection so far; 0 where it is not here."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return lambda: 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        stat = Path(f"/proc/{cursor.fetchone()[0]}/stat")
    tick = os.sysconf("SC_CLK_TCK")
    return lambda: sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) / tick if stat.exists() else 0.0


def _last_key(table: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COALESCE(MAX(id), 0) FROM {table}")
        return int(cursor.fetchone()[0])


def _bare(tables: tuple[str, ...], before: dict[str, int]) -> float:
    """Seconds to write the rows that came in since then into empty tables of the same shape."""
    from django.db import connection, transaction

    seconds = 0.0
    for table in tables:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table} WHERE id > %s", [before[table]])
            names, rows = [column[0] for column in cursor.description], cursor.cursor.fetchall()
            for statement in _same_shape(cursor, table):
                cursor.execute(statement)
            if connection.vendor == "postgresql":
                rows = [_with_json_as_text(row) for row in rows]
            begun = time.perf_counter()
            with transaction.atomic():
                if connection.vendor == "postgresql":
                    with cursor.cursor.copy("COPY bare FROM STDIN") as copy:
                        for row in rows:
                            copy.write_row(row)
                else:
                    places = ", ".join(["%s"] * len(names))
                    cursor.executemany(f"INSERT INTO bare VALUES ({places})", rows)
            seconds += time.perf_counter() - begun
            cursor.execute("DROP TABLE bare")
    return seconds


def _with_json_as_text(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(json.dumps(value) if isinstance(value, list | dict) else value for value in row)


def _same_shape(cursor: Any, table: str) -> Iterator[str]:
    """Statements that make the table `bare` with the columns, keys and indexes of another."""
    if cursor.db.vendor == "postgresql":
        yield f"CREATE TABLE bare (LIKE {table} INCLUDING ALL)"
        return
    cursor.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name = %s AND type IN ('table', 'index') AND sql <> ''"
        " ORDER BY type DESC",
        [table],
    )
    for kind, name, sql in cursor.fetchall():
        bare = sql.replace(f'"{table}"', '"bare"')
        yield (bare if kind == "table" else bare.replace(f'"{name}"', f'"bare_{name}"')).replace("%", "%%")


def _project(judgements: int, folder: Path) -> Any:
    """A project with a snapshot, and with a query for every 500 judgements."""
    from apps.queries.models import Query
    from tests.corpus.factories import make_corpus, make_snapshot
    from tests.factories import AT, lead_of, make_project

    project = make_project()
    make_snapshot(corpus=make_corpus(project, {_block(n): f"The passage number {n}." for n in range(JUDGED_BLOCKS)}))
    Query.objects.bulk_create(
        Query(project=project, outside_id=f"Q{n:05}", text=f"query {n}", created_by=lead_of(project), created_at=AT)
        for n in range(judgements // BLOCKS_A_QUERY + 3)
    )
    return project


def _snapshot(project: Any) -> int:
    from apps.corpus.models import Snapshot

    return Snapshot.objects.filter(corpus__project=project).values_list("pk", flat=True).first()


def _block(number: int) -> str:
    return f"handbook-{number:05}"


def _write_blocks(count: int, folder: Path) -> Path:
    """Passages of about a hundred words, ten to a document, with a title, headings and a page."""
    path, chance = folder / f"{count}.jsonl", random.Random(count)
    with path.open("w") as stream:
        for n in range(count):
            text = " ".join(chance.choices(WORDS, k=100))
            block = {
                "block_id": f"doc-{n // 10:06}#{n % 10}", "document_id": f"doc-{n // 10:06}", "title": f"Part {n}",
                "document_title": f"Document {n // 10}", "section": ["Handbook", f"Chapter {n // 100}"],
                "page_start": n % 300 + 1, "text": f"{n}. {text}",
            }  # fmt: skip
            stream.write(json.dumps(block) + "\n")
    return path


def _write_judgements(count: int, folder: Path) -> Path:
    """Grades of blocks that are spread over the whole snapshot, other ones for each query."""
    path, chance = folder / f"{count}.qrels", random.Random()
    with path.open("w") as stream:
        for n in range(count):
            query, place = divmod(n, BLOCKS_A_QUERY)
            block = (place * (JUDGED_BLOCKS // BLOCKS_A_QUERY) + query) % JUDGED_BLOCKS
            stream.write(f"Q{query:05} 0 {_block(block)} {chance.randrange(4)}\n")
    return path


if __name__ == "__main__":
    main()
