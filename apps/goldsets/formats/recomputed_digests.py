"""The digests of a version, recomputed from an exported folder: plain files, no database.

They detect a manifest that was changed along with the files: the digest over the items, and the snapshot's over the
texts, are those that the version was released with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, Any

from apps.common.digests import canonical_json, digest_of_lines
from apps.corpus.core.passage_ids import (
    SnapshotEntry,
    block_digests,
    metadata_digest,
    older_snapshot_digest,
    snapshot_digest,
)

CORPUS = "jsonl/corpus.jsonl"
PUBLIC = "karat-public-release/1"
"""The form of a manifest whose digests are over exactly the files beside it."""
ITEMS = ("jsonl/judgements.jsonl", "jsonl/queries.jsonl", "jsonl/triples.jsonl")
Opener = Callable[[str], IO[bytes]]


def faults(manifest: dict[str, Any], names: set[str], opened: Opener) -> Iterator[str]:
    """A sentence for each digest of the manifest that differs from the digest of its files.

    Only for what the export contains in full: an export of one split, or without names, has other items.
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
