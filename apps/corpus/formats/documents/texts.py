"""The text of a file in whatever encoding it was written, with `\\n` at line ends."""

from typing import NamedTuple

from apps.common.files.encodings import encoding_of, name_of
from apps.corpus.formats.documents import SourceFile, Unreadable

MOST_BYTES = 20_000_000
"""Of one text file. A longer one is data, not something that people read."""
LINE_LETTERS = 5_000_000
CERTAIN = frozenset({"utf-8", "utf-16"})


class DecodedText(NamedTuple):
    """A text and, when its encoding had to be guessed, a note of it."""

    text: str
    note: str = ""


def text_of(file: SourceFile, declared: str = "") -> DecodedText:
    """The whole text of a file: by its byte order mark, else UTF-8, else as it is declared, else a guess.

    Raises Unreadable for what is empty, too large or no text.
    """
    if file.size > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    raw = file.stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    decoded = _decoded(raw, declared)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable("not text")
    if not text.strip():
        raise Unreadable("empty file")
    if len(text) > LINE_LETTERS and max(map(len, text.split("\n"))) > LINE_LETTERS:
        raise Unreadable(f"line of more than {LINE_LETTERS // 1_000_000} million letters")
    return DecodedText(text, decoded.note)


def _decoded(raw: bytes, declared: str) -> DecodedText:
    encoding = encoding_of([raw])
    is_certain = encoding in CERTAIN
    try:
        text = raw.decode(encoding if is_certain or not declared else declared).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError):
        raise Unreadable("text of unknown encoding") from None
    return DecodedText(text, "" if is_certain or declared else f"read as {name_of(encoding)}, which is a guess")
