"""Checks an exported version against its manifest: the bytes, and the digests of what was frozen.

Plain files, no database.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, Protocol

from apps.goldsets.formats import recomputed_digests

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 64 << 20
CHUNK_BYTES = 1 << 20


class NotAnExport(ValueError):
    """The path has no manifest to check against; the message is a sentence."""


@dataclass
class VerificationReport:
    """What was checked. `faults` has one sentence for each fault; empty when all is well."""

    checked: int = 0
    size: int = 0
    faults: list[str] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)

    @property
    def is_intact(self) -> bool:
        return not self.faults


class Store(Protocol):
    """A folder or a zip file: named streams of bytes."""

    def names(self) -> set[str]: ...

    def open(self, name: str) -> IO[bytes]: ...


class FolderStore:
    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}

    def open(self, name: str) -> IO[bytes]:
        return (self.root / name).open("rb")


class ZipStore:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive

    def names(self) -> set[str]:
        return {entry.filename for entry in self.archive.infolist() if not entry.is_dir()}

    def open(self, name: str) -> IO[bytes]:
        return self.archive.open(name)


@contextmanager
def _store(path: Path) -> Iterator[Store]:
    if path.is_dir():
        yield FolderStore(path)
        return
    if not path.is_file():
        raise NotAnExport(f"{path} is neither a folder nor a file.")
    try:
        with zipfile.ZipFile(path) as archive:
            yield ZipStore(archive)
    except zipfile.BadZipFile:
        raise NotAnExport(f"{path} is neither a folder nor a zip file.") from None


def verify(path: Path) -> VerificationReport:
    """Check every file of an exported folder or zip against its manifest.

    Raises NotAnExport without a manifest, or with one that is not valid.
    """
    with _store(path) as store:
        names = store.names()
        report = VerificationReport(manifest=_manifest(store, names, path))
        listed = set()
        for entry in report.manifest["files"]:
            listed.add(entry["path"])
            _check(store, names, entry, report)
        report.faults += [f"{name} is not in the manifest." for name in sorted(names - listed - {MANIFEST})]
        if report.is_intact:
            report.faults += recomputed_digests.faults(report.manifest, listed, store.open)
    return report


def _manifest(store: Store, names: set[str], path: Path) -> dict[str, Any]:
    if MANIFEST not in names:
        raise NotAnExport(f"{path} contains no {MANIFEST}; it is not an export of Karat.")
    with store.open(MANIFEST) as stream:
        data = stream.read(MAX_MANIFEST_BYTES + 1)
    if len(data) > MAX_MANIFEST_BYTES:
        raise NotAnExport(f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES >> 20} MiB.")
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError):
        raise NotAnExport(f"{MANIFEST} is not JSON.") from None
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, list) or not all(_is_entry(entry) for entry in files):
        raise NotAnExport(f"{MANIFEST} lists no files with path, bytes and sha256.")
    return manifest


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    kinds = {"path": str, "bytes": int, "sha256": str}
    return all(isinstance(entry.get(key), kind) for key, kind in kinds.items()) and _stays_inside(entry["path"])


def _stays_inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and "\\" not in name and "\0" not in name


def _check(store: Store, names: set[str], entry: dict[str, Any], report: VerificationReport) -> None:
    name = entry["path"]
    if name not in names:
        report.faults.append(f"{name} is missing.")
        return
    digest, size = hashlib.sha256(), 0
    with store.open(name) as stream:
        while size <= entry["bytes"] and (chunk := stream.read(CHUNK_BYTES)):
            digest.update(chunk)
            size += len(chunk)
    report.checked += 1
    report.size += size
    if size != entry["bytes"] or digest.hexdigest() != entry["sha256"]:
        report.faults.append(f"{name} differs from the manifest.")
