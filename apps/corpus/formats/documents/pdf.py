"""PDF: the text page by page, with headings, paragraphs and lists as far as its lines show them.

The parser is a large program in C++ that reads files of strangers. It runs as a process of its own, one for each file
and with limits on time and memory, so that a file that crashes it or never ends costs that file only.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, BinaryIO, NamedTuple

from apps.common.text.words import with_scripts
from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable

EDGE_LINES = 2
"""How many lines at the top and at the bottom of a page may be running headers and footers."""
LEAST_REPEATED = 3
LARGER = 1.15
LONGEST_HEADING = 120
LONGEST_TITLE_LINES = 3
DEEPEST_BY_SIZE = 3
PARAGRAPH = "\n\n"
WIDE_GAP = 1.3
SHORT = 0.75
FULL_LINE = 0.9
"""The length that nine lines of ten do not exceed is the length of a full line."""
BULLET = re.compile(r"[•‣◦▪●○■\uf0b7∙·*–-]\s+(?=\S)")
NUMBER = re.compile(r"(\d{1,3}[.)]|\([a-z\d]{1,3}\)|[a-z]\))\s+(?=\S)")
SENTENCE_END = re.compile(r"[.!?:;…。！？]['\")\]”’»]*$")
MARKDOWN_START = re.compile(r"(#{1,6}(?=\s|$)|>|`{3,}|~{3,}|=+$|-+$|\+\s|\|)")
NUMBER_INSIDE = re.compile(r"\d{1,6}")
ROMAN = re.compile(r"^[ivxlc]+$")
DATES = {"created": "CreationDate", "modified": "ModDate"}
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")
TOO_MUCH = re.compile(r"[ \t\u00a0]+")


class Line(NamedTuple):
    """One line: where it begins, in points from the lower left corner, the size of its type, whether a hyphen divides
    its last word. y is 0 where it is unknown."""

    text: str
    x: float
    y: float
    size: float
    hyphen: bool = False


class Bookmark(NamedTuple):
    """An entry of the outline: page from 0, level from 0."""

    page: int
    level: int
    title: str


class Laid(NamedTuple):
    text: str
    page_starts: tuple[int, ...]
    headings: tuple[str, ...]
    """In order, without their marks."""


def lay_out(pages: Sequence[Sequence[Line]], outline: Iterable[Bookmark]) -> Laid:
    """The lines as Markdown, by rules, which the reference page states: a PDF has letters at places and nothing else.

    - A line at the top or bottom of a page is left out when a third of the pages, three at least, have it there; only
      the page's number may differ.
    - A larger gap, a bullet or number, another size, or a short line that ends a sentence ends a paragraph. A short
      line inside a paragraph keeps its line break, so that tables and addresses stay readable.
    - A word divided by a hyphen at the end of a line is put together when its rest begins in lower case.
    - Headings are the document's bookmarks; when it has none, short lines in larger type than most of the text.
    """
    body = _body_size(line for page in pages for line in page)
    pages = _whole_words(_without_running_lines([[_tidy(line) for line in page] for page in pages], body))
    lines = [line for page in pages for line in page]
    levels = _levels_by_outline(pages, outline) or _levels_by_size(lines, body)
    writer = _Writer(_leading(lines), _full_length(lines))
    place = 0
    for page in pages:
        writer.begin_page()
        for line in page:
            writer.add(line, levels.get(place, 0))
            place += 1
    return writer.laid()


def _tidy(line: Line) -> Line:
    return line._replace(text=TOO_MUCH.sub(" ", line.text).strip())


def _without_running_lines(pages: list[list[Line]], body: float) -> list[list[Line]]:
    keys = [
        {place: _keys(page[place].text, number) for place in _edges(page) if page[place].size <= LARGER * body}
        for number, page in enumerate(pages)
    ]
    seen = Counter(key for places in keys for key in set().union(*places.values()))
    least = max(LEAST_REPEATED, len(pages) / 3)
    running = {key for key, times in seen.items() if times >= least}
    return [
        [line for place, line in enumerate(page) if not running & found.get(place, frozenset())]
        for page, found in zip(pages, keys, strict=True)
    ]


def _edges(page: Sequence[Line]) -> set[int]:
    """Where the highest and lowest lines are in the page, and its first: a footer may come first in the file."""
    order = sorted(range(len(page)), key=lambda place: -page[place].y)
    return {*order[:EDGE_LINES], *order[-EDGE_LINES:], *range(min(EDGE_LINES, len(page)))}


def _keys(text: str, page: int) -> frozenset[str]:
    """What makes a line equal to lines of other pages: its words, with its first or last number as it is or counted
    from the page, since that may be the number of the page."""
    text = text.casefold()
    keys = {ROMAN.sub("#", text)}
    for number in [*NUMBER_INSIDE.finditer(text)][:: max(1, len(NUMBER_INSIDE.findall(text)) - 1)]:
        keys.add(f"{text[: number.start()]}{int(number.group()) - page:+}{text[number.end() :]}")
    return frozenset(keys)


def _whole_words(pages: list[list[Line]]) -> list[list[Line]]:
    """The rest of a divided word moves to the line it began on, also from the next page."""
    lines = [(number, line) for number, page in enumerate(pages) for line in page]
    whole: list[list[Line]] = [[] for _ in pages]
    for place, (number, line) in enumerate(lines):
        if line.hyphen and place + 1 < len(lines):
            after, following = lines[place + 1]
            rest, _, others = following.text.partition(" ")
            joint = "" if rest[:1].islower() else "-"
            line = line._replace(text=line.text + joint + rest, hyphen=following.hyphen and not others)
            lines[place + 1] = (after, following._replace(text=others))
        elif line.hyphen:
            line = line._replace(text=line.text + "-")
        if line.text:
            whole[number].append(line)
    return whole


def _body_size(lines: Iterable[Line]) -> float:
    """The size that most characters have."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance from one line to the next."""
    gaps = [
        before.y - after.y for before, after in pairwise(lines) if after.y and 0 < before.y - after.y < 3 * before.size
    ]
    return median(gaps) if gaps else 0.0


