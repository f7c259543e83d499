"""Checks an exported version against its manifest: the bytes, and the digests of what was frozen.

Plain files, no database. Every byte counts: those of the files by the manifest, those of the manifest by the checksums,
and those of a zip around its files by writing it again.
"""

from __future__ import annotations

import hashlib
import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from apps.common.digests import canonical_json, digest_of_lines
from apps.corpus.core.passage_ids import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)
from apps.goldsets.core.signing import SIGNATURE, BadSignature, Signer, signer_of
from apps.goldsets.formats.zipping import CHECKSUMS, MANIFEST, checksums, write_zip

CORPUS = "jsonl/corpus.jsonl"
PUBLIC = "karat-public-release/1"
"""The form of a manifest whose digests are over exactly the files beside it."""
ITEMS = ("jsonl/judgements.jsonl", "jsonl/queries.jsonl", "jsonl/triples.jsonl")
Opener = Callable[[str], IO[bytes]]


def faults(manifest: dict[str, Any], names: set[str], opened: Opener) -> Iterator[str]:
    """A sentence for each digest of the manifest that differs from the digest of its files.

    They detect a manifest that was changed along with the files: the digests over the items and over the texts of the
    snapshot are those that the version was released with. Only for what the export contains in full: an export of one
    split, or without names, has other items.
    """
    if CORPUS in names and not _is_snapshot(manifest, opened):
        yield f"{CORPUS} does not contain the texts of the snapshot in the manifest."
    if names.issuperset(ITEMS) and _is_whole(manifest) and _items_digest(manifest, opened) != manifest.get("digest"):
        yield "The items are not those that were frozen under the digest in the manifest."


def _is_whole(manifest: dict[str, Any]) -> bool:
    if manifest.get("format") == PUBLIC:
        return True
    export = manifest.get("export")
    if not isinstance(export, dict):
        return False
    is_named = export.get("people") == "named" and not export.get("left_out_as_revoked")
    return is_named and export.get("splits") == ["dev", "test"]


def _is_snapshot(manifest: dict[str, Any], opened: Opener) -> bool:
    snapshot = manifest.get("snapshot")
    if not isinstance(snapshot, dict):
        return False
    try:
        entries = [_entry(json.loads(line)) for line in _lines(CORPUS, opened)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return snapshot.get("digest") in {snapshot_digest(entries), older_snapshot_digest(entries)}


def _entry(block: dict[str, Any]) -> SnapshotEntry:
    tombstone = block.get("redacted")
    if tombstone:
        digest, facts = tombstone["digest"], tombstone["metadata_digest"]
    else:
        seen = {name: block[name] for name in ("title", "page_start", "page_end", "text")}
        digest = block_digests(section_path=block["section"], **seen).version
        facts = metadata_digest(block["metadata"])
    return SnapshotEntry(block["block_id"], block["document_id"], digest, facts, block["document_title"])


def _items_digest(manifest: dict[str, Any], opened: Opener) -> str | None:
    try:
        return digest_of_lines(_item_lines(manifest, opened))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _item_lines(manifest: dict[str, Any], opened: Opener) -> Iterator[str]:
    guideline = manifest["guideline"]
    frame = {
        "snapshot": manifest["snapshot"]["digest"],
        "scale": manifest["scale"],
        "guideline": guideline["digest"] if guideline else None,
    }
    yield canonical_json(frame).decode()
    for name in ITEMS:
        yield name
        yield from _lines(name, opened)


def _lines(name: str, opened: Opener) -> Iterator[str]:
    with opened(name) as stream:
        for line in stream:
            yield line.decode().removesuffix("\n")


MAX_MANIFEST_BYTES = 64 << 20
CHUNK_BYTES = 1 << 20
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)
"""What opening or reading a damaged zip raises."""
OTHER_ZIP = (
    "The zip has other bytes around its files than Karat writes: before, between or after them, or in their names and "
    "times. The files in it are as the manifest says; unpack it and verify the folder."
)


class NotAnExport(ValueError):
    """The path has no manifest to check against; the message is a sentence."""


@dataclass
class VerificationReport:
    """What was checked. `faults` has one sentence for each fault; empty when all is well. `signer` is who signed."""

    checked: int = 0
    size: int = 0
    faults: list[str] = field(default_factory=list)
    manifest: dict[str, Any] = field(default_factory=dict)
    signer: Signer | None = None

    @property
    def is_intact(self) -> bool:
        return not self.faults


class Store(NamedTuple):
    """A folder or a zip file: the names in it, and how one is opened. `damage` is what reading changed bytes raises."""

    names: set[str]
    open: Opener
    damage: tuple[type[Exception], ...] = ()
    archive: zipfile.ZipFile | None = None


