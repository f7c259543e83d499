"""Passages of documents, cut by a recipe. No line of text is lost, no row of a table and no code is cut.

A passage never crosses a heading, so that an edit in one section leaves the passages of all others as they are. The
heading is its title and the headings above it its section; a heading without text of its own has no passage. A section
with too many words is cut between paragraphs, at places that depend on the words beside them and not on their number
from the top: an edit moves the cuts next to it only.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from apps.corpus.core.documents import PAGES, SECTION_WORDS, WHOLE, Document, Recipe
from apps.corpus.core.outlines import CODE, HEADING, TABLE, TEXT, Unit, outline_of, table_rows
from apps.corpus.core.passage_ids import anchor_of, document_id, passage_id, start_mark

CUTTABLE = frozenset({TEXT})
"""Units that may be cut in themselves when they are too long; all others are kept whole."""
_WORD = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|[^\s\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_LONGEST_HEAD = 3_000
"""Letters of the heading rows of a table that is cut, since each part repeats them."""
_LEAST_SHARE = 4
"""A cut leaves at least a quarter of a passage on both sides where it can."""
_OPENING_WORDS = 12
"""Words at its beginning that the id of a later part of a section depends on."""


class Passage(NamedTuple):
    """One passage. `anchor` is the place on the document's page that it begins at, "" for its beginning."""

    passage_id: str
    title: str
    section_path: tuple[str, ...]
    text: str
    page_start: int | None = None
    page_end: int | None = None
    anchor: str = ""
    has_table: bool = False
    has_code: bool = False


class Section(NamedTuple):
    """A heading with the units of its own text. `place` is its part of ids, empty for the document's beginning."""

    title: str
    above: tuple[str, ...]
    place: tuple[str, ...]
    anchor: str
    units: Sequence[Unit]


class Piece(NamedTuple):
    """A span of a document's text, the kinds of units in it, its first words, and what is repeated around it."""

    start: int
    end: int
    kinds: frozenset[str]
    opening: str = ""
    head: str = ""
    tail: str = ""


def words_in(text: str) -> int:
    """The number of words; a letter of Chinese, Japanese, Lao or Thai, which are written without blanks, is one."""
    return sum(1 for _ in _WORD.finditer(text))


def passages_of(document: Document, recipe: Recipe, units: Sequence[Unit] | None = None) -> Iterator[Passage]:
    """The passages of a document in reading order, with ids that are unique in it. `units` is its outline."""
    units = outline_of(document) if units is None else units
    if recipe.name == WHOLE:
        yield from _whole(document, units)
    elif recipe.name == PAGES and document.page_starts:
        yield from _pages(document, units)
    else:
        yield from _sections(document, units, recipe)


def _whole(document: Document, units: Sequence[Unit]) -> Iterator[Passage]:
    if units:
        piece = Piece(0, len(document.text), frozenset(unit.kind for unit in units))
        yield _passage(document, piece, document_id(document.path), document.title)


def _pages(document: Document, units: Sequence[Unit]) -> Iterator[Passage]:
    """One passage a page. A table or code that runs over its end stays on the page where it begins."""
    starts = [0, *(_outside_of_wholes(start, units) for start in document.page_starts[1:])]
    headings = [unit for unit in units if unit.kind == HEADING]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(document.text)], strict=True), start=1):
        if not document.text[start:end].strip():
            continue
        kinds = frozenset(unit.kind for unit in units if unit.start < end and unit.end > start)
        path = tuple(heading.title for heading in _open_at(start, headings))
        name = passage_id(document_id(document.path), (f"page-{number}",))
        yield _passage(document, Piece(start, end, kinds), name, f"Page {number}", path, f"page={number}")


def _outside_of_wholes(place: int, units: Sequence[Unit]) -> int:
    index = bisect_right(units, place, key=lambda unit: unit.start) - 1
    unit = units[index] if index >= 0 else None
    is_inside = unit is not None and unit.start < place < unit.end and unit.kind in {TABLE, CODE}
    return unit.end if is_inside and unit is not None else place