def _full_length(lines: Sequence[Line]) -> int:
    lengths = sorted(len(line.text) for line in lines)
    return lengths[int(FULL_LINE * (len(lengths) - 1))] if lengths else 0


def _levels_by_size(lines: Sequence[Line], body: float) -> dict[int, int]:
    """The level of each line, by its place, that is in larger type than the body; the largest is 1."""
    larger = {
        place: round(line.size)
        for place, line in enumerate(lines)
        if line.size > LARGER * body and len(line.text) <= LONGEST_HEADING and _has_letters(line.text)
    }
    ranks = {size: rank for rank, size in enumerate(sorted(set(larger.values()), reverse=True), 1)}
    return {place: min(ranks[size], DEEPEST_BY_SIZE) for place, size in larger.items()}


def _has_letters(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= 2


def _levels_by_outline(pages: Sequence[Sequence[Line]], outline: Iterable[Bookmark]) -> dict[int, int]:
    """The level of each line whose text is a bookmark of its page; a title over several lines is found too."""
    firsts = [0]
    for page in pages:
        firsts.append(firsts[-1] + len(page))
    places: dict[int, dict[str, range]] = {}
    levels: dict[int, int] = {}
    for number, level, title in outline:
        if 0 <= number < len(pages):
            if number not in places:
                places[number] = _title_places(pages[number])
            for index in places[number].get(_plain(title), ()):
                levels.setdefault(firsts[number] + index, min(level + 1, 6))
    return levels


def _title_places(page: Sequence[Line]) -> dict[str, range]:
    """The lines of each title that a page may have: up to three of its lines, also without the number they begin with.

    The first lines with these words are the title.
    """
    plain = [_plain(line.text) for line in page]
    places: dict[str, range] = {}
    for first, words in enumerate(plain):
        found = ""
        for last in range(first, min(first + LONGEST_TITLE_LINES, len(page)) if words else first):
            found += plain[last]
            for title in filter(None, (found, found.lstrip("0123456789"))):
                places.setdefault(title, range(first, last + 1))
    return places


def _plain(text: str) -> str:
    """Letters and figures only: bookmarks have other blanks, and often no number."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


class _Writer:
    """Puts lines together, and keeps where each page begins."""

    def __init__(self, leading: float, full: int) -> None:
        self.leading, self.full = leading, full
        self.parts: list[str] = []
        self.length = 0
        self.pages = 0
        self.starts: list[int] = []
        self.headings: list[str] = []
        self.before: Line | None = None
        self.level = 0
        self.in_list = False

    def begin_page(self) -> None:
        self.pages += 1

    def laid(self) -> Laid:
        self._put("", "")
        return Laid("".join(self.parts), tuple(self.starts), tuple(self.headings))

    def add(self, line: Line, level: int) -> None:
        if level:
            self._heading(line, level)
        elif marked := BULLET.match(line.text) or NUMBER.match(line.text):
            self._item(line, marked)
        else:
            joint = self._joint(line)
            self.in_list = self.in_list and joint != PARAGRAPH
            self._put(joint, _literal(line.text) if joint != " " else line.text)
        self.before, self.level = line, level

    def _heading(self, line: Line, level: int) -> None:
        before = self.before
        if before and self.level == level and round(before.size) == round(line.size) and self._is_near(before, line):
            self._put(" ", line.text)
            self.headings[-1] += f" {line.text}"
        else:
            self._put(PARAGRAPH, f"{'#' * level} {line.text}")
            self.headings.append(line.text)
        self.in_list = False

    def _item(self, line: Line, marked: re.Match[str]) -> None:
        is_bullet = marked.re is BULLET
        self._put("\n" if self.in_list else PARAGRAPH, "- " + line.text[marked.end() :] if is_bullet else line.text)
        self.in_list = True

    def _joint(self, line: Line) -> str:
        """What comes between the line before and this one, which is neither a heading nor an item."""
        before = self.before
        if before is None or self.level or _differ(before.size, line.size):
            return PARAGRAPH
        if len(self.starts) < self.pages or not self._is_near(before, line):
            return " " if _goes_on(before.text, line.text) else PARAGRAPH
        if len(before.text) < SHORT * self.full:
            return PARAGRAPH if SENTENCE_END.search(before.text) else "  \n"
        return " "

    def _is_near(self, before: Line, line: Line) -> bool:
        """Whether the line is the next one below; so is one whose place is unknown."""
        if not (before.y and line.y and self.leading):
            return True
        return -0.5 * self.leading < before.y - line.y < WIDE_GAP * max(self.leading, line.size)

    def _put(self, joint: str, text: str) -> None:
        joint = joint if self.parts else ""
        self.parts += [joint, text]
        self.length += len(joint)
        self.starts += [self.length] * (self.pages - len(self.starts))
        self.length += len(text)


def _differ(size: float, other: float) -> bool:
    return max(size, other) > LARGER * min(size, other)


def _goes_on(before: str, text: str) -> bool:
    """Whether a sentence goes on in the next column or on the next page."""
    return text[:1].islower() and not SENTENCE_END.search(before)


def _literal(text: str) -> str:
    """A line of which Markdown would make a heading, a quotation, a list or code, made plain text."""
    return "\\" + text if MARKDOWN_START.match(text) else text


SCRIPT = Path(__file__).with_name("pdf_pages.py")
SCANNED = "scanned PDF without text"
LONGEST_TITLE = 200


class PdfLimits(NamedTuple):
    """For one PDF. `seconds` are of the processor; of the clock it may take twice as many."""

    pages: int = 5_000
    characters: int = 20_000_000
    seconds: int = 120
    memory: int = 1_500_000_000


LIMITS = PdfLimits()


def reasons(limits: PdfLimits) -> dict[str, str]:
    """The reasons by the word that the process prints."""
    return {
        "password": "PDF with a password",
        "damaged": "damaged PDF",
        "pages": f"PDF with more than {limits.pages:,} pages",
        "text": f"PDF with more than {limits.characters:,} characters",
        "stopped": "PDF that takes too long or too much memory",
    }


RIGHT_TO_LEFT = (
    "written from right to left: words and brackets of a PDF may be turned round, compare them with the page"
)
"""A PDF has letters at places, as seen; which of them a reader reads first is a guess."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]{2}")


