"""The canonical form of a block's text and of a snapshot, and the digests that name them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from apps.common.digests import canonical_json, digest_of, digest_of_lines


class BlockDigests(NamedTuple):
    """`version` covers all that a reader sees; `text` title and text alone."""

    version: str
    text: str


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


def snapshot_digest(entries: Iterable[tuple[str, str, str]]) -> str:
    """The digest over (block id, document id, version digest), in the order given: bytewise by block id."""
    return digest_of_lines(canonical_json(list(entry)).decode() for entry in entries)
