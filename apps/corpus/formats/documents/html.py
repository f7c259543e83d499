"""Pages of the web: what they are about, without what surrounds it on every page of a site.

The rule: the content is `<main>`, or the only `<article>`, or else `<body>`. Out of it go navigation, footers, asides,
forms, pictures drawn in the page, what a reader does not see, and the signs that headings link to themselves with; of a
whole body also its headers. The title is the only `<h1>` of the content, else `<title>`.
"""

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.records import text_of
from apps.corpus.formats.documents.site_tags import TAGS_CUT, front_matter, without_tags

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

NEVER_CONTENT = ("title", "iframe", "object", "svg", "canvas", "video", "audio")
SURROUNDINGS = ("nav", "footer", "aside", "form", "button", "dialog", "select")
ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "dialog", "menu"})
SELF_LINKS = frozenset({"headerlink", "anchor", "anchorlink", "hash-link", "heading-anchor"})
STATED = {
    "date": ("article:published_time", "dcterms.issued", "dcterms.date", "dc.date.issued", "dc.date", "date"),
    "modified": ("article:modified_time", "dcterms.modified", "dc.date.modified", "last-modified"),
    "author": ("author", "dcterms.creator", "dc.creator"),
    "publisher": ("dcterms.publisher", "dc.publisher", "publisher", "og:site_name"),
    "type": ("dcterms.type", "dc.type"),
}
"""The metadata that a page states, each by the names of `<meta>` in order: the first that is there counts."""
LONGEST_STATED = 200
NO_CONTENT = "page without text"
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_CODE = re.compile(r"<(pre|code|script|style)\b")
_DECLARED_WITHIN = 2_048
_HIGHLIGHT = re.compile(r"(?:highlight|language)-([\w+#.-]{1,20})")
_AROUND = 3
NO_LANGUAGES = frozenset({"default", "none", "text", "plaintext", "source", "notranslate"})


def read_html(file: SourceFile) -> Iterator[Document]:
    head = file.stream.read(_DECLARED_WITHIN)
    file.stream.seek(0)
    decoded = text_of(file, declared=_declared(head))
    fields, page = front_matter(decoded.text)
    read = without_tags(page, fields, _code_in, is_html=True) if fields else page
    tree = soup_of(read)
    named = tree.title.get_text(" ") if tree.title else ""
    content = content_of(tree)
    if file.address:
        complete_links(content, file.address)
    text = markdown_of(content)
    if not text.strip():
        raise Unreadable(NO_CONTENT)
    headings = content.find_all("h1")
    title = headings[0].get_text(" ") if len(headings) == 1 else named or str(fields.get("title") or "")
    note = decoded.note or (TAGS_CUT if read != page else "")
    yield Document(
        file.path,
        "html",
        " ".join(title.split()),
        text,
        _stated(tree) | {name: value for name, value in fields.items() if name != "title"},
        note=note,
    )


def _stated(tree: "BeautifulSoup") -> dict[str, str]:
    """What the page says of itself in `<meta>`: its date, author, publisher and type."""
    said: dict[str, str] = {}
    for meta in tree.find_all("meta", content=True):
        name = str(meta.get("name") or meta.get("property") or "").lower()
        said.setdefault(name, " ".join(str(meta["content"]).split())[:LONGEST_STATED])
    found = {name: next(filter(None, map(said.get, names)), None) for name, names in STATED.items()}
    return {name: value for name, value in found.items() if value}


def content_of(tree: "BeautifulSoup") -> "Tag":
    """The part of a page that is read, with what is not content taken out of it."""
    articles = tree.find_all("article")
    found = tree.find("main") or tree.find(role="main") or (articles[0] if len(articles) == 1 else None)
    content = found or tree.body or tree
    surroundings = SURROUNDINGS if found else (*SURROUNDINGS, "header")
    for element in content.find_all(True):
        if not element.decomposed and _is_left_out(element, surroundings):
            element.decompose()
    for code in content.find_all("pre"):
        _find_language(code)
    return content


def complete_links(content: "Tag", address: str) -> None:
    """Make the links of a page whole that are written from its own address."""
    for link in content.find_all("a", href=True):
        try:
            link["href"] = urljoin(address, str(link["href"]))
        except ValueError:  # "http://[": stays as it is
            continue


def _code_in(page: str) -> list[tuple[int, int]]:
    """Where the code of a page is, before it is parsed."""
    lower, place = page.lower(), 0
    spans: list[tuple[int, int]] = []
    while found := _CODE.search(lower, place):
        end = lower.find(f"</{found[1]}>", found.end())
        if end < 0:
            return [*spans, (found.start(), len(page))]
        spans.append((found.start(), end))
        place = end
    return spans


def _is_left_out(element: "Tag", surroundings: tuple[str, ...]) -> bool:
    if element.name in NEVER_CONTENT or element.name in surroundings:
        return True
    if element.get("role") in ROLES:
        return True
    is_link = element.name == "a"
    return is_link and (bool(SELF_LINKS & set(element.get("class") or ())) or element.get_text().strip() in {"¶", "#"})


def _find_language(code: "Tag") -> None:
    """Builders of sites name the language of code in a class around it: `highlight-yaml`."""
    for around in islice(code.parents, _AROUND):
        for name in around.get("class") or ():
            found = _HIGHLIGHT.fullmatch(name)
            if found and found[1] not in NO_LANGUAGES:
                name_language(code, found[1])
                return


def name_language(code: "Tag", language: str) -> None:
    """Mark a block of code in the way that the converter knows."""
    from bs4.element import AttributeValueList

    code["class"] = AttributeValueList([f"language-{language}"] if language else [])


def _declared(head: bytes) -> str:
    """The encoding that a page says it has; "" for none, or for one that Python does not know as text."""
    found = _CHARSET.search(head)
    if found is None:
        return ""
    try:
        known = codecs.lookup(found[1].decode("ascii"))
    except (LookupError, UnicodeDecodeError):
        return ""
    return known.name if getattr(known, "_is_text_encoding", True) else ""
