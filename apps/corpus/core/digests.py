"""The canonical forms of a block's text and of a snapshot, and their digests."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from apps.common.digests import canonical_json, canonical_text, digest_of, digest_of_lines, plain_numbers, sha256_hex


class BlockDigests(NamedTuple):
    """`version` covers everything a reader sees; `text` only title and text."""

    version: str
    text: str


class SnapshotEntry(NamedTuple):
    """One block in a snapshot: ids, digests, and the title of its document at that time."""

    block_id: str
    document_id: str
    digest: str
    metadata_digest: str = ""
    document_title: str = ""


def block_digests(
    *, title: str, section_path: Sequence[str], page_start: int | None, page_end: int | None, text: str
) -> BlockDigests:
    """The digests of a block's text. Metadata is not part of it: nobody grades metadata.

    Each is over the canonical JSON of an object, put together here: the text, by far the longest, is escaped once for
    the two, and an encoder of objects takes longer than all of it.
    """
    words = f'"text":{canonical_text(text)},"title":{canonical_text(title)}}}'
    headings = ",".join(map(canonical_text, section_path))
    first, last = ("null" if page is None else page for page in (page_start, page_end))
    place = f'"page_end":{last},"page_start":{first},"section_path":[{headings}]'
    return BlockDigests(
        version=sha256_hex(f"{{{place},{words}".encode()),
        text=sha256_hex(f"{{{words}".encode()),
    )


def metadata_digest(metadata: dict[str, Any]) -> str:
    """The digest of a block's metadata; "" when there is none."""
    return digest_of(plain_numbers(metadata)) if metadata else ""


def snapshot_digest(entries: Iterable[SnapshotEntry]) -> str:
    """The digest over the entries in the order given: bytewise by block id.

    Metadata and the document's title are included only where there are any, so older digests of a corpus without stay
    valid.
    """
    return digest_of_lines(canonical_json(_named(entry)).decode() for entry in entries)


def older_snapshot_digest(entries: Iterable[SnapshotEntry]) -> str:
    """The digest as computed before metadata and titles were included."""
    return digest_of_lines(canonical_json(list(entry[:3])).decode() for entry in entries)


def _named(entry: SnapshotEntry) -> list[str]:
    return list(entry if entry.metadata_digest or entry.document_title else entry[:3])
