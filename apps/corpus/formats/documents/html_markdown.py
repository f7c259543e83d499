"""From HTML to the Markdown that documents are kept in: for pages of the web and for what a converter makes of DOCX.

Headings, lists, tables with every column, code with its language, links and emphasis stay; pictures become their
description. Only what Markdown would take for markup is escaped, so that the text can be found as it was written.
Both libraries are loaded with the first page, since most commands read none.
"""

from typing import TYPE_CHECKING

from apps.corpus.formats.documents.scripts import write_scripts

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag


def soup_of(html: str) -> "BeautifulSoup":
    """The tree of a page, with end tags where HTML implies them, and superscripts as letters of their own.

    Raises Unreadable for what is too large or deep.
    """
    from apps.corpus.formats.documents.html_tree import Soup

    tree = Soup(html, "html.parser")
    write_scripts(tree)
    return tree


def markdown_of(tree: "BeautifulSoup | Tag") -> str:
    from apps.corpus.formats.documents.html_converter import Converter

    return Converter().markdown_of(tree)
