"""What a file is by its first bytes: not text, with the remedy in words, or text in which encoding.

Gzip is not listed: the readers unpack it themselves.
"""

from __future__ import annotations

import codecs
import zipfile
import zlib
from collections.abc import Iterable
from typing import BinaryIO

SAMPLE_BYTES = 64 * 1024
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
WESTERN = frozenset("äöüßéèêëàâáãåæçñíìîïóòôõøœúùûÿ€£§°©®«»‹›“”„‘’‚–—…•´·½¼²³\xa0¿¡")
"""What text beyond ASCII consists of in Western Europe, in small letters."""
WINDOWS = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")
LEGACY = (*WINDOWS, "koi8_r", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr")
NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16", "shift_jis": "Shift JIS", "koi8_r": "KOI8-R", "big5": "Big5"}
MOST_LETTERS_BEYOND = 0.3


def encoding_of(blocks: Iterable[bytes]) -> str:
    """The Python name of a file's encoding. "utf-8" is certain, "utf-16" nearly so, the others are guesses."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample, is_utf8 = b"", True
    for place, block in enumerate(blocks):
        if place == 0 and (marked := marked_encoding(block)):
            return marked
        if len(sample) < SAMPLE_BYTES and not block.isascii():
            sample += b"\n".join(line for line in block.split(b"\n") if not line.isascii())[:SAMPLE_BYTES]
        if is_utf8:
            is_utf8 = _decodes(decoder, block)
        if not is_utf8 and len(sample) >= SAMPLE_BYTES:
            break
    return "utf-8" if is_utf8 and _decodes(decoder, b"", final=True) else guessed(sample)


def name_of(encoding: str) -> str:
    """The usual name of the encoding: "Windows-1252"."""
    if encoding.startswith("cp12"):
        return f"Windows-{encoding[2:]}"
    return NAMES.get(encoding, encoding.upper().replace("_", "-"))


def guessed(sample: bytes) -> str:
    """The likeliest encoding of text that is not UTF-8: the Western one where all letters are usual there."""
    western = sample.decode("cp1252", errors="ignore").lower()
    letters = [letter for letter in western if letter.isalpha()]
    beyond = sum(not letter.isascii() for letter in letters)
    if beyond <= MOST_LETTERS_BEYOND * len(letters) and all(one in WESTERN for one in western if not one.isascii()):
        return "cp1252"
    from charset_normalizer import from_bytes  # slow to load, and most files are UTF-8

    best = from_bytes(sample, cp_isolation=list(LEGACY)).best()
    return best.encoding if best else "cp1252"


def marked_encoding(head: bytes) -> str:
    """The encoding that the first bytes give away, by a byte order mark or as UTF-16 without one; "" for none."""
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    odd, even = head[1:400:2], head[0:400:2]
    is_wide = len(head) >= 8 and odd.count(0) > 0.8 * len(odd) and not even.count(0)
    return "utf-16-le" if is_wide else ""


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
WORD, WORKBOOK, OTHER_PACKAGE, PLAIN_ZIP, DAMAGED_ZIP = "word", "workbook", "other", "zip", "damaged"
"""What an archive is: an Office file, a file of another program, files packed together, or nothing that opens."""
DIRECTORY_BYTES = 20_000_000
"""The longest directory of an archive that is read: it alone could fill the memory."""
_DIRECTORY_SIZE = 5
"""The place of the size of a zip's directory in what `zipfile` reads at its end."""
_MIMETYPE_BYTES = 200

PACKED = "unpack it first (gzip alone is read as it is)"
ANOTHER = "choose the file with the text"
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
    (0, b"\x89PNG", "a PNG picture", ANOTHER),
    (0, b"\xff\xd8\xff", "a JPEG picture", ANOTHER),
    (0, b"GIF87a", "a GIF picture", ANOTHER),
    (0, b"GIF89a", "a GIF picture", ANOTHER),
    (8, b"WEBP", "a WebP picture", ANOTHER),
    (0, b"II*\x00", "a TIFF picture", ANOTHER),
    (0, b"MM\x00*", "a TIFF picture", ANOTHER),
    (0, b"\x00\x00\x01\x00", "an icon", ANOTHER),
    (4, b"ftypheic", "a HEIC picture", ANOTHER),
    (4, b"ftypmif1", "a HEIF picture", ANOTHER),
    (4, b"ftypavif", "an AVIF picture", ANOTHER),
    (4, b"ftyp", "sound or film (MP4)", ANOTHER),
    (8, b"WAVE", "sound (WAV)", ANOTHER),
    (8, b"AVI ", "a film (AVI)", ANOTHER),
    (0, b"ID3\x02", "sound (MP3)", ANOTHER),
    (0, b"ID3\x03", "sound (MP3)", ANOTHER),
    (0, b"ID3\x04", "sound (MP3)", ANOTHER),
    (0, b"OggS\x00", "sound or film (Ogg)", ANOTHER),
    (0, b"fLaC\x00", "sound (FLAC)", ANOTHER),
    (0, b"\x1aE\xdf\xa3", "a film (Matroska or WebM)", ANOTHER),
    (0, b"BM", "a BMP picture", ANOTHER),
    (0, b"8BPS", "a Photoshop picture", ANOTHER),
    (0, b"\x7fELF", "a Linux program", ANOTHER),
    (0, b"MZ", "a Windows program", ANOTHER),
    (0, b"\xcf\xfa\xed\xfe", "a macOS program", ANOTHER),
    (0, b"\xca\xfe\xba\xbe", "a Java class or a macOS program", ANOTHER),
    (0, b"\x00asm", "a WebAssembly program", ANOTHER),
    (0, b"wOFF", "a font", ANOTHER),
    (0, b"wOF2", "a font", ANOTHER),
    (0, b"OTTO", "a font", ANOTHER),
    (0, b"\x00\x01\x00\x00\x00", "a font", ANOTHER),
    (0, b"Rar!\x1a\x07", "a RAR archive", PACKED),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", "write what is needed as CSV or JSONL"),
    (0, b"{\\rtf", "formatted text (RTF)", "save it as text"),
    (0, b"\xff\xfe", "UTF-16", "save it as UTF-8"),
    (0, b"\xfe\xff", "UTF-16", "save it as UTF-8"),
)
IN_FORMATS = (4, 8)
"""Where some binary formats say what they are; a text may have the same letters there."""
AS_IN_TEXT = frozenset({b"BM", b"MZ", b"8BPS", b"wOFF", b"wOF2", b"OTTO"})
"""Signatures that a text may begin with."""
HEAD_BYTES = 1_024
TEXT = bytes(range(0x20, 0x100)) + b"\t\n\v\f\r\x1b"
MOST_CONTROLS = 0.05
"""The share of control characters from which bytes are not text. A few are left to the readers, which name the line."""


