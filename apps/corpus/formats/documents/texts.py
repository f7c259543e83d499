"""The text of a file in whatever encoding it was written, with `\\n` at line ends."""

from typing import NamedTuple

from charset_normalizer import from_bytes

from apps.corpus.formats.documents import SourceFile, Unreadable

MOST_BYTES = 20_000_000
"""Of one text file. A longer one is data, not something that people read."""
MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
LINE_LETTERS = 5_000_000
GUESSED_FROM = 200_000
"""Bytes that a guess of the encoding looks at."""


class DecodedText(NamedTuple):
    """A text and, when its encoding had to be guessed, a note of it."""

    text: str
    note: str = ""


def text_of(file: SourceFile) -> DecodedText:
    """The whole text of a file. By its byte order mark, else UTF-8, else a guess. Raises Unreadable."""
    if file.size > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    raw = file.stream.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"text of more than {MOST_BYTES // 1_000_000} MB")
    decoded = _decoded(raw)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise Unreadable("not text")
    if not text.strip():
        raise Unreadable("empty file")
    if len(text) > LINE_LETTERS and max(map(len, text.split("\n"))) > LINE_LETTERS:
        raise Unreadable(f"line of more than {LINE_LETTERS // 1_000_000} million letters")
    return DecodedText(text, decoded.note)


def _decoded(raw: bytes) -> DecodedText:
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            try:
                return DecodedText(raw.decode(encoding))
            except UnicodeDecodeError:
                raise Unreadable("damaged text") from None
    try:
        return DecodedText(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return _guessed(raw)


def _guessed(raw: bytes) -> DecodedText:
    best = from_bytes(raw[:GUESSED_FROM]).best()
    if best is None or best.encoding == "utf_8":
        raise Unreadable("text of unknown encoding")
    try:
        return DecodedText(raw.decode(best.encoding), f"read as {best.encoding.replace('_', '-')}, which is a guess")
    except (UnicodeDecodeError, LookupError):
        raise Unreadable("text of unknown encoding") from None