def _open_at(place: int, headings: Sequence[Unit]) -> list[Unit]:
    """The headings, from the outermost in, that a place in the text is below."""
    above: list[Unit] = []
    for heading in headings:
        if heading.start >= place:
            break
        above = [*(other for other in above if other.level < heading.level), heading]
    return above


def _sections(document: Document, units: Sequence[Unit], recipe: Recipe) -> Iterator[Passage]:
    name = document_id(document.path)
    taken: set[str] = set()
    for section in sections_of(document, units):
        for number, piece in enumerate(_pieces(document.text, section.units, recipe)):
            mark = start_mark(piece.opening) if number else ""
            identity = _untaken(name, section.place, mark, taken)
            yield _passage(document, piece, identity, section.title, section.above, section.anchor)


def sections_of(document: Document, units: Sequence[Unit]) -> Iterator[Section]:
    """The sections with text of their own. What is before the document's title belongs to the title's section."""
    title = next((unit for unit in units if unit.kind == HEADING), None)
    if title is not None and title.level > 1:
        title = None
    above: list[Unit] = []
    own: list[Unit] = []
    anchors: set[str] = set()
    anchor = ""
    for unit in units:
        if unit.kind != HEADING:
            own.append(unit)
        elif unit is title:
            above = [unit]
            anchors.add(unit.anchor or anchor_of(unit.title))
            own = [*own, unit] if own else []
        else:
            if own:
                yield _section(document, above, title, anchor, own)
            above = [*(other for other in above if other.level < unit.level), unit]
            anchor, own = _page_anchor(unit, anchors), []
    if own and any(unit.kind != HEADING for unit in own):
        yield _section(document, above, title, anchor, own)


def _section(
    document: Document, above: Sequence[Unit], title: Unit | None, anchor: str, own: Sequence[Unit]
) -> Section:
    below = [unit for unit in above if unit is not title]
    place = tuple(unit.anchor or anchor_of(unit.title) for unit in below)
    words = above[-1].title if above else document.title
    return Section(words, tuple(unit.title for unit in above[:-1]), place, anchor if below else "", own)


def _page_anchor(unit: Unit, taken: set[str]) -> str:
    """The anchor on the page: equal ones are counted from 1, as GitHub and most sites do."""
    anchor = plain = unit.anchor or anchor_of(unit.title)
    number = 0
    while anchor in taken:
        number += 1
        anchor = f"{plain}-{number}"
    taken.add(anchor)
    return anchor


def _untaken(document: str, place: Sequence[str], mark: str, taken: set[str]) -> str:
    name = passage_id(document, place, mark)
    number = 1
    while name in taken:
        number += 1
        counted = f"-{number}" if place or mark else f"#{number}"
        name = passage_id(document, place, mark + counted)
    taken.add(name)
    return name


def _pieces(text: str, units: Sequence[Unit], recipe: Recipe) -> Iterator[Piece]:
    """The parts of a section, in order; all of it when it is small enough."""
    if sum(words_in(text[unit.start : unit.end]) for unit in units) <= recipe.words:
        yield _piece(text, units, units[0].start)
        return
    most = recipe.words - recipe.overlap
    small = list(_small_enough(text, units, most))
    heads = {unit.start: unit.head for unit in small}
    begin = 0
    for end in [*_cuts(text, small, most), len(small)]:
        first = _overlap_start(text, small[:begin], recipe.overlap) if begin else small[0].start
        yield _piece(text, small[begin:end], first, heads.get(first, ""))
        begin = end


def _piece(text: str, units: Sequence[Unit], start: int, head: str = "") -> Piece:
    opening = text[units[0].start : units[0].end].split(maxsplit=_OPENING_WORDS)
    kinds = frozenset(unit.kind for unit in units)
    return Piece(start, units[-1].end, kinds, " ".join(opening[:_OPENING_WORDS]), head, units[-1].tail)


def _small_enough(text: str, units: Sequence[Unit], most: int) -> Iterator[Unit]:
    """The units; paragraphs of too many words are divided into sentences, and endless sentences anywhere.

    A table longer than a screen is divided between rows.
    """
    screen = max(most, SECTION_WORDS)
    for unit in units:
        words = words_in(text[unit.start : unit.end]) if unit.kind in {*CUTTABLE, TABLE, CODE} else 0
        if unit.kind in CUTTABLE and words > most:
            yield from _sentences(text, unit, most)
        elif unit.kind not in CUTTABLE and words > screen:
            yield from _table_parts(text, unit, screen)
        else:
            yield unit


