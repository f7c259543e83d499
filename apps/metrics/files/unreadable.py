"""Guesses what a file is of which no line could be read, for one message with a cure instead of one for each line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, all_of
from apps.common.files.linefiles import LINE_END, lines_of, name_of
from apps.metrics.files.judgement_tables import is_headed
from apps.metrics.files.run_tables import columns_of

Guess = Callable[[str], str]

WHOLE = re.compile(r"[+-]?[0-9]+\Z", re.A)
MARKS = {",": "commas", ";": "semicolons", "|": "bars"}
JSON_STARTS = ("{", "[")
JSON = "is JSON, not TREC's form"
OF_RUNS = "query Q0 block rank score tag, divided by blanks"
OF_QRELS = "query 0 block grade, divided by blanks"
UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
AS_TABLE = (
    "A first line such as query,block,grade makes it a table, which may be divided by commas, tabs or semicolons."
)
AS_RUN_TABLE = "A first line such as query,passage,rank,score makes it a table, divided by commas, tabs or semicolons."


def guess_of_run(line: str) -> str:
    """The likely kind of a file of runs with this line, as a sentence; "" without a guess."""
    fields = line.split()
    if columns_of(line.encode()):
        return ""
    if line.startswith(JSON_STARTS):
        return f"{JSON}. A run has lines of {OF_RUNS}."
    if mark := _mark_in(line):
        return f"is divided by {mark}. A run has lines of {OF_RUNS}. {AS_RUN_TABLE}"
    if len(fields) == 4 and WHOLE.match(fields[3]):
        return f"looks like judgements. A run has lines of {OF_RUNS}. Were two files swapped?"
    return ""


def guess_of_qrels(line: str) -> str:
    """As `guess_of_run`, for a file of judgements."""
    fields = line.split()
    if is_headed(line.encode()):
        return ""
    if line.startswith(JSON_STARTS):
        return f"{JSON}. Judgements have lines of {OF_QRELS}."
    if mark := _mark_in(line):
        return f"is divided by {mark}. Judgements have lines of {OF_QRELS}. {AS_TABLE}"
    if len(fields) == 6 and WHOLE.match(fields[3]):
        return "looks like a run. Are --qrels and --run swapped?"
    if len(fields) == 3 and WHOLE.match(fields[2]):
        return f"has three columns. Judgements have lines of {OF_QRELS}: put a 0 in second place. {AS_TABLE}"
    return ""


def no_guess(line: str) -> str:
    """For files whose format is known."""
    return ""


def raise_all(path: str | Path, errors: ErrorList, guess: Guess, *, has_rows: bool) -> NoReturn:
    """Raises InputErrors with the first errors, or one of them where no line could be read and all have the same
    error.
    """
    if not has_rows and errors.listed[0].line and errors.listed[0].field != LINE_END:
        if guessed := guess(_first_line(path, errors)):
            raise InputError(name_of(path), None, "", "", guessed)
        if len(errors) > 1 and len({(error.field, error.message) for error in errors}) == 1:
            first = min(errors, key=lambda error: error.line or 0)
            raise replace(first, message=f"{first.message} All {len(errors):,} lines have this error.")
    raise all_of(errors)


def _mark_in(line: str) -> str:
    """The separator of the line if it is not white space, in words."""
    return next((words for mark, words in MARKS.items() if line.count(mark) >= 2), "")


def _first_line(path: str | Path, errors: ErrorList) -> str:
    """The first line that is no comment; of input that can be read only once, the first refused one."""
    if str(path) != "-" and Path(path).is_file():
        lines = (line.strip() for line in lines_of(path, name_of(path)))
        first = next((line for line in lines if line and not line.startswith(b"#")), b"")
        return first.decode("utf-8", errors="replace")
    return min(errors, key=lambda error: error.line or 0).value.replace(UNPRINTABLE, "\t")
