"""Ids of documents and passages, made from what does not change when something else does; digests, names, addresses.

A document's id is its path in the upload, without the ending of Markdown. A passage's id is its document's, `#`, and
the headings above it as anchors: `deploy/from-a-branch#pin`. The title of a document is not part of it, so that a new
title renames one passage at most. Only what begins later in a section than its first passage has a digest of its first
words: no number that shifts when a paragraph is added above.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

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


class Place(NamedTuple):
    """Where a passage stands. Titles may be empty; ids are unique in a corpus."""

    title: str
    document_title: str
    document_id: str
    section: Sequence[str]
    block_id: str


def path_of(document: str, section: Sequence[str], title: str) -> list[str]:
    """The document, the headings above a passage and its own title, each said once."""
    return list(dict.fromkeys(part for part in (document, *section, title) if part))


def document_names(places: Sequence[Place]) -> list[str]:
    """The document of each place: its title, or its id where it has none or another document here shares it."""
    documents = {(place.document_title, place.document_id) for place in places}
    shared = Counter(title for title, _ in documents)
    return [
        place.document_title if place.document_title and shared[place.document_title] == 1 else place.document_id
        for place in places
    ]


def told_apart(places: Sequence[Place]) -> list[str]:
    """What to show beside the title of each passage: its document, and where that leaves several alike, more.

    First the headings above it, then its own id. Nothing beside a title that says the same.
    """
    documents = document_names(places)
    titles = [place.title for place in places]
    with_section = [
        " / ".join([document, *(heading for heading in place.section if heading != place.title)])
        for document, place in zip(documents, places, strict=True)
    ]
    with_id = [f"{document}, {place.block_id}" for document, place in zip(documents, places, strict=True)]
    words = documents
    for more in (with_section, with_id):
        alike = Counter(zip(titles, words, strict=True))
        words = [
            fuller if alike[title, said] > 1 else said for title, said, fuller in zip(titles, words, more, strict=True)
        ]
    return ["" if said == title else said for title, said in zip(titles, words, strict=True)]


MOST_LETTERS = 200
"""Of an id, as everywhere in Karat."""
DOCUMENT_LETTERS = 120
SHORTENED_BY = "~"
DIGEST_LETTERS = 8
MARKDOWN_ENDINGS = (".md", ".markdown", ".mdx")
_UNNAMED = "section"


def document_id(path: str) -> str:
    """The id of the document at a path. Blanks, `#` and `%` are written as addresses write them: `My%20notes`."""
    plain = unicodedata.normalize("NFC", path)
    for ending in MARKDOWN_ENDINGS:
        stem = plain[: -len(ending)]
        if plain.lower().endswith(ending) and stem and not stem.endswith("/"):
            plain = stem
            break
    return _within("".join(map(_escaped, plain)), DOCUMENT_LETTERS)


def passage_id(document: str, place: Sequence[str], mark: str = "") -> str:
    """The id of a passage below the headings `place`; `mark` tells it from others there, "" for the first."""
    path = "/".join(place)
    whole = document if not path else f"{document}#{path}"
    return _within(whole, MOST_LETTERS - len(mark)) + mark


def start_mark(words: str) -> str:
    """The mark of a passage that begins with these words: the same for the same words, wherever they move."""
    return SHORTENED_BY + _digest(" ".join(words.split()))


def anchor_of(title: str) -> str:
    """A heading as an anchor, as most sites write it: lower case, blanks as hyphens, other signs left out."""
    lower = unicodedata.normalize("NFKC", title).lower()
    kept = (letter for letter in lower if letter in " -_" or unicodedata.category(letter)[0] in "LNM")
    return "".join(kept).strip().replace(" ", "-") or _UNNAMED


def _escaped(letter: str) -> str:
    if letter in "#%" or letter.isspace() or not letter.isprintable():
        return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))
    return letter


def _within(name: str, most: int) -> str:
    if len(name) <= most:
        return name
    return name[: most - DIGEST_LETTERS - 1] + SHORTENED_BY + _digest(name)


def _digest(words: str) -> str:
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LETTERS]


PAGE_ENDINGS = (".md", ".markdown", ".mdx", ".rst")
FOLDER_PAGES = frozenset({"index", "readme"})


def page_address(base: str, path: str, anchor: str = "") -> str:
    """The address of a document below `base`, as most builders of sites have it.

    Sources of pages (Markdown, reStructuredText) lose their ending, `index` and `README` are their folder; all other
    files keep their names.
    """
    folder, _, name = path.rpartition("/")
    for ending in PAGE_ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            name = "" if name.lower() in FOLDER_PAGES else name
            break
    place = f"{folder}/{name}" if folder else name
    return base.rstrip("/") + "/" + quote(place) + (f"#{quote(anchor, safe='=')}" if anchor else "")
