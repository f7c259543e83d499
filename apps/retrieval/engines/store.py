"""Indexes on disk: built once, named by digest, memory-mapped when used."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from apps.retrieval.engines.base import Engine


def open_index(root: Path, digest: str, engine: Engine, blocks: Callable[[], Iterable[str]]) -> Any:
    """The handle of the index called `digest` under `root`, building it first when it is not there.

    `digest` names the engine's identity together with the blocks, so a folder that exists is right.
    However many processes ask at once, one builds and the others wait. A folder appears whole, by rename,
    or not at all: a process killed while building leaves only a scratch folder, which the next one removes.
    """
    folder = root / digest
    if not folder.is_dir():
        root.mkdir(parents=True, exist_ok=True)
        with _locked(root / f"{digest}.lock"):
            if not folder.is_dir():
                _build(folder, engine, blocks())
    return engine.load(folder)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file; the kernel lets go of it when the process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(folder: Path, engine: Engine, blocks: Iterable[str]) -> None:
    for leftover in folder.parent.glob(f"{folder.name}.part-*"):
        shutil.rmtree(leftover)
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.part-", dir=folder.parent))
    engine.save(engine.index(blocks), scratch)
    for file in scratch.iterdir():
        _settle_on_disk(file)
    _settle_on_disk(scratch)
    scratch.rename(folder)
    _settle_on_disk(folder.parent)


def _settle_on_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
