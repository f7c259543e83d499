"""What is checked of an office file before a library reads it: its zip, and the XML inside it.

The libraries build the whole tree of a part in memory, and call themselves for each level of it. So every part that may
be XML is walked once, without building anything, within limits.
"""

import zipfile
import zlib
from typing import Any, BinaryIO, NamedTuple
from xml.parsers import expat

from apps.corpus.formats.documents import Unreadable

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The beginning of an office file of before 2007, and of one that is encrypted."""
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
PIECE = 64 * 1024
XML_STARTS = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0<")


class Limits(NamedTuple):
    members: int = 10_000
    xml_bytes: int = 100_000_000
    elements: int = 400_000
    """About a kilobyte of memory each."""
    depth: int = 100


LIMITS = Limits()


def refuse_old_or_encrypted(stream: BinaryIO, name: str, old: str) -> None:
    """Raise Unreadable for an office file that is no zip. `name` and `old` are what such files are called."""
    is_ole = stream.read(len(OLE)) == OLE
    stream.seek(0)
    if is_ole:
        raise Unreadable(f"{name} with a password" if is_encrypted(stream) else old)


def is_encrypted(stream: BinaryIO) -> bool:
    """Whether this is an office file with a password. The stream is at its beginning, before and after."""
    tail, is_found = b"", False
    is_ole = stream.read(len(OLE)) == OLE
    while is_ole and not is_found and (piece := stream.read(PIECE)):
        is_found = ENCRYPTED in tail + piece
        tail = piece[-len(ENCRYPTED) :]
    stream.seek(0)
    return is_found


def checked_zip(stream: BinaryIO, name: str, limits: Limits = LIMITS) -> zipfile.ZipFile:
    """The zip of an office file, all of whose XML is within the limits. Raises Unreadable."""
    try:
        archive = zipfile.ZipFile(stream)
        if len(archive.infolist()) > limits.members:
            raise Unreadable(f"{name} that is too large")
        walk = _Walk(name, limits)
        for member in archive.infolist():
            with archive.open(member) as part:
                walk.through(part)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise Unreadable(f"damaged {name}") from error
    except RuntimeError as error:  # a member that needs a password
        raise Unreadable(f"{name} with a password") from error
    return archive


class _Walk:
    """Counts over all parts of one file."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name, self.limits = name, limits
        self.size = self.elements = self.depth = 0

    def through(self, part: Any) -> None:
        piece = part.read(PIECE)
        beginning = piece.lstrip()
        if beginning and not beginning.startswith(XML_STARTS):  # blanks may come before XML, any number of them
            return
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.depth = 0
        try:
            while piece:
                self._count(len(piece))
                parser.Parse(piece)
                piece = part.read(PIECE)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise Unreadable(f"damaged {self.name}") from error

    def _count(self, size: int) -> None:
        self.size += size
        if self.size > self.limits.xml_bytes:
            raise Unreadable(f"{self.name} that is too large")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > self.limits.depth:
            raise Unreadable(f"{self.name} nested too deeply")
        if self.elements > self.limits.elements:
            raise Unreadable(f"{self.name} that is too large")

    def _end(self, tag: str) -> None:
        self.depth -= 1

    def _refuse_doctype(self, *_: Any) -> None:
        """Office programs write none, and its entities can grow without bounds."""
        raise Unreadable(f"{self.name} with a document type")
