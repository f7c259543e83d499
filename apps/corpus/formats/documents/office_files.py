"""Word files, and what is checked of any office file before a library reads it: its zip, and the XML inside it.

The libraries build the whole tree of a part in memory, and call themselves for each level of it. So every part that may
be XML is walked once, without building anything, within limits.
"""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.word_equations import with_equations

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The beginning of an office file of before 2007, and of one that is encrypted."""
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
PIECE = 64 * 1024
XML_STARTS = (b"<", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0<")


class OfficeLimits(NamedTuple):
    members: int = 10_000
    xml_bytes: int = 100_000_000
    elements: int = 400_000
    """About a kilobyte of memory each."""
    depth: int = 100


LIMITS = OfficeLimits()


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


def checked_zip(stream: BinaryIO, name: str, limits: OfficeLimits = LIMITS) -> zipfile.ZipFile:
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

    def __init__(self, name: str, limits: OfficeLimits) -> None:
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


NAME = "Word file"
OLD = "Word file of before 2007 (.doc)"
MOST_BYTES = 200_000_000
STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Quote'] => blockquote:fresh > p:fresh
p[style-name='Intense Quote'] => blockquote:fresh > p:fresh
p[style-name='Source Code'] => pre:separator('\\n')
p[style-name='Code'] => pre:separator('\\n')
p[style-name='HTML Preformatted'] => pre:separator('\\n')
p[style-name='Preformatted Text'] => pre:separator('\\n')
"""
"""In the notation of mammoth, whose own map has the headings and lists."""
MACROS = "vbaProject.bin"
DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
NOTES = ("#footnote-", "#endnote-")


def read_docx(source: SourceFile, limits: OfficeLimits = LIMITS) -> Iterator[Document]:
    """Headings, lists, tables, emphasis and links as the file's styles have them; a footnote follows its paragraph.
    Equations are in one line of text.

    Macros, comments, running headers, pictures and deleted text are left out.
    """
    if source.size > MOST_BYTES:
        raise Unreadable(f"{NAME} that is too large")
    refuse_old_or_encrypted(source.stream, NAME, OLD)
    with checked_zip(source.stream, NAME, limits) as archive:
        about = _properties(archive)
        has_macros = any(name.endswith(MACROS) for name in archive.namelist())
    with with_equations(source.stream) as stream:
        tree = soup_of(_html_of(stream))
    _move_notes(tree)
    text = markdown_of(tree)
    if not text.strip():
        raise Unreadable(f"{NAME} without text")
    yield Document(
        path=source.path,
        kind="docx",
        title=about.get("title") or _first_heading(tree) or PurePosixPath(source.path).stem,
        text=text,
        metadata={"author": about["author"]} if "author" in about else {},
        note="read without its macros" if has_macros else "",
    )


def _html_of(stream: BinaryIO) -> str:
    import mammoth

    try:
        result = mammoth.convert_to_html(
            _Nameless(stream),
            style_map=STYLES,
            include_embedded_style_map=False,
            convert_image=mammoth.images.img_element(lambda image: {}),
        )
    except Exception as error:  # what mammoth makes of a damaged file is any error at all
        raise Unreadable(f"damaged {NAME}") from error
    return str(result.value)


class _Nameless:
    """A stream without a name: mammoth takes the folder of that name, which a temporary file does not have."""

    def __init__(self, stream: BinaryIO) -> None:
        self.read, self.seek, self.tell, self.seekable = stream.read, stream.seek, stream.tell, stream.seekable


def _properties(archive: zipfile.ZipFile) -> dict[str, str]:
    """Title and author as the file states them, where it does."""
    try:
        root = ElementTree.fromstring(archive.read("docProps/core.xml"))
    except (KeyError, ElementTree.ParseError):
        return {}
    found = {"title": root.findtext(f"{DUBLIN_CORE}title"), "author": root.findtext(f"{DUBLIN_CORE}creator")}
    return {name: " ".join(value.split())[:200] for name, value in found.items() if value and value.strip()}


def _first_heading(tree: "BeautifulSoup") -> str:
    heading = tree.find(["h1", "h2", "h3"])
    return " ".join(heading.get_text().split())[:200] if heading else ""


def _move_notes(tree: "BeautifulSoup") -> None:
    """Put each footnote, as `[1] text`, behind the paragraph, list or table that refers to it."""
    notes = {f"#{note['id']}": note for note in tree.find_all("li", id=True)}
    places: dict[int, Tag] = {}
    for link in tree.find_all("a", href=True):
        target = str(link["href"])
        block = next((element for element in [link, *link.parents] if element.parent is tree), None)
        if not target.startswith(NOTES) or block is None or target not in notes:
            continue
        mark = link.get_text()
        place = _insert_note(tree, notes.pop(target), mark, places.get(id(block), block))
        places[id(block)] = place
        (link.parent if link.parent and link.parent.name == "sup" else link).replace_with(mark)
    for back in tree.find_all("a", href=True):
        if str(back["href"]).startswith(("#footnote-ref-", "#endnote-ref-")):
            back.decompose()


def _insert_note(tree: "BeautifulSoup", note: "Tag", mark: str, after: "Tag") -> "Tag":
    place = tree.new_tag("div")
    after.insert_after(place)
    place.extend(list(note.contents))
    first = place.find("p") or place
    first.insert(0, f"{mark} ")
    note.decompose()
    return place
