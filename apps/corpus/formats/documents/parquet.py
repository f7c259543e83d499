"""Parquet: its columns are the fields of records, by their names. Read in batches by a process of its own, with limits:
a few bytes can stand for a column of any length."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from apps.common.files.faults import ErrorList, all_of
from apps.corpus.core.documents import Document, ReadingNote
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.parquet_rows import DAMAGED, TOO_MANY
from apps.corpus.formats.documents.records import Record, read_records
from apps.corpus.formats.rows import BlockRow

SCRIPT = Path(__file__).with_name("parquet_rows.py")


class Limits(NamedTuple):
    """For one file. Its rows may be `ratio` times as long as the file, and always `ratio_floor` bytes."""

    rows: int = 5_000_000
    columns: int = 1_000
    seconds: int = 600
    memory: int = 3_000_000_000
    ratio: int = 200
    ratio_floor: int = 20_000_000


LIMITS = Limits()


def read_parquet(source: SourceFile, limits: Limits = LIMITS) -> Iterator[Document | BlockRow | ReadingNote]:
    command = [sys.executable, "-I", str(SCRIPT), *map(str, limits[:4])]
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(source.stream, file)
        file.seek(0)
        with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                yield from _found(source, process, limits)
            finally:
                process.kill()


def _found(
    source: SourceFile, process: subprocess.Popen, limits: Limits
) -> Iterator[Document | BlockRow | ReadingNote]:
    lines = _lines(process, limits, max(limits.ratio_floor, limits.ratio * source.size))
    names = next(lines, [])
    errors = ErrorList()
    yield from read_records(source, "parquet", names, _records(names, lines), errors)
    if errors:
        raise all_of(errors)


def _records(names: list[str], lines: Iterator[list[Any]]) -> Iterator[Record]:
    for number, values in enumerate(lines, 1):
        yield number, dict(zip(names, values, strict=True))


def _lines(process: subprocess.Popen, limits: Limits, most: int) -> Iterator[list[Any]]:
    """What the process prints, `most` bytes of it. Raises Unreadable when it does not end well."""
    assert process.stdout is not None
    left = most
    while line := process.stdout.readline(left + 1):  # one value can be as long as all of them may be
        left -= len(line)
        if left < 0:
            raise Unreadable("Parquet packed far too tightly")
        if line.endswith(b"\n"):  # else it ended while writing
            yield json.loads(line)
    code = process.wait()
    if code == TOO_MANY:
        raise Unreadable(f"Parquet with more than {limits.rows:,} rows or {limits.columns:,} columns")
    if code:
        raise Unreadable("damaged Parquet" if code == DAMAGED else "Parquet that takes too long or too much memory")
