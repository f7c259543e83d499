"""The tree of a page of HTML, with end tags where HTML implies them, and with limits."""

from typing import Any

from bs4 import BeautifulSoup

from apps.corpus.formats.documents import Unreadable

MOST_TAGS = 200_000
DEEPEST = 150
"""Converters call themselves for each level."""
BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "center", "details", "div", "dl", "fieldset", "figure", "footer"}
    | {"form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table"}
    | {"ul"}
)
CELLS, ROWS, PARTS = frozenset({"td", "th"}), frozenset({"tr"}), frozenset({"thead", "tbody", "tfoot"})
ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    **dict.fromkeys(BLOCKS, (frozenset({"p"}), BLOCKS | CELLS | {"li", "dd", "dt"} - {"p"})),
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(CELLS, (CELLS, frozenset({"tr", "table"}))),
    "tr": (ROWS, frozenset({"table"}) | PARTS),
    **dict.fromkeys(PARTS, (PARTS, frozenset({"table"}))),
    "option": (frozenset({"option"}), frozenset({"select"})),
}
"""For a tag: the open elements it ends, where HTML lets end tags be left out, and where the search for them stops."""


class Soup(BeautifulSoup):
    tags = 0

    def handle_starttag(self, name: str, *args: Any, **options: Any) -> Any:
        self.tags += 1
        if self.tags > MOST_TAGS:
            raise Unreadable(f"HTML with more than {MOST_TAGS:,} tags")
        if len(self.tagStack) > DEEPEST:
            raise Unreadable("HTML nested too deeply")
        if ended := self._ended_by(name):
            self.endData()
            self._popToTag(ended)
        return super().handle_starttag(name, *args, **options)

    def _ended_by(self, name: str) -> str:
        """The open element that a tag ends, or ""."""
        ended, within = ENDS.get(name, (frozenset(), frozenset()))
        if not ended:
            return ""
        for element in reversed(self.tagStack):
            if element.name in ended:
                return element.name
            if element.name in within:
                return ""
        return ""
