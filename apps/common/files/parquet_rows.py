"""The rows of a Parquet file as JSON lines. Runs as a process of its own: see `parquet`.

A script without imports of this project: `python -I parquet_rows.py ROWS COLUMNS SECONDS BYTES`, the file as standard
input. The arguments are the limits. First the names of the columns, then each row as a list of their values.
"""

import errno
import json
import math
import os
import re
import sys
from contextlib import suppress
from typing import Any

BATCH = 200
NO_TEXT = re.compile("[\0\ud800-\udfff]")
DAMAGED, TOO_MANY, TOO_LARGE = 3, 4, 5
"""Exit codes; any other than 0 is a limit of the system, or a crash."""


def main(rows: int, columns: int, seconds: int, memory: int) -> int:
    """Print the rows; returns the exit code."""
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    _limit(seconds, memory)
    import pyarrow
    import pyarrow.parquet

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    try:
        file = pyarrow.parquet.ParquetFile(sys.stdin.buffer, memory_map=False)
        names = list(file.schema_arrow.names)
        if file.metadata.num_rows > rows or len(names) > columns:
            return TOO_MANY
        _write(names)
        for batch in file.iter_batches(batch_size=BATCH, use_threads=False):
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                _write([_plain(value) for value in values])
    except MemoryError:
        return TOO_LARGE
    except OSError as error:
        return TOO_LARGE if error.errno in (errno.ENOMEM, errno.EAGAIN) else DAMAGED
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, ValueError, KeyError, TypeError):
        return DAMAGED
    return 0


def _limit(seconds: int, memory: int) -> None:
    """The system ends this process when it takes more. Where it knows no such limits, the parent's patience remains."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _write(values: list[Any]) -> None:
    sys.stdout.write(json.dumps(values, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """A value as JSON has it: bytes and numbers without a value are left out, dates and decimals are text."""
    if isinstance(value, str):
        return NO_TEXT.sub("", value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return None if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    code = main(*map(int, sys.argv[1:]))
    sys.stdout.flush()
    # Without taking the interpreter down: a thread of Arrow that still holds the file may crash it on a busy machine,
    # and all that was to be said has been said.
    os._exit(code)
