"""Equations of Word files in one line of text, written as the formulas of HTML are: `x²`, `(a+b)/(2)`, `√(x)`.

The library that reads Word files knows no equations and leaves them out. So they become runs of text before it reads.
"""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from apps.common.text.words import lowered, raised
from apps.corpus.formats.documents.html_markdown import MATHS

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