def read_pdf(source: SourceFile, limits: PdfLimits = LIMITS) -> Iterator[Document]:
    found = _found_in(source.stream, limits)
    if reason := found.get("unreadable"):
        raise Unreadable(reasons(limits)[reason])
    pages = [[Line(with_scripts(text), *place) for text, *place in page] for page in found["pages"]]
    laid = lay_out(pages, [Bookmark(*entry) for entry in found["outline"]])
    if not laid.text.strip():
        raise Unreadable(SCANNED)
    yield Document(
        path=source.path,
        kind="pdf",
        title=_title(found["about"], laid, pages),
        text=laid.text,
        metadata=_metadata(found, pages),
        page_starts=laid.page_starts,
        note=RIGHT_TO_LEFT if _RIGHT_TO_LEFT.search(laid.text) else "",
    )


def _found_in(stream: BinaryIO, limits: PdfLimits) -> dict[str, Any]:
    """What `pdf_pages` prints about the file."""
    command = [sys.executable, "-I", str(SCRIPT), *map(str, limits)]
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as out:
        shutil.copyfileobj(stream, file)
        file.seek(0)
        try:
            ended = subprocess.run(
                command, stdin=file, stdout=out, stderr=subprocess.DEVNULL, timeout=2 * limits.seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return {"unreadable": "stopped"}
        if ended.returncode:
            return {"unreadable": "stopped" if ended.returncode < 0 else "damaged"}
        out.seek(0)
        return json.load(out)


JUNK_TITLE = re.compile(
    r"(untitled.*|.*\.(docx?|indd|pptx?|xlsx?|pdf|tex|dvi|qxd|md|html?)|microsoft word - .*)$", re.IGNORECASE
)


def _title(about: dict[str, str], laid: Laid, pages: list[list[Line]]) -> str:
    """The title that the file states, unless it is the name of a file; else the line in the largest type on the first
    page with text, when it stands out; else the first heading, or the first line."""
    stated = " ".join(about.get("Title", "").split())
    if stated and not JUNK_TITLE.match(stated):
        return stated[:LONGEST_TITLE]
    first = next(page for page in pages if page)
    largest = max(first, key=lambda line: line.size)
    if largest.size > min(line.size for line in first) or not laid.headings:
        return largest.text[:LONGEST_TITLE]
    return laid.headings[0]


def _day(stated: str) -> str:
    """The day of a date as PDF writes it, `D:20260301093000+01'00'`; "" for anything else."""
    written = _DATE.match(stated)
    try:
        return date(*map(int, written.groups())).isoformat() if written else ""
    except ValueError:  # such as a 31st of June
        return ""


def _metadata(found: dict[str, Any], pages: list[list[Line]]) -> dict[str, Any]:
    about: dict[str, Any] = {"author": " ".join(found["about"].get("Author", "").split()), "pages": len(pages)}
    about["pages_without_text"] = sum(not page for page in pages)
    about |= {name: _day(found["about"].get(stated, "")) for name, stated in DATES.items()}
    return {name: value for name, value in about.items() if value}
