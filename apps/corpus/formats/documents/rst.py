"""reStructuredText, by docutils, with raw output and the insertion of files switched off. See also `rst_directives`."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html import complete_links, name_language
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.records import text_of

if TYPE_CHECKING:
    from bs4 import BeautifulSoup
    from docutils.parsers.rst.states import Inliner

MOST_LETTERS = 3_000_000
LITERAL, CODE_BLOCK, MESSAGE, MESSAGES = "literal", "code", "system-message", "system-messages"
"""Classes that docutils writes."""
SETTINGS: dict[str, Any] = {
    "raw_enabled": False,
    "file_insertion_enabled": False,
    "_disable_config": True,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "report_level": 3,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": 1_000_000,
    "syntax_highlight": "none",
    "strip_comments": True,
    "input_encoding": "unicode",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "math_output": "LaTeX",
    "smart_quotes": False,
}


def read_rst(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    if len(decoded.text) > MOST_LETTERS:
        raise Unreadable(f"reStructuredText of more than {MOST_LETTERS // 1_000_000} million letters")
    tree = soup_of(_html_of(decoded.text))
    for literal in tree.find_all("span", class_=LITERAL):
        literal.name = "code"
    _keep_what_failed(tree)
    _name_languages(tree)
    if file.address:
        complete_links(tree, file.address)
    text = markdown_of(tree)
    if not text.strip():
        raise Unreadable("empty file")
    title = tree.h1.get_text(" ") if tree.h1 else ""
    yield Document(file.path, "rst", " ".join(title.split()), text, {}, note=decoded.note)


def _html_of(text: str) -> str:
    from docutils.core import publish_parts
    from docutils.parsers.rst import Parser

    from apps.corpus.formats.documents.rst_directives import LimitedInliner, LimitedReader, know_names_in

    know_names_in(text)
    reader = LimitedReader(Parser(inliner=cast("Inliner", LimitedInliner())))
    try:
        parts = publish_parts(text, reader=reader, writer="html5", settings_overrides=SETTINGS)
    except RecursionError as error:
        raise Unreadable("reStructuredText nested too deeply") from error
    return str(parts["html_body"])


def _keep_what_failed(tree: "BeautifulSoup") -> None:
    """Put the source of a directive that docutils could not read in the place of its message, and leave out links to
    messages."""
    for link in tree.find_all("a", href=re.compile(f"^#{MESSAGE}")):
        link.unwrap()
    for section in tree.find_all("section", class_=MESSAGES):
        section.decompose()
    for message in tree.find_all(class_=MESSAGE):
        source = None if message.decomposed else message.find("pre")
        if source is not None:
            message.replace_with(source)
        elif not message.decomposed:
            message.decompose()


def _name_languages(tree: "BeautifulSoup") -> None:
    """Docutils writes the language of code as a class beside others."""
    for block in tree.find_all("pre", class_=CODE_BLOCK):
        names = [name for name in block.get("class") or [] if name not in {"code", "literal-block"}]
        name_language(block, names[0] if names else "")
