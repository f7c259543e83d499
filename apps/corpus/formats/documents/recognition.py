"""Says of what kind a file is, from its first bytes and its name, and why one stays unread.

Content comes before the name where it is certain (a PDF named `.txt` is a PDF); among texts the name decides, because
a Markdown file may begin with anything. An archive is known by its directory, since the files in it may have any bytes.
"""

import re
from typing import BinaryIO

from apps.common.files.filekinds import (
    OTHER_PACKAGE,
    WORD,
    WORKBOOK,
    ZIP_STARTS,
    archive_kind,
    by_signature,
    not_text,
)

HEAD_BYTES = 4_096
ZIP = "zip"
"""The kind of an archive, which has no reader: a package is unpacked, an archive inside one is not."""

NAMES = {
    "markdown": ("md", "markdown", "mdown", "mkd", "mdx"),
    "html": ("html", "htm", "xhtml"),
    "rst": ("rst", "rest"),
    "asciidoc": ("adoc", "asciidoc"),
    "text": ("txt", "text", "org", "tex", "log", ""),
    "pdf": ("pdf",),
    "docx": ("docx", "docm", "dotx"),
    "xlsx": ("xlsx", "xlsm", "xlsb", "xls", "ods"),
    "csv": ("csv", "tsv", "tab"),
    "json": ("json", "jsonl", "ndjson"),
    "parquet": ("parquet",),
    "trec": ("trec", "trectext", "sgml", "sgm"),
    "opencontrol": ("yaml", "yml"),
}
"""Name endings by kind; "" is a name without one."""
_BY_ENDING = {ending: kind for kind, endings in NAMES.items() for ending in endings}
_TEXTS = frozenset({"markdown", "html", "rst", "asciidoc", "text", "csv", "json", "trec", "opencontrol"})

ARCHIVE, LOCKED_ZIP = "archive inside the upload", "zip with a password"
OTHER_FILES = {
    "picture": ("png", "jpg", "jpeg", "gif", "webp", "ico", "bmp", "tif", "tiff", "avif", "heic"),
    "SVG picture": ("svg",),
    "drawing of draw.io": ("drawio",),
    "sound or film": ("mp3", "mp4", "wav", "ogg", "mov", "avi", "webm", "mkv", "m4a", "flac"),
    ARCHIVE: ("zip", "tar", "tgz", "bz2", "xz", "zst", "7z", "rar"),
    "Word file of before 2007 (.doc)": ("doc", "dot"),
    "presentation": ("ppt", "pptx", "odp", "key"),
}
_OF_MANY = {"a zip archive or a spreadsheet", "a document of an old Office program", "UTF-16"}
"""What is in many kinds of files: the name says more."""
_IN_ZIP = {
    b"mimetypeapplication/epub+zip": "e-book (EPUB)",
    b"mimetypeapplication/vnd.oasis.opendocument.text": "OpenDocument text (.odt)",
    b"META-INF/MANIFEST.MF": "Java program",
}
_REASONS = {ending: reason for reason, endings in OTHER_FILES.items() for ending in endings}
EMPTY = "empty file"
NOT_TEXT = "not text"
_HTML = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<(!doctype\s+html|html[\s>])", re.I | re.S)
_SMART = re.compile(rb"\.I\s+\S+\s*\n\.[A-Z]\s*\n")
_TREC = re.compile(rb"\s*<DOC>", re.I)
_OSCAL = re.compile(rb'\s*\{\s*"catalog"\s*:')
_CONTAINS_RECORDS = re.compile(rb'\{\s*"[^"]*"\s*:\s*[\[{]')
_PDF_LINE = re.compile(rb"%PDF-\d\.\d\s*[\r\n]")
_PDF, _PDF_WITHIN = b"%PDF-", 1_024
"""The first line of a PDF, before which its format allows other bytes."""
_OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def recognise(path: str, stream: BinaryIO) -> str:
    """The kind of a file with this name; "" when no reader may know it.

    The stream is not packed by gzip, and at its beginning, before and after.
    """
    ending = ending_of(path)
    if archive := archive_kind(stream):
        return _among_archives(archive, ending)
    head = stream.read(HEAD_BYTES)
    stream.seek(0)
    if certain := _by_signature(head, ending):
        return certain
    if not head.strip() or not _is_text(head):
        return ""
    if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "html"
    return _among_texts(_BY_ENDING.get(ending, ""), head.removeprefix(b"\xef\xbb\xbf"))


def unread_reason(path: str, head: bytes) -> str:
    """Why a file that `recognise` does not know stays unread: a short phrase that files can be counted by."""
    if not head.strip():
        return EMPTY
    ending = ending_of(path)
    if named := content_of(head):
        return ARCHIVE if _REASONS.get(ending) == ARCHIVE and named != LOCKED_ZIP else named
    if reason := _REASONS.get(ending):
        return reason
    if _BY_ENDING.get(ending) in _TEXTS or not ending:
        return ARCHIVE if head.startswith(ZIP_STARTS) else NOT_TEXT
    return f"no reader for .{ending[:12]} files"


def content_of(head: bytes) -> str:
    """What the first bytes say that no reader reads, such as "PNG picture"; "" where they do not say it."""
    if head.startswith(ZIP_STARTS) and (found := next((name for sign, name in _IN_ZIP.items() if sign in head), "")):
        return found
    name, _ = by_signature(head)
    return "" if name in _OF_MANY else name.removeprefix("a ").removeprefix("an ")


def text_ending(path: str, head: bytes) -> str:
    """The ending of a file that no reader knows, but that could be read as text; "" for any other."""
    ending = ending_of(path)
    return ending if ending not in _REASONS and head.strip() and _is_text(head) else ""


def ending_of(path: str) -> str:
    """The ending of a file's name in lower case, without the dot; "" for a name without one."""
    name = path.rpartition("/")[2].lstrip(".")
    return name.rpartition(".")[2].lower() if "." in name else ""


def _by_signature(head: bytes, ending: str) -> str:
    if _PDF_LINE.match(head) or (ending == "pdf" and _PDF in head[:_PDF_WITHIN]):
        return "pdf"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(_OLD_OFFICE):
        return "xlsx" if ending in NAMES["xlsx"] else "docx" if ending in {"docx", "docm"} else ""
    return ""


def _among_archives(archive: str, ending: str) -> str:
    """The kind of an archive that is, by its directory, of this sort. The name decides where the directory does not."""
    if archive in {WORD, WORKBOOK}:
        return "docx" if archive == WORD else "xlsx"
    if (named := _BY_ENDING.get(ending)) in {"docx", "xlsx"}:
        return str(named)
    is_other = archive == OTHER_PACKAGE or (ending in _REASONS and ending != "zip")
    return "" if is_other else ZIP


def _among_texts(named: str, head: bytes) -> str:
    if named in {"text", "trec", ""} and _SMART.match(head):
        return "smart"
    if _TREC.match(head):
        return "trec"
    if named == "json":
        return _among_json(head)
    return named


def _among_json(head: bytes) -> str:
    """JSONL in one of the forms that bring their passages' ids is read as such; everything else is "json"."""
    first = head.lstrip().split(b"\n", 1)[0]
    if not first.startswith(b"{"):
        return "json"
    if _CONTAINS_RECORDS.match(first):
        return "oscal" if _OSCAL.match(head) else "json"
    if b'"block_id"' in first and b'"text"' in first:
        return "jsonl"
    if b'"_id"' in first and b'"text"' in first:
        return "beir"
    return "oscal" if _OSCAL.match(head) else "json"


def _is_text(head: bytes) -> bool:
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or not not_text(head)
