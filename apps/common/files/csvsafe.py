"""Cells and files of CSV that a spreadsheet opens as they are: nothing runs, nothing turns into another value.

A cell is dangerous when it begins with `= + - @`, with one of their full-width forms, or with a tab, carriage return or
line feed; leading blanks do not make it safer. A cell is rewritten when a spreadsheet would take it for a number or a
date and show another: 007 as 7, 3E5 as 300000, 1-2 as a day, twelve digits as 1.2E+11. Such a cell gets an apostrophe
in front, even if it already has some, so that removing one restores it exactly.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator

BYTE_ORDER_MARK = "\ufeff"
"""Without it Excel reads UTF-8 as Windows letters: Ö becomes Ã–."""
_DANGER = r"(?:[\t\r\n]|\s*[=+\-@＝＋－＠])"
_MONTH = (
    "jan(?:uary|uar|vier|v)?|jän(?:ner)?|feb(?:ruary|ruar)?|févr?(?:ier)?|mar(?:ch|s)?|märz?|mrz|apr(?:il)?|avr(?:il)?"
    "|ma[iy]|june?|juni|juin|july?|juli|juil(?:let)?|aug(?:ust)?|août|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?"
    "|nov(?:ember|embre)?|de[cz](?:ember)?|déc(?:embre)?"
)
_REWRITTEN = (  # of few letters; a whole number of up to eleven digits stays as it is
    r"(?=[\s\S]{1,60}\Z)(?!(?:0|[1-9][0-9]{0,10})\Z)(?:"
    r"[\s\d.,:/%()$€£¥+-]*\d[\s\d.,:/%()$€£¥+-]*"
    r"|\s*\d*[.,]?\d+[eEdD][+-]?\d+\s*"
    r"|\s*\d{1,2}(?::\d\d)*\s+[aApP][mM]?\s*"
    rf"|\s*(?=\D*\d)(?:\d{{1,4}}[\s./-]*)?(?i:{_MONTH})\.?(?:[\s./,-]*\d{{1,4}}){{0,2}}\s*"
    r"|(?i:\s*(?:true|false|wahr|falsch|vrai|faux)\s*)"
    r")\Z"
)
_MAKE_SAFE = re.compile(rf"'*{_DANGER}|'+{_REWRITTEN}")
_KEEP_TEXT = re.compile(rf"'*(?:{_DANGER}|{_REWRITTEN})")
_RESTORE = re.compile(rf"'+(?:{_DANGER}|{_REWRITTEN})")


def safe_cell(text: str) -> str:
    """The cell as it is written where only formulas are a danger. `restore_cell` is its exact inverse."""
    if text[:1].isalnum():  # most cells: nothing dangerous begins with a letter or a digit
        return text
    return f"'{text}" if _MAKE_SAFE.match(text) else text


def text_cell(text: str) -> str:
    """The same where spreadsheets should show the text as it is, too. `restore_cell` is its exact inverse."""
    return f"'{text}" if _KEEP_TEXT.match(text) else text


class _Echo:
    """A file that returns its lines, which end in a line feed.

    The writer is told that they end in both: otherwise it leaves a carriage return in a cell without quotes.
    """

    def write(self, line: str) -> str:
        return line[:-2] + "\n"


def csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The rows as the lines of a CSV that people download, headings first; numbers are written as numbers."""
    mark = BYTE_ORDER_MARK
    for line in _lines(rows, text_cell):
        yield mark + line
        mark = ""


def plain_csv_lines(rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """The same for programs: without the mark, and with an apostrophe only where a cell would run."""
    return _lines(rows, safe_cell)


def _lines(rows: Iterable[Iterable[object]], as_cell: Callable[[str], str]) -> Iterator[str]:
    line = csv.writer(_Echo(), lineterminator="\r\n").writerow
    return (line([as_cell(cell) if isinstance(cell, str) else cell for cell in row]) for row in rows)


def workbook_cell(text: str) -> str:
    """The cell as it is written to a workbook, in a cell of text: there nothing runs and nothing is rewritten.

    Only what `restore_cell` would take an apostrophe from gets another one.
    """
    return f"'{text}" if restore_cell(text) != text else text


def restore_cell(text: str) -> str:
    """The cell as it was before `safe_cell`, `text_cell` or `workbook_cell`."""
    return text[1:] if text[:1] == "'" and _RESTORE.match(text) else text
