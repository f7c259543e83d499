"""TREC documents: `<DOC>`, `<DOCNO>` and fields, several in a file. Every document is a passage; its id is its DOCNO.

The text is that of `<TEXT>` (all of them), else of every field that is neither id nor title; tags inside it are left
out and its lines stay. Pages of the web (with `<DOCHDR>`) are read as HTML.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from apps.common.files.faults import ErrorList, all_of, fault
from apps.common.text.words import LEVEL, LOWERED, RAISED, with_scripts
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.records import outside_id
from apps.corpus.formats.rows import BlockRow

LINE_BYTES = 5_000_000
DOCUMENT_BYTES = 20_000_000
TITLES = ("title", "headline", "head", "ttl", "hl")
WEB_HEADER = "dochdr"
MOST_FIELDS = 200
LEFT_OUT = (*TITLES, "docno", "docid", "docold")
NO_DOCUMENTS = "TREC file without documents"
_BEGIN, _END = re.compile(rb"\s*<DOC>", re.IGNORECASE), re.compile(rb"</DOC>", re.IGNORECASE)
_OPENING = re.compile(r"<([A-Za-z][\w-]{0,40})(?:\s[^<>]*)?>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
SCRIPTS = {"<sup": RAISED, "</sup": LEVEL, "<sub": LOWERED, "</sub": LEVEL}


def read_trec(source: SourceFile) -> Iterator[BlockRow]:
    errors, found = ErrorList(), False
    for line, raw in _documents(source):
        found = True
        text = _decoded(raw)
        fields = list(_fields(text))
        name = outside_id(_first(fields, ("docno",)))
        if not name:
            errors.add(fault(source.path, line, "DOCNO", "", "the document has no DOCNO"))
            continue
        yield BlockRow(
            line=line,
            block_id=name,
            document_id=name,
            title=" ".join(_first(fields, TITLES).split()),
            text=_text(text, fields),
        )
    if not found:
        raise Unreadable(NO_DOCUMENTS)
    if errors:
        raise all_of(errors)


def _documents(source: SourceFile) -> Iterator[tuple[int, bytes]]:
    """(line of `<DOC>`, what is between it and `</DOC>`), one document at a time in memory."""
    parts: list[bytes] | None = None
    begin = size = number = 0
    while line := source.stream.readline(LINE_BYTES + 1):
        number += 1
        if len(line) > LINE_BYTES:
            raise Unreadable(f"line of more than {LINE_BYTES // 1_000_000} million bytes")
        if parts is None and (found := _BEGIN.match(line)):
            parts, begin, size, line = [], number, 0, line[found.end() :]
        if parts is None:
            continue
        size += len(line)
        if size > DOCUMENT_BYTES:
            raise Unreadable(f"TREC document of more than {DOCUMENT_BYTES // 1_000_000} MB")
        parts.append(line)
        if end := _END.search(line):
            parts[-1] = line[: end.start()]
            yield begin, b"".join(parts)
            parts = None
    if parts is not None:
        raise Unreadable("TREC file that is cut off")


def _decoded(raw: bytes) -> str:
    """The text: these collections are older than UTF-8, and many have a byte of Latin-1 here and there."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", errors="replace")
    return text.replace("\r\n", "\n").replace("\0", "")


class _Field(NamedTuple):
    name: str
    content: str
    end: int


def _fields(text: str) -> Iterator[_Field]:
    """The outermost fields of a document. A tag that nothing closes is text."""
    lower, place = text.lower(), 0
    unclosed: set[str] = set()
    while found := _OPENING.search(text, place):
        name, place = found[1].lower(), found.end()
        if name in unclosed:
            continue
        end = lower.find(f"</{name}>", place)
        if end >= 0:
            place = end + len(name) + 3
            yield _Field(name, text[found.end() : end], place)
        else:
            unclosed.add(name)
            if len(unclosed) > MOST_FIELDS:
                return


def _first(fields: Sequence[_Field], names: Sequence[str]) -> str:
    """The content of the first field of these names, in their order."""
    return next((_plain(field.content) for name in names for field in fields if field.name == name), "")


def _text(text: str, fields: Sequence[_Field]) -> str:
    if header := next((field for field in fields if field.name == WEB_HEADER), None):
        return _page(text[header.end :])
    texts = [field for field in fields if field.name == "text"]
    texts = texts or [field for field in fields if field.name not in LEFT_OUT]
    return "\n\n".join(filter(None, (_plain(field.content) for field in texts)))


def _page(page: str) -> str:
    try:
        return markdown_of(soup_of(page))
    except Unreadable:  # one page among thousands: its words without its shape
        return _plain(page)


def _plain(inner: str) -> str:
    """Words and lines without tags; blank lines at both ends are removed."""
    return with_scripts(html.unescape(_TAG.sub(_left_out, inner))).strip("\n").rstrip()


def _left_out(tag: re.Match[str]) -> str:
    """What is left of a tag: nothing, but of superscripts and subscripts where they begin and end."""
    return SCRIPTS.get(tag.group().lower().split()[0].rstrip(">"), "")
