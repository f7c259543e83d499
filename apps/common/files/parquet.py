"""The rows of a Parquet file, read in batches by a process of its own, with limits.

A few bytes of such a file can stand for a column of any length.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing
from importlib import resources
from typing import Any, BinaryIO, NamedTuple

from apps.common.errors import InputError
from apps.common.files.jsonvalues import parse_object
from apps.common.files.parquet_rows import DAMAGED, TOO_MANY
from apps.common.files.tabular import CAPS, TableFile

SCRIPT = resources.files(__package__).joinpath("parquet_rows.py")
MAGIC = b"PAR1"


class ParquetLimits(NamedTuple):
    """For one file. Its rows may be `ratio` times as long as the file, and always `ratio_floor` bytes."""

    rows: int = 5_000_000
    columns: int = 1_000
    seconds: int = 600
    memory: int = 3_000_000_000
    ratio: int = 200
    ratio_floor: int = 20_000_000


LIMITS = ParquetLimits()
MOST_FILE_BYTES = 2_000_000_000


class NotRead(ValueError):
    """The file is not read; the message is what it is, such as "damaged Parquet"."""


def is_parquet(head: bytes) -> bool:
    """Whether a file with these first bytes is Parquet."""
    return head.startswith(MAGIC)


def parquet_rows(stream: BinaryIO, size: int, limits: ParquetLimits = LIMITS) -> Generator[list[Any]]:
    """First the names of the columns, then the values of each row, as JSON has them. Raises NotRead.

    Leave them, and the process ends.
    """
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file)
        yield from _from_file(file, size, limits)


def read_parquet(source: TableFile, limits: ParquetLimits = LIMITS) -> Generator[list[Any]]:
    """The same of a file to import. Raises InputError."""
    with tempfile.TemporaryFile() as file:
        size = 0
        for block in source.blocks(MOST_FILE_BYTES):
            size += file.write(block)
        try:
            yield from _from_file(file, size, limits)
        except NotRead as reason:
            raise source.error(None, "", "", f"the file is {reason}") from None


def parquet_names(source: TableFile) -> list[str]:
    """The names of the columns; none where the file is not read. The source is at its beginning, before and after."""
    try:
        with closing(read_parquet(source)) as rows:
            return next(rows, [])
    except InputError:
        return []


def parquet_records(source: TableFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the row from 1, its values by column), without empty cells. Raises InputError."""
    rows = read_parquet(source)
    names = next(rows, [])
    for number, values in enumerate(rows, start=1):
        yield number, {name: value for name, value in zip(names, values, strict=True) if value is not None}


def object_in(value: Any) -> Any:
    """The object that a cell has as JSON; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return parse_object(value, CAPS.nesting)
    except ValueError:
        return value


def _from_file(file: Any, size: int, limits: ParquetLimits) -> Iterator[list[Any]]:
    command = [sys.executable, "-I", "-c", SCRIPT.read_text("utf-8"), *map(str, limits[:4])]
    file.seek(0)
    with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield from _lines(process, limits, max(limits.ratio_floor, limits.ratio * size))
        finally:
            process.kill()


def _lines(process: subprocess.Popen, limits: ParquetLimits, most: int) -> Iterator[list[Any]]:
    """What the process prints, `most` bytes of it. Raises NotRead when it does not end well."""
    assert process.stdout is not None
    left = most
    while line := process.stdout.readline(left + 1):  # one value can be as long as all of them may be
        left -= len(line)
        if left < 0:
            raise NotRead("Parquet packed far too tightly")
        if line.endswith(b"\n"):  # else it ended while writing
            yield json.loads(line)
    code = process.wait()
    if code == TOO_MANY:
        raise NotRead(f"Parquet with more than {limits.rows:,} rows or {limits.columns:,} columns")
    if code:
        raise NotRead("damaged Parquet" if code == DAMAGED else "Parquet that takes too long or too much memory")
