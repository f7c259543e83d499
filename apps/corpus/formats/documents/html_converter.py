"""From a tree of HTML to Markdown: how the tree is read, what each tag and table becomes, what of a text is escaped."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

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


WIDEST = 200
"""Columns or rows that one cell may span."""
LARGEST_TABLE = 5_000_000
"""Characters, with repetitions; an empty cell counts as one."""
LARGE_TABLE = "table that is too large"


def rows_of(table: Tag) -> Iterator[list[Tag]]:
    """The rows of a table with their cells, without those of tables inside it."""
    for part in table.find_all(["tr", *PARTS], recursive=False):
        rows = [part] if part.name == "tr" else part.find_all("tr", recursive=False)
        for row in rows:
            yield row.find_all(list(CELLS), recursive=False)


def grid_of(rows: list[list[tuple[Tag, str]]]) -> list[list[str]]:
    """Rows of equal length: a cell over several columns or rows is repeated in each, so that every row can be read."""
    grid: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}
    size = 0
    for row in rows:
        line: list[str] = []
        for cell, text in row:
            _fill(line, below)
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            size += (len(text) + 1) * across * down
            if size > LARGEST_TABLE:
                raise Unreadable(LARGE_TABLE)
            for _ in range(across):
                if down > 1:
                    below[len(line)] = (down - 1, text)
                line.append(text)
        _fill(line, below)
        if any(line):
            grid.append(line)
    width = max(map(len, grid), default=0)
    if width * len(grid) > LARGEST_TABLE:
        raise Unreadable(LARGE_TABLE)
    return [line + [""] * (width - len(line)) for line in grid]


def pipe_table(grid: list[list[str]]) -> str:
    """Rows of equal length as a table in Markdown; the first one is its head."""
    head, *rows = [[cell.replace("|", "\\|") for cell in row] for row in grid]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _fill(line: list[str], below: dict[int, tuple[int, str]]) -> None:
    """Add the cells of rows above that reach down to the next place of this line."""
    while found := below.pop(len(line), None):
        left, text = found
        if left > 1:
            below[len(line)] = (left - 1, text)
        line.append(text)


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1")
    return max(1, min(int(value), WIDEST)) if re.fullmatch(r"\d{1,6}", value) else 1


LINE_ENDS = BLOCKS | {"br"}
LINE_STARTS = BLOCKS | {"li", "dd", "dt", "body", "html", "[document]"}
LINK_SCHEMES = re.compile(r"(?!(javascript|vbscript|data|file):)", re.IGNORECASE)
_AT_LINE_START = re.compile(
    r"^(\s*)(#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|~{3,}|=+\s*$|([-*_])([ \t]*\3){2,}\s*$|\||(?=[^\n]*-)[-:| \t]+$)"
)
_NUMBER_AT_START = re.compile(r"^(\s*\d{1,9})([.)](?=\s|$))")
_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~]|$)")
_MARKUP = re.compile(
    r"(?<![^\W_])_|_(?![^\W_])"  # emphasis; an underscore inside a word is none
    r"|\*(?=\S)|(?<=\S)\*"
    r"|~(?=~)|(?<=~)~"
    r"|`"
    r"|<(?=[A-Za-z/!?])"
    r"|\](?=[(\[:])"
    r"|&(?=#?\w{1,40};)"
)
_BACKTICKS = re.compile(r"`+")


class Converter(MarkdownConverter):
    class Options:
        heading_style = ATX
        bullets = "-"
        autolinks = False
        wrap = True
        wrap_width = None

    @cached_property
    def cells(self) -> dict[int, str]:
        """The text of each cell that was converted, until its table is."""
        return {}

    @cached_property
    def counts(self) -> dict[int, int]:
        """The number of the last item of each numbered list."""
        return {}

    def markdown_of(self, tree: Tag) -> str:
        text: str = self.process_tag(tree)  # type: ignore[attr-defined]
        return text.replace("\u00a0", " ").strip()

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return escaped(text)

    def process_text(self, el: Any, parent_tags: set[str] | None = None) -> str:
        text = super().process_text(el, parent_tags=parent_tags)  # type: ignore[misc]
        is_plain = parent_tags is None or not parent_tags & {"_noformat", "_inline"}
        return escaped_at_start(text) if is_plain and text.strip() and _begins_line(el) else text

    def convert_a(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        target = str(el.get("href") or "").strip()
        if not target or not LINK_SCHEMES.match(target) or not text.strip():
            return text
        inner = text.strip()
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        if any(letter.isspace() or letter in "()<>" for letter in target):
            target = "<" + re.sub(r"[<>\s]", lambda found: f"%{ord(found.group()):02X}", target) + ">"
        return f"{before}[{inner}]({target}){after}" if "\n\n" not in inner else text

    def convert_img(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return escaped(" ".join(str(el.get("alt") or "").split()))

    def convert_li(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        mark = "- "
        if (parent := el.parent) is not None and parent.name == "ol":
            first = str(parent.get("start") or "1")
            number = self.counts.get(id(parent), int(first) - 1 if re.fullmatch(r"\d{1,8}", first) else 0) + 1
            self.counts[id(parent)] = number
            mark = f"{number}. "
        lines = [line.rstrip() for line in text.split("\n")]
        return mark + ("\n" + " " * len(mark)).join(lines).replace("\n" + " " * len(mark) + "\n", "\n\n") + "\n"

    def convert_pre(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        code = el.get_text().replace("\r\n", "\n").strip("\n")
        longest = max(map(len, _BACKTICKS.findall(code)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"\n\n{fence}{_language(el)}\n{code}\n{fence}\n\n" if code.strip() else ""

    def convert_td(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        self.cells[id(el)] = " ".join(text.split())
        return ""

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        return ""

    def convert_table(self, el: Tag, text: str, parent_tags: set[str]) -> str:
        """A table inside a cell becomes a line, since Markdown has no such thing."""
        grid = grid_of([[(cell, self.cells.pop(id(cell), "")) for cell in row] for row in rows_of(el)])
        if not grid:
            return text
        caption = f"\n\n{text.strip()}" if text.strip() else ""
        if parent_tags & CELLS:
            return caption + " " + "; ".join(", ".join(filter(None, row)) for row in grid) + " "
        return f"{caption}\n\n{pipe_table(grid)}\n\n"


def escaped(text: str) -> str:
    """A text in which Markdown finds no markup. Underscores inside words and lone asterisks are none."""
    return _MARKUP.sub(r"\\\g<0>", _BACKSLASH.sub(r"\\\\", text))


def escaped_at_start(text: str) -> str:
    """The text at the beginning of a line, where Markdown finds headings, lists, quotations, rules and code."""
    return _NUMBER_AT_START.sub(r"\1\\\2", _AT_LINE_START.sub(r"\1\\\2", text))


def _begins_line(text: Any) -> bool:
    """Whether nothing but blanks comes before a text in its block, or a line break."""
    node = text
    while node is not None:
        for before in node.previous_siblings:
            if before.name or str(before).strip():
                return before.name in LINE_ENDS
        node = node.parent
        if node is None or node.name in LINE_STARTS:
            return True
    return True


def _language(pre: Tag) -> str:
    """The language of code as class names have it: `language-python`, `lang-python`, `highlight-python`."""
    code = pre.find("code")
    names = [str(name) for element in (code, pre, pre.parent) if element for name in element.get("class") or []]
    for name in names:
        if found := re.fullmatch(r"(?:language|lang|highlight|brush|sourceCode)[-:]([\w+#.-]{1,20})", name):
            return found.group(1)
    return ""
