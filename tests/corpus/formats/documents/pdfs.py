"""Small PDFs, written byte by byte: lines of text at a place and in a size, bookmarks, encryption in name only."""

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

BODY, LEADING, TOP = 11, 14, 740
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


class Line(NamedTuple):
    text: str
    size: float = BODY
    y: float | None = None
    """Points from the bottom of the page; None is one line below the line before."""
    rise: float = 0
    """How far it is above the others of its line."""


def make_pdf(
    pages: Iterable[Iterable[str | Line | Sequence[Line]]],
    *,
    title: str = "",
    author: str = "",
    bookmarks: Sequence[tuple[int, str]] = (),
    encrypted: bool = False,
    blanks: int = 0,
) -> bytes:
    """A PDF of these pages. An empty string is an empty line, several `Line` are beside each other in one; `bookmarks`
    are (page from 0, title).

    `blanks` is how many blank characters each page has besides, packed to a thousandth.
    """
    objects = [b"", b"", FONT]
    places = []
    for page in pages:
        stream = zlib.compress(_content(page) + b" " * blanks)
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        places.append(len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % n for n in places), len(places))
    outline = _outline(objects, places, bookmarks)
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R%s >>" % outline
    objects.append(b"<< /Title (%s) /Author (%s) >>" % (_escaped(title), _escaped(author)))
    trailer = b"/Root 1 0 R /Info %d 0 R" % len(objects)
    if encrypted:
        objects.append(
            b"<< /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <%s> /U <%s> >>" % (b"ab" * 32, b"cd" * 32)
        )
        trailer += b" /Encrypt %d 0 R /ID [<%s> <%s>]" % (len(objects), b"0a" * 16, b"0a" * 16)
    return _file(objects, trailer)


def _content(page: Iterable[str | Line | Sequence[Line]]) -> bytes:
    y, out = TOP + LEADING, []
    for line in page:
        parts = [Line(line)] if isinstance(line, str) else [line] if isinstance(line, Line) else line
        y = y - LEADING if parts[0].y is None else parts[0].y
        shown = b" ".join(b"/F1 %g Tf %g Ts (%s) Tj" % (one.size, one.rise, _escaped(one.text)) for one in parts)
        if any(one.text for one in parts):
            out.append(b"BT 72 %g Td %s ET" % (y, shown))
    return b"\n".join(out)


def _outline(objects: list[bytes], places: list[int], bookmarks: Sequence[tuple[int, str]]) -> bytes:
    if not bookmarks:
        return b""
    root = len(objects) + 1
    first, last = root + 1, root + len(bookmarks)
    objects.append(b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (first, last, len(bookmarks)))
    for number, (page, title) in enumerate(bookmarks, first):
        following = b"/Next %d 0 R " % (number + 1) if number < last else b""
        objects.append(
            b"<< /Title (%s) /Parent %d 0 R %s/Dest [%d 0 R /Fit] >>" % (_escaped(title), root, following, places[page])
        )
    return b" /Outlines %d 0 R" % root


def _file(objects: list[bytes], trailer: bytes) -> bytes:
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    xref = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, xref)
    return bytes(out)


def _escaped(text: str) -> bytes:
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
