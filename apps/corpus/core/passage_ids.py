"""Outside ids of documents and passages, made from what does not change when something else does.

A document's id is its path in the upload, without the ending of Markdown. A passage's id is its document's, `#`, and
the headings above it as anchors: `deploy/from-a-branch#pin`. The title of a document is not part of it, so that a new
title renames one passage at most. Only what begins later in a section than its first passage has a digest of its first
words: no number that shifts when a paragraph is added above.
"""

import hashlib
import unicodedata
from collections.abc import Sequence

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