@contextmanager
def _store(path: Path) -> Iterator[Store]:
    if path.is_dir():
        # Everything but plain folders: a link is something that no export has.
        found = (one for one in path.rglob("*") if one.is_symlink() or not one.is_dir())
        yield Store({one.relative_to(path).as_posix() for one in found}, lambda name: (path / name).open("rb"))
        return
    if not path.is_file():
        raise NotAnExport(f"{path} is neither a folder nor a file.")
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE:
        raise NotAnExport(f"{path} is neither a folder nor a zip file.") from None
    with archive:
        names = {entry.filename for entry in archive.infolist() if not entry.is_dir()}
        yield Store(names, archive.open, DAMAGE, archive)


def verify(path: Path) -> VerificationReport:
    """Check every file of an exported folder or zip against its manifest.

    Raises NotAnExport without a manifest, or with one that is not valid.
    """
    with _store(path) as store:
        data = _manifest_data(store, path)
        report = VerificationReport(manifest=_manifest(data))
        listed = set()
        for entry in report.manifest["files"]:
            listed.add(entry["path"])
            _check(store, entry, report)
        own = {MANIFEST, *_check_sums(store, data, report)}
        report.faults += [f"{name} is not in the manifest." for name in sorted(store.names - listed - own)]
        if report.is_intact:
            report.faults += faults(report.manifest, listed, store.open)
        if report.is_intact and store.archive and not _is_as_written(path, store.archive, report.manifest, own):
            report.faults.append(OTHER_ZIP)
    return report


def _check_sums(store: Store, data: bytes, report: VerificationReport) -> set[str]:
    """Compare the checksums with the manifest, and return the name of their file; exports before there were any have
    none, and name none."""
    if report.manifest.get("checksums") != CHECKSUMS:
        return set()
    if CHECKSUMS not in store.names:
        report.faults.append(f"{CHECKSUMS} is missing.")
    elif (sums := _small(store, CHECKSUMS)) != checksums(report.manifest, data):
        report.faults.append(f"{CHECKSUMS} and {MANIFEST} do not belong together: one of them was changed.")
    elif report.manifest.get("signature") == SIGNATURE:
        _check_signature(store, sums, report)
        return {CHECKSUMS, SIGNATURE}
    return {CHECKSUMS}


def _check_signature(store: Store, sums: bytes, report: VerificationReport) -> None:
    if SIGNATURE not in store.names:
        report.faults.append(f"{SIGNATURE} is missing, and the manifest says that the export is signed.")
        return
    try:
        report.signer = signer_of(_small(store, SIGNATURE), sums)
    except BadSignature as error:
        report.faults.append(str(error))


def _small(store: Store, name: str) -> bytes:
    """The bytes of a file that should be small; as many of them as a manifest may have."""
    try:
        with store.open(name) as stream:
            return stream.read(MAX_MANIFEST_BYTES)
    except store.damage:
        return b""


def _is_as_written(path: Path, archive: zipfile.ZipFile, manifest: dict[str, Any], own: set[str]) -> bool:
    """Whether the zip has the bytes that its files, written again, give."""
    sizes = [(entry["path"], entry["bytes"]) for entry in manifest["files"]]
    sizes += [(name, archive.getinfo(name).file_size) for name in own]
    with tempfile.TemporaryFile() as again, path.open("rb") as here:
        write_zip(sizes, archive.open, again)
        again.seek(0)
        while True:
            chunk, expected = here.read(CHUNK_BYTES), again.read(CHUNK_BYTES)
            if chunk != expected:
                return False
            if not chunk:
                return True


def _manifest_data(store: Store, path: Path) -> bytes:
    if MANIFEST not in store.names:
        raise NotAnExport(f"{path} contains no {MANIFEST}; it is not an export of Karat.")
    try:
        with store.open(MANIFEST) as stream:
            data = stream.read(MAX_MANIFEST_BYTES + 1)
    except store.damage:
        raise NotAnExport(f"{MANIFEST} is damaged.") from None
    if len(data) > MAX_MANIFEST_BYTES:
        raise NotAnExport(f"{MANIFEST} is larger than {MAX_MANIFEST_BYTES >> 20} MiB.")
    return data


def _manifest(data: bytes) -> dict[str, Any]:
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


def _check(store: Store, entry: dict[str, Any], report: VerificationReport) -> None:
    name = entry["path"]
    if name not in store.names:
        report.faults.append(f"{name} is missing.")
        return
    digest, size = hashlib.sha256(), 0
    try:
        with store.open(name) as stream:
            while size <= entry["bytes"] and (chunk := stream.read(CHUNK_BYTES)):
                digest.update(chunk)
                size += len(chunk)
    except store.damage:
        size = -1
    report.checked += 1
    report.size += max(size, 0)
    if size != entry["bytes"] or digest.hexdigest() != entry["sha256"]:
        report.faults.append(f"{name} differs from the manifest.")