def archive_kind(stream: BinaryIO) -> str:
    """What an archive is by its directory, never by the bytes of its members; "" for what is none.

    The stream is at its beginning, before and after.
    """
    is_archive = stream.read(4) in ZIP_STARTS
    try:
        return _by_directory(stream) if is_archive else ""
    finally:
        stream.seek(0)


def is_directory_too_long(stream: BinaryIO, most: int = DIRECTORY_BYTES) -> bool:
    """Whether the directory of an archive has more than `most` bytes. The stream is at its beginning afterwards."""
    end = zipfile._EndRecData(stream)  # type: ignore[attr-defined]
    stream.seek(0)
    return bool(end and end[_DIRECTORY_SIZE] > most)


def _by_directory(stream: BinaryIO) -> str:
    """Office files have one of their parts at the top and say in another what they are."""
    try:
        if is_directory_too_long(stream):
            return PLAIN_ZIP
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                return _by_mimetype(archive)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return DAMAGED_ZIP
    if "[Content_Types].xml" not in names:
        return PLAIN_ZIP
    tops = {name.partition("/")[0] for name in names if "/" in name}
    return WORD if "word" in tops else WORKBOOK if "xl" in tops else OTHER_PACKAGE


def _by_mimetype(archive: zipfile.ZipFile) -> str:
    """OpenDocument and e-books say in the file `mimetype` what they are; another file may have this name."""
    try:
        with archive.open("mimetype") as member:
            said = member.read(_MIMETYPE_BYTES)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return PLAIN_ZIP
    if said.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        return WORKBOOK
    return OTHER_PACKAGE if said.startswith(b"application/") else PLAIN_ZIP


def by_signature(head: bytes) -> tuple[str, str]:
    """(what a file with these first bytes is, such as "a PNG picture", and the remedy); empty for what no format says.

    An archive is one with a password when one of the files at its beginning is.
    """
    member = ZIP_STARTS[0]
    if head.startswith(member) and any(part[2:] and part[2] & 1 for part in head.split(member)[1:]):
        return "a zip with a password", "unpack it first"
    for place, signature, name, cure in SIGNATURES:
        is_sure = place not in IN_FORMATS and signature not in AS_IN_TEXT
        if head.startswith(signature, place) and (is_sure or b"\0" in head[:64]):
            return name, cure
    return "", ""


def not_text(head: bytes) -> str:
    """The type of a file with these first bytes, and the remedy, as `the file is …`; "" for what may be text."""
    name, cure = by_signature(head)
    if name:
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
