"""A version as a folder or a zip file, always the same bytes, with a manifest of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any

from apps.goldsets.core.signing import SIGNATURE
from apps.goldsets.formats import huggingface, jsonl, judgements, parquet_files, qrels, slices, triples
from apps.goldsets.formats.content import Content
from apps.goldsets.formats.zipping import CHECKSUMS, MANIFEST, checksums, write_zip

Sign = Callable[[bytes], bytes]
Files = Iterator[tuple[str, Iterator[bytes]]]

WRITERS: dict[str, Callable[[Content], Files]] = {
    "jsonl": jsonl.files,
    "csv": judgements.csv_files,
    "trec": qrels.trec_files,
    "beir": qrels.beir_files,
    "parquet": parquet_files.files,
    "rag": triples.rag_files,
    "ragas": triples.ragas_files,
    "yaml": triples.yaml_files,
    "judgements": judgements.files,
}
DESCRIBED: dict[str, Callable[[Content, Mapping[str, Any]], Files]] = {"huggingface": huggingface.files}
"""Writers that also tell what the version is, from the manifest."""
PACKED = ("parquet", "judgements", "huggingface")
"""The forms with Parquet in them."""
ALL = "all"
FORMS = (*WRITERS, *DESCRIBED)
CHOICES = (*FORMS, ALL)


def chosen(formats: Iterable[str]) -> list[str]:
    """The names of the requested formats, in their fixed order; `all` means every one."""
    wanted = set(formats)
    if unknown := wanted - set(CHOICES):
        raise ValueError(f"{', '.join(sorted(unknown))} is no form; use {', '.join(CHOICES)}")
    return [name for name in FORMS if name in wanted or ALL in wanted]


def write_folder(
    content: Content, folder: Path, *, formats: Sequence[str], facts: dict[str, Any], sign: Sign | None = None
) -> dict:
    """Write the files, the slices that go along, the manifest and the checksums to an empty folder.

    Returns the manifest. `facts` is the manifest without its list of files; `sign` turns the checksums into their
    signature. Raises Unwritable when a row does not fit a format; files written before stay.
    """
    files = chain.from_iterable(
        DESCRIBED[name](content, facts) if name in DESCRIBED else WRITERS[name](content) for name in chosen(formats)
    )
    return write_files(chain(files, slices.files(content)), folder, facts=facts, sign=sign)


def write_files(files: Files, folder: Path, *, facts: dict[str, Any], sign: Sign | None = None) -> dict[str, Any]:
    """Write the files, their manifest, which is `facts` with the files, and the checksums to an empty folder."""
    entries = [_write(folder / path, path, chunks) for path, chunks in files]
    listed = sorted(entries, key=lambda entry: entry["path"].encode())
    manifest = {**facts, "checksums": CHECKSUMS, "files": listed}
    if sign:
        manifest["signature"] = SIGNATURE
    data = manifest_bytes(manifest)
    (folder / MANIFEST).write_bytes(data)
    sums = checksums(manifest, data)
    (folder / CHECKSUMS).write_bytes(sums)
    if sign:
        (folder / SIGNATURE).write_bytes(sign(sums))
    return manifest


def manifest_bytes(manifest: dict[str, Any]) -> bytes:
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    return text.encode() + b"\n"


def _write(target: Path, path: str, chunks: Iterator[bytes]) -> dict[str, Any]:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return {"path": path, "bytes": size, "sha256": digest.hexdigest()}


def zip_folder(folder: Path, stream: IO[bytes]) -> None:
    """Write the files of a folder to a zip file in its one form."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    sizes = [(path.relative_to(folder).as_posix(), path.stat().st_size) for path in paths]
    write_zip(sizes, lambda name: (folder / name).open("rb"), stream)
