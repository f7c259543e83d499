"""From HTML to the Markdown that documents are kept in: for pages of the web and for what a converter makes of DOCX.

Headings, lists, tables with every column, code with its language, links and emphasis stay; pictures become their
description. Only what Markdown would take for markup is escaped, so that the text can be found as it was written.
Both libraries are loaded with the first page, since most commands read none.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from apps.common.text.words import lowered, raised

MATHS: dict[str, tuple[int, Callable[..., str]]] = {
    "msup": (2, lambda base, above: base + raised(above)),
    "msub": (2, lambda base, below: base + lowered(below)),
    "msubsup": (3, lambda base, below, above: base + lowered(below) + raised(above)),
    "mfrac": (2, lambda above, below: f"({above})/({below})" if len(above + below) > 2 else f"{above}/{below}"),
}
"""What the elements of MathML become that have a meaning by place: of how many parts, and the text of these."""

NEVER_SEEN = ("script", "style", "template", "noscript", "noembed", "noframes", "datalist")
_HIDES = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)
_SHOWS = re.compile(r"visibility\s*:\s*visible", re.IGNORECASE)

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag


def soup_of(html: str) -> "BeautifulSoup":
    """The tree of a page as a reader sees it, with end tags where HTML implies them.

    Superscripts are letters of their own. Raises Unreadable for what is too large or deep.
    """
    from apps.corpus.formats.documents.html_converter import Soup

    tree = Soup(html, "html.parser")
    _take_out_unseen(tree)
    _write_scripts(tree)
    return tree


def markdown_of(tree: "BeautifulSoup | Tag") -> str:
    from apps.corpus.formats.documents.html_converter import Converter

    return Converter().markdown_of(tree)


def _take_out_unseen(tree: "BeautifulSoup") -> None:
    """Take out comments, instructions to programs, and every element that is hidden."""
    from bs4.element import Doctype, PreformattedString

    for text in tree.find_all(string=lambda text: isinstance(text, PreformattedString)):
        if not isinstance(text, Doctype):
            text.extract()
    for element in tree.find_all(True):
        if not element.decomposed and (element.name in NEVER_SEEN or _is_hidden(element)):
            element.decompose()


def _is_hidden(element: "Tag") -> bool:
    """Whether nobody sees an element. What a search in the page opens is seen.

    So is a formula, which sites hide behind a picture of it, what is shown again inside a hidden part, and a whole
    page, which scripts show when it has loaded.
    """
    if element.name in {"html", "body"}:
        return False
    if element.get("aria-hidden") == "true":
        return True
    is_hidden = element.has_attr("hidden") and str(element["hidden"]).lower() != "until-found"
    if not is_hidden and not _HIDES.search(str(element.get("style") or "")):
        return False
    return element.name != "math" and element.find("math") is None and element.find(style=_SHOWS) is None


def _write_scripts(tree: "BeautifulSoup | Tag") -> None:
    """Put text in the place of each `<sup>` and `<sub>` of a page, inner ones first; one that is a link stays.

    A formula is its TeX where it has that, else its text, with scripts and fractions in one line.
    """
    for formula in tree.find_all("math"):
        tex = formula.find("annotation", encoding="application/x-tex")
        if words := (tex.get_text() if tex else str(formula.get("alttext") or "")).strip():
            formula.replace_with(words)
    for tag in reversed(tree.find_all(["sup", "sub", *MATHS])):
        if tag.name in MATHS:
            _write_maths(tag)
        elif not tag.find(["a", "img"]):
            words = " ".join(tag.get_text().split())
            before = str(tag.find_previous(string=True) or "")[-1:]
            tag.replace_with(raised(words, before) if tag.name == "sup" else lowered(words))
    tree.smooth()


def _write_maths(tag: "Tag") -> None:
    parts = ["".join(part.get_text().split()) for part in tag.find_all(True, recursive=False)]
    number, write = MATHS[tag.name]
    if len(parts) == number:
        tag.replace_with(write(*parts))
