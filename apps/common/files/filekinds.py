"""Detects files that are not text from their first bytes, and names the remedy.

Gzip is not listed: the readers unpack it themselves.
"""

from __future__ import annotations

import codecs

PACKED = "unpack it first (gzip alone is read as it is)"
SIGNATURES: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x28\xb5\x2f\xfd", "compressed with Zstandard (zst)", PACKED),
    (0, b"\xfd7zXZ\x00", "compressed with xz", PACKED),
    (0, b"BZh", "compressed with bzip2 (bz2)", PACKED),
    (0, b"\x04\x22\x4d\x18", "compressed with lz4", PACKED),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", PACKED),
    (0, b"PK\x03\x04", "a zip archive or a spreadsheet", "unpack the archive, or save the sheet as CSV"),
    (0, b"PK\x05\x06", "an empty zip archive", "name the file itself"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of an old Office program", "save the sheet as CSV"),
    (0, b"%PDF-", "a PDF", "save its contents as text"),
    (0, b"PAR1", "a Parquet file", "write it as CSV or JSONL"),
    (0, b"SQLite format 3\x00", "a SQLite database", "write what is needed as CSV or JSONL"),
    (0, b"\x93NUMPY", "a NumPy array", "write it as text"),
    (257, b"ustar", "a tar archive", "unpack it first"),
    (0, b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16", "save it as UTF-8"),
)
HEAD_BYTES = 1_024
TEXT = bytes(range(0x20, 0x100)) + b"\t\n\v\f\r\x1b"
MOST_CONTROLS = 0.05
"""The share of control characters from which bytes are not text. A few are left to the readers, which name the line."""


def not_text(head: bytes) -> str:
    """The type of a file with these first bytes, and the remedy, as `the file is …`; "" for what may be text."""
    for place, signature, name, cure in SIGNATURES:
        if head.startswith(signature, place):
            return f"the file is {name}; {cure}"
    head = head[:HEAD_BYTES]
    controls = len(head.translate(None, TEXT))
    if controls > max(1, MOST_CONTROLS * len(head)) and (b"\0" in head or not _is_utf8(head)):
        return "the file is not text: it is binary, or UTF-16 without its mark; save it as UTF-8 text"
    return ""


def _is_utf8(head: bytes) -> bool:
    """Whether the bytes are UTF-8; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True
