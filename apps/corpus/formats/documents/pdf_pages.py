"""The lines of a PDF with their places and sizes, as JSON. Runs as a process of its own: see `pdf`.

A script without imports of this project: `python -I pdf_pages.py PAGES CHARACTERS SECONDS BYTES`, the file as standard
input. The arguments are the limits. Exits with 0 and prints JSON: what was found, or {"unreadable": the reason}.
"""

import json
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

PASSWORD_ERRORS = {4, 5}
"""PDFium: wrong password; a way of protection that it does not know."""
MOST_BOOKMARKS = 20_000
"""Later ones are left out."""
LONGEST_BOOKMARK = 500
LINE_JUMP = 0.6
"""How far below or above, as a share of its size, a character begins another line."""
HYPHEN_AT_LINE_END = 0x02
DASH = ord("-")
ENDS = {0x0D, 0x0A}
LEFT_OUT = {0xFFFE, 0xFFFF, 0xFFFD, 0xAD, *range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)}


def main(pages: int, characters: int, seconds: int, memory: int) -> None:
    _limit(seconds, memory)
    try:
        found = _read(pages, characters)
    except MemoryError:
        found = {"unreadable": "stopped"}
    json.dump(found, sys.stdout)


def _limit(seconds: int, memory: int) -> None:
    """The system ends this process when it takes more. Where it knows no such limits, the parent's clock remains."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _read(most_pages: int, most_characters: int) -> dict[str, Any]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(sys.stdin.buffer)
    except pypdfium2.PdfiumError as error:
        return {"unreadable": "password" if error.err_code in PASSWORD_ERRORS else "damaged"}
    count = len(document)
    if not count:
        return {"unreadable": "damaged"}
    if count > most_pages:
        return {"unreadable": "pages"}
    pages, damaged, characters = [], 0, 0
    for number in range(count):
        try:
            lines = _lines(document[number])
        except pypdfium2.PdfiumError:
            lines, damaged = [], damaged + 1
        characters += sum(len(line[0]) for line in lines)
        if characters > most_characters:
            return {"unreadable": "text"}
        pages.append(lines)
    if damaged == count:
        return {"unreadable": "damaged"}
    about = {name: _clean(value) for name, value in document.get_metadata_dict(skip_empty=True).items()}
    return {
        "pages": pages,
        "damaged": damaged,
        "about": about,
        "outline": list(islice(_outline(document), MOST_BOOKMARKS)),
    }


def _lines(page: Any) -> list[list]:
    """[text, x, y, size, whether a hyphen divides its last word] of each line, in the order of the file."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    lines = _Lines()
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if code == HYPHEN_AT_LINE_END or (code == DASH and pdfium.FPDFText_IsHyphen(text, index) == 1):
            lines.end(hyphen=True)
        elif code in ENDS:
            lines.end()
        elif pdfium.FPDFText_IsGenerated(text, index) == 1:
            lines.add_gap()
        elif code not in LEFT_OUT and code <= sys.maxunicode:
            letter = chr(code)
            if lines.is_after_gap and not letter.isspace():
                lines.begin_word(_place(pdfium, text, index))
            lines.letters.append(letter)
    lines.end()
    if lines.ended and lines.ended[-1][0][-1:] == "-" and lines.ended[-1][0][-2:-1].isalpha():
        last = lines.ended[-1]
        last[0], last[-1] = last[0][:-1], True  # at the end of a page PDFium leaves the hyphen
    return lines.ended


class _Lines:
    """Lines of a page, from its characters.

    PDFium puts characters into lines itself, but now and then two lines into one: where it found a gap, a jump up or
    down begins another line too.
    """

    def __init__(self) -> None:
        self.ended: list[list] = []
        self.letters: list[str] = []
        self.place: list[float] = [0.0, 0.0, 0.0]
        self.is_after_gap = True

    def add_gap(self) -> None:
        self.letters.append(" ")
        self.is_after_gap = True

    def begin_word(self, place: list[float]) -> None:
        if self.letters and _jumps(self.place, place):
            self.end()
        if not self.letters:
            self.place = place
        self.is_after_gap = False

    def end(self, *, hyphen: bool = False) -> None:
        if line := "".join(self.letters).strip():
            self.ended.append([line, *(round(value, 1) for value in self.place), hyphen])
        self.letters.clear()
        self.is_after_gap = True


def _place(pdfium: Any, text: Any, index: int) -> list[float]:
    """Where a character begins and its size. Text that runs upwards has no useful height: y is then 0."""
    import ctypes

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text, index, x, y)
    size = pdfium.FPDFText_GetFontSize(text, index)
    matrix = pdfium.FS_MATRIX()
    if pdfium.FPDFText_GetMatrix(text, index, matrix):
        size *= math.hypot(matrix.c, matrix.d)
    upright = abs(math.sin(pdfium.FPDFText_GetCharAngle(text, index))) < 0.1
    values = [x.value, y.value if upright else 0.0, size]
    return [value if math.isfinite(value) else 0.0 for value in values]


def _jumps(before: list[float], here: list[float]) -> bool:
    return bool(before[1] and here[1]) and abs(before[1] - here[1]) > LINE_JUMP * max(before[2], here[2])


def _clean(text: str) -> str:
    """One line without characters that no database stores as text."""
    return " ".join("".join(" " if ord(letter) in LEFT_OUT else letter for letter in text).split())


def _outline(document: Any) -> Iterator[list]:
    """[page, level from 0, title] of each bookmark that leads to a page."""
    for bookmark in document.get_toc(max_depth=6):
        target = bookmark.get_dest()
        page = target.get_index() if target else None
        if page is not None and (title := _clean(bookmark.get_title()[:LONGEST_BOOKMARK])):
            yield [page, bookmark.level, title]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
