"""The lines of a PDF with their places and sizes, as JSON. Runs as a process of its own: see `pdf`.

A script without imports of this project: `python -I pdf_pages.py PAGES CHARACTERS SECONDS BYTES`, the file as standard
input. The arguments are the limits. Exits with 0 and prints JSON: what was found, or {"unreadable": the reason}.
"""

import ctypes
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
RAISED, LOWERED, LEVEL = "\x0e", "\x10", "\x0f"
"""As `scripts` has them."""
SMALLER, HIGHEST, LOWEST = 0.9, 0.8, 0.5
"""The size of a script, how far it is raised and lowered at most, as shares of the size of its line."""
SAME_HEIGHT, NEAR, BLANK = 0.05, 0.6, 0.18
LONGEST_SCRIPT = 12
"""Longer ones are smaller text beside a large letter, for example."""
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
    """[text, x, y, size, whether a hyphen divides its last word] of each line, in the order of the file.

    In a text RAISED and LOWERED begin a superscript and a subscript, and LEVEL ends it.
    """
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    lines = _Lines(pdfium, text)
    for index in range(text.count_chars()):
        code = pdfium.FPDFText_GetUnicode(text, index)
        if code == HYPHEN_AT_LINE_END or (code == DASH and pdfium.FPDFText_IsHyphen(text, index) == 1):
            lines.end(hyphen=True)
        elif code in ENDS:
            lines.is_at_end = True
        elif pdfium.FPDFText_IsGenerated(text, index) == 1:
            lines.add_gap()
        elif code not in LEFT_OUT and code <= sys.maxunicode:
            lines.add(chr(code), index)
    lines.end()
    if lines.ended and lines.ended[-1][0][-1:] == "-" and lines.ended[-1][0][-2:-1].isalpha():
        last = lines.ended[-1]
        last[0], last[-1] = last[0][:-1], True  # at the end of a page PDFium leaves the hyphen
    return lines.ended


class _Lines:
    """Lines of a page, from its characters.

    PDFium puts characters into lines itself, but now and then two lines into one: where it found a gap, a jump up or
    down begins another line too. It also ends a line at a superscript, which is smaller and beside what it belongs to:
    so a line ends only when it is clear that what follows is none, and is not the rest of the line behind one.
    """

    def __init__(self, pdfium: Any, text: Any) -> None:
        self.pdfium, self.text = pdfium, text
        self.x, self.y = ctypes.c_double(), ctypes.c_double()
        self.x_out, self.y_out = ctypes.byref(self.x), ctypes.byref(self.y)
        self.ended: list[list] = []
        self.is_at_end = False
        self._begin()

    def _begin(self) -> None:
        self.letters: list[str] = []
        self.place = [0.0, 0.0, 0.0]
        self.is_after_gap = True
        self.script, self.script_y = LEVEL, 0.0
        self.last = -1
        """The character before."""

    def add_gap(self) -> None:
        if self.letters:
            self.letters.append(" ")
        self.is_after_gap = True

    def add(self, letter: str, index: int) -> None:
        """Add a character, to a new line where it does not belong to this one."""
        if letter.isspace():
            self.letters.append(letter)
            return
        self.pdfium.FPDFText_GetCharOrigin(self.text, index, self.x_out, self.y_out)
        if self.last >= 0 and (self.is_at_end or self.y.value != self.place[1]):
            self._place_beside(index)
        elif self.script != LEVEL:
            self._turn(LEVEL, index)
        if self.last < 0:
            self.place = self._place_of(index)
        self.letters.append(letter)
        self.last, self.is_after_gap, self.is_at_end = index, False, False

    def end(self, *, hyphen: bool = False) -> None:
        if line := "".join(self.letters).strip():
            self.ended.append([line, *(round(value, 1) for value in self.place), hyphen])
        self.is_at_end = False
        self._begin()

    def _place_beside(self, index: int) -> None:
        """Find out how a character stands that is at another height, or behind an end that PDFium found."""
        x, y = self.x.value, self.y.value
        _, level, size = self.place
        if not self.is_at_end and self.script != LEVEL and abs(y - self.script_y) <= SAME_HEIGHT * size:
            return
        if not self.is_at_end and abs(y - level) <= SAME_HEIGHT * size:
            self._turn(LEVEL, index)
            return
        here = self._place_of(index)
        if level and here[1] and self._is_near(x, size):
            if script := _script(y - level, here[2], size):
                self._turn(script, index)
                self.script_y = y
                return
            if self.script != LEVEL and abs(y - level) <= SAME_HEIGHT * size:
                self._turn(LEVEL, index)
                return
            if (
                self.script == LEVEL
                and len(self.letters) <= LONGEST_SCRIPT
                and (script := _script(level - y, size, here[2]))
            ):  # the line began with one
                words = "".join(self.letters)
                has_blank = self.is_after_gap or words != words.rstrip() or self._gap() > BLANK * size
                self.letters = [script, *words.rstrip(), LEVEL, *" " * has_blank]
                self.place = [self.place[0], y, here[2]]
                return
        if self.is_at_end or (self.is_after_gap and _jumps(self.place, here)):
            self.end()
        else:
            self._turn(LEVEL, index)

    def _turn(self, script: str, index: int) -> None:
        """Begin or end a script at a character. A blank is between the two where there is room for one."""
        if script == self.script and not self.is_at_end:
            return
        while self.letters and self.letters[-1].isspace():
            self.letters.pop()
        if self.script not in {LEVEL, script}:
            self.letters.append(LEVEL)
        if self._gap() > BLANK * self.place[2]:
            self.letters.append(" ")
        if script != self.script:
            self.letters.append(script)
        self.script = script

    def _is_near(self, x: float, size: float) -> bool:
        return -NEAR * size < self._gap() < NEAR * size

    def _gap(self) -> float:
        """How far this character is from the right edge of the one before."""
        box = self.pdfium.FS_RECTF()
        self.pdfium.FPDFText_GetLooseCharBox(self.text, self.last, box)
        return float(self.x.value - box.right)

    def _place_of(self, index: int) -> list[float]:
        """Where a character begins and its size. Text that runs upwards has no useful height: y is then 0."""
        size = self.pdfium.FPDFText_GetFontSize(self.text, index)
        matrix = self.pdfium.FS_MATRIX()
        if self.pdfium.FPDFText_GetMatrix(self.text, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        upright = abs(math.sin(self.pdfium.FPDFText_GetCharAngle(self.text, index))) < 0.1
        values = [self.x.value, self.y.value if upright else 0.0, size]
        return [value if math.isfinite(value) else 0.0 for value in values]


def _script(above: float, size: float, usual: float) -> str:
    """What a character of this size is that stands so far above its line, whose characters have the usual size."""
    if size > SMALLER * usual:
        return ""
    if SAME_HEIGHT * usual < above < HIGHEST * usual:
        return RAISED
    return LOWERED if SAME_HEIGHT * usual < -above < LOWEST * usual else ""


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
