"""Word files, and what is checked of any office file before a library reads it: its zip, and the XML inside it.

The libraries build the whole tree of a part in memory, and call themselves for each level of it. So every part that may
be XML is walked once, without building anything, within limits.

Equations of Word files become one line of text, written as the formulas of HTML are: `x²`, `(a+b)/(2)`, `√(x)`. The
library that reads these files knows none and leaves them out, so they become runs of text before it reads.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from apps.common.text.words import lowered, raised
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html_markdown import MATHS, markdown_of, soup_of

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


IN_MEMORY = 8_000_000
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
SPACE = "{http://www.w3.org/XML/1998/namespace}space"
EQUATIONS = ("oMath", "oMathPara")
MARK = b"oMath"
INLINE = ("p", "hyperlink", "ins", "del", "smartTag", "sdtContent", "fldSimple", "r")
"""What an equation may stand in beside text; elsewhere it is a paragraph of its own."""


@contextmanager
def with_equations(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The Word file with its equations as text; the same stream, at its beginning, where it has none.

    The file is within the limits of `checked_zip`.
    """
    with zipfile.ZipFile(stream) as archive:
        parts = [name for name in archive.namelist() if name.startswith("word/") and name.endswith(".xml")]
        written = {name: _as_text(part) for name in parts if MARK in (part := archive.read(name))}
        if not written:
            stream.seek(0)
            yield stream
            return
        with SpooledTemporaryFile(max_size=IN_MEMORY) as out:
            with zipfile.ZipFile(out, "w") as copy:
                for name in archive.namelist():
                    copy.writestr(name, written.get(name) or archive.read(name))
            out.seek(0)
            yield cast(BinaryIO, out)


def _as_text(part: bytes) -> bytes:
    root = ElementTree.fromstring(part)
    for parent in list(root.iter()):
        for place, child in enumerate(parent):
            if _name(child) in EQUATIONS:
                parent[place] = _run(equation_text(child), is_inline=_name(parent) in INLINE)
    return ElementTree.tostring(root)


def _run(text: str, *, is_inline: bool) -> Element:
    run = Element(f"{{{WORD}}}r")
    words = ElementTree.SubElement(run, f"{{{WORD}}}t", {SPACE: "preserve"})
    words.text = text
    if is_inline:
        return run
    paragraph = Element(f"{{{WORD}}}p")
    paragraph.append(run)
    return paragraph


def equation_text(element: Element) -> str:
    """An equation, or a part of one, in one line."""
    name = _name(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr"):  # how it looks
        return ""
    if name in EQUATIONS[1:]:
        return " ".join(equation_text(child) for child in element if _name(child) == "oMath")
    write = FORMS.get(name)
    return write(element) if write else "".join(map(equation_text, element))


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _part(element: Element, name: str) -> str:
    return next((equation_text(child) for child in element if _name(child) == name), "")


def _sign(element: Element, name: str, usual: str) -> str:
    """A sign that the properties of a part name, "" where they name none; the usual one where they say nothing."""
    for found in element.iter():
        if _name(found) == name:
            return next((value for key, value in found.attrib.items() if key.rpartition("}")[2] == "val"), "")
    return usual


def _by_place(form: str, *names: str) -> Callable[[Element], str]:
    """As HTML has the same; a part that is not there takes its script with it."""
    write = MATHS[form][1]
    return lambda element: write(*(_part(element, name) for name in names))


def _scripts_before(element: Element) -> str:
    return lowered(_part(element, "sub")) + raised(_part(element, "sup")) + _part(element, "e")


def _root(element: Element) -> str:
    degree, inner = _part(element, "deg"), _part(element, "e")
    return f"{raised(degree)}√{inner if len(inner) == 1 else f'({inner})'}"


def _delimited(element: Element) -> str:
    own = next((child for child in element if _name(child) == "dPr"), Element("none"))
    inner = _sign(own, "sepChr", "|").join(equation_text(child) for child in element if _name(child) == "e")
    return f"{_sign(own, 'begChr', '(')}{inner}{_sign(own, 'endChr', ')')}"


def _large(element: Element) -> str:
    own = next((child for child in element if _name(child) == "naryPr"), Element("none"))
    scripts = lowered(_part(element, "sub")) + raised(_part(element, "sup"))
    return f"{_sign(own, 'chr', '∫')}{scripts} {_part(element, 'e')}"


def _function(element: Element) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _rows(element: Element) -> str:
    """Rows of a matrix, or equations below each other."""
    return "; ".join(equation_text(child) for child in element if _name(child) in {"mr", "e"})


def _cells(element: Element) -> str:
    return ", ".join(equation_text(child) for child in element if _name(child) == "e")


FORMS: dict[str, Callable[[Element], str]] = {
    "sSup": _by_place("msup", "e", "sup"),
    "sSub": _by_place("msub", "e", "sub"),
    "sSubSup": _by_place("msubsup", "e", "sub", "sup"),
    "sPre": _scripts_before,
    "limLow": _by_place("msub", "e", "lim"),
    "limUpp": _by_place("msup", "e", "lim"),
    "f": _by_place("mfrac", "num", "den"),
    "rad": _root,
    "d": _delimited,
    "nary": _large,
    "func": _function,
    "m": _rows,
    "eqArr": _rows,
    "mr": _cells,
}
"""What has a meaning by place. Accents, boxes and bars are what they are around."""
