"""The canonical form of a block's text and of a snapshot, and the digests that name them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from apps.common.digests import canonical_json, digest_of, digest_of_lines, plain_numbers


class BlockDigests(NamedTuple):
    """`version` covers all that a reader sees; `text` title and text alone."""

    version: str
    text: str


class SnapshotEntry(NamedTuple):
    """One block as a snapshot names it: ids, digests, and the title that its document had."""

    block_id: str
    document_id: str
    digest: str
    metadata_digest: str = ""
    document_title: str = ""


def block_digests(
    *, title: str, section_path: Sequence[str], page_start: int | None, page_end: int | None, text: str
) -> BlockDigests:
    """The names of a block's text. Metadata is not part of it: nobody grades metadata."""
    seen = {
        "page_end": page_end,
        "page_start": page_start,
        "section_path": list(section_path),
        "text": text,
        "title": title,
    }
    return BlockDigests(version=digest_of(seen), text=digest_of({"text": text, "title": title}))


def metadata_digest(metadata: dict[str, Any]) -> str:
    """The name of a block's metadata; "" when there is none."""
    return digest_of(plain_numbers(metadata)) if metadata else ""


def snapshot_digest(entries: Iterable[SnapshotEntry]) -> str:
    """The digest over the entries in the order given: bytewise by block id.

    Metadata and the document's title count where there are any, so a corpus without has the digest it always had.
    """
    return digest_of_lines(canonical_json(_named(entry)).decode() for entry in entries)


def older_snapshot_digest(entries: Iterable[SnapshotEntry]) -> str:
    """The digest of a snapshot that was frozen before metadata and titles counted."""
    return digest_of_lines(canonical_json(list(entry[:3])).decode() for entry in entries)


def _named(entry: SnapshotEntry) -> list[str]:
    return list(entry if entry.metadata_digest or entry.document_title else entry[:3])