def _table_parts(text: str, unit: Unit, most: int) -> Iterator[Unit]:
    """The parts of a table, each with its heading rows; one with no rows to tell, or with a long heading, as it is."""
    starts, tail = table_rows(text[unit.start : unit.end])
    head = text[unit.start : unit.start + starts[0]] if starts else ""
    room = most - words_in(head)
    if len(starts) < 2 or room < most // 2 or len(head) > _LONGEST_HEAD:
        yield unit
        return
    ends = [*(unit.start + start for start in starts[1:]), unit.end]
    rows = [Unit(unit.start + start, end, unit.kind) for start, end in zip(starts, ends, strict=True)]
    begin = unit.start
    for cut in _cuts(text, rows, room):
        yield Unit(begin, rows[cut].start, unit.kind, head=head if begin > unit.start else "", tail=tail)
        begin = rows[cut].start
    yield Unit(begin, unit.end, unit.kind, head=head if begin > unit.start else "")


def _sentences(text: str, unit: Unit, most: int) -> Iterator[Unit]:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, unit.start, unit.end)]
    start = unit.start
    for end in [*ends, unit.end]:
        words = list(_WORD.finditer(text, start, end))
        for place in range(most, len(words), most):
            yield Unit(start, words[place].start(), TEXT)
            start = words[place].start()
        if end > start:
            yield Unit(start, end, TEXT)
            start = end


def _cuts(text: str, units: Sequence[Unit], most: int) -> list[int]:
    """The places between units at which to cut, so that no part has more than `most` words where it has a choice.

    The place whose next unit has the smallest digest divides the whole, then each part in the same way. So most cuts
    stay where they are when something is added, changed or removed elsewhere.
    """
    before = [0]
    for unit in units:
        before.append(before[-1] + words_in(text[unit.start : unit.end]))
    ranks = [hashlib.sha256(text[unit.start : unit.end].strip().encode()).digest() for unit in units]
    cuts, parts = [], [(0, len(units))]
    while parts:
        first, last = parts.pop()
        if last - first < 2 or before[last] - before[first] <= most:
            continue
        cut = _best_cut(first, last, before, ranks, most // _LEAST_SHARE)
        cuts.append(cut)
        parts += [(first, cut), (cut, last)]
    return sorted(cuts)


def _best_cut(first: int, last: int, before: Sequence[int], ranks: Sequence[bytes], least: int) -> int:
    places = range(first + 1, last)
    roomy = [place for place in places if min(before[place] - before[first], before[last] - before[place]) >= least]
    return min(roomy or places, key=lambda place: (ranks[place], abs(2 * place - first - last)))


def _overlap_start(text: str, units: Sequence[Unit], most: int) -> int:
    """Where a passage begins that repeats up to `most` words before it: whole units, or the last words of one."""
    start, left = units[-1].end, most
    for unit in reversed(units):
        words = list(_WORD.finditer(text, unit.start, unit.end))
        if len(words) > left:
            is_divided = unit.kind in CUTTABLE and start == units[-1].end and left
            return words[-left].start() if is_divided else start
        start, left = unit.start, left - len(words)
    return start


def _passage(
    document: Document,
    piece: Piece,
    name: str,
    title: str,
    path: tuple[str, ...] = (),
    anchor: str = "",
) -> Passage:
    first, last = _page_range(document.page_starts, piece)
    text = piece.head + _BLANK_LINES.sub("", document.text[piece.start : piece.end]).rstrip() + piece.tail
    return Passage(name, title, path, text, first, last, anchor, TABLE in piece.kinds, CODE in piece.kinds)


def _page_range(starts: Sequence[int], piece: Piece) -> tuple[int | None, int | None]:
    if not starts:
        return None, None
    first = max(1, bisect_right(starts, piece.start))
    return first, max(first, bisect_right(starts, piece.end - 1))
