"""Rows of a file of labels, long or wide; separated by commas, tabs or semicolons, plain or gzipped; or Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from apps.common.errors import InputError
from apps.common.files.anytable import packed_rows
from apps.common.files.csvsafe import restore_cell
from apps.common.files.faults import ErrorList
from apps.common.files.parquet import is_parquet
from apps.common.files.tables import opened
from apps.common.files.tabular import TableFile, read_rows
from apps.metrics.files.labels.columns import (
    ITEM,
    RATING,
    SKIP,
    ColumnLayout,
    LabelColumn,
    LabelLayout,
    form_of,
    number_in,
)

NO_HEADING = "if the first line is a row and no heading, add --no-heading and --columns"


def misread(form: ColumnLayout, labels: Sequence[LabelColumn]) -> str:
    """A sentence on a file without `--columns` whose labels cannot be read; "" without a guess."""
    if form.is_long:
        return ""
    names = [name for _, name in form.raters]
    if names_are_labels(names, {label.label for label in labels}):
        return f"its columns are called {', '.join(names)[:200]}, as labels are; {NO_HEADING}."
    words = _columns_of_words(form, labels)
    if not words or len(form.raters) - len(words) < 2:
        return ""
    called = ", ".join(name for place, name in form.raters if place in words)
    noun, clause = ("column", "it has") if len(words) == 1 else ("columns", "they have")
    proposed = ",".join(_roles(form, labels, words))
    return f"{noun} {called}: words, where other columns have numbers. If {clause} no labels, add --columns {proposed}."


def names_are_labels(names: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether annotators have the same names as labels: a first row was then perhaps read as the heading."""
    return set(names) <= set(labels)


def _columns_of_words(form: ColumnLayout, labels: Iterable[LabelColumn]) -> set[int]:
    """The indices of the annotators' columns without any number."""
    words: set[str] = set()
    numbers: set[str] = set()
    for label in labels:
        (words if number_in(label.label) is None else numbers).add(label.annotator)
    return {place for place, name in form.raters if name in words - numbers}


def _roles(form: ColumnLayout, labels: Iterable[LabelColumn], words: set[int]) -> list[str]:
    """The roles to suggest: words right after the item are part of it where its first column does not identify rows."""
    rows = Counter((label.item, label.annotator) for label in labels)
    is_unique = max(rows.values()) == 1
    roles, is_behind_item = [], True
    for place in range(form.width):
        is_behind_item = is_behind_item and (place in form.items or place in words)
        if place in form.items or (place in words and is_behind_item and not is_unique):
            roles.append(ITEM)
        else:
            roles.append(SKIP if place in words else RATING)
    return roles


ID_GLUE = " / "
HEAD_BYTES = 16


def read_labels(path: str | Path, reading: LabelLayout, errors: ErrorList) -> tuple[ColumnLayout, list[LabelColumn]]:
    """The layout of the file and its labels in file order, without missing ones.

    `-` is standard input. Cells are stripped. Errors in rows are added to `errors`; raises InputError for errors of the
    file as a whole, and without any row.
    """
    with opened(path) as (source, delimiter):
        read = packed_rows(source) if is_parquet(source.head(HEAD_BYTES)) else read_rows(source, delimiter=delimiter)
        rows = ((line, [restore_cell(cell.strip()) for cell in row]) for line, row in read)
        first = next(rows, None)
        if first is None:
            raise InputError(source.name, None, "", "", "the file is empty.")
        form = form_of(source.name, *first, reading)
        labels: list[LabelColumn] = []
        for line, cells in rows if reading.has_heading else _again(first, rows):
            if len(cells) != form.width:
                message = f"the row has {len(cells)} cells, the first one {form.width}."
                errors.add(source.error(line, "", cells[0], message))
                continue
            item = ID_GLUE.join(cells[place] for place in form.items) if form.items else f"line {line}"
            if not item.replace(ID_GLUE, ""):
                errors.add(source.error(line, "item", "", "the row names no item."))
                continue
            find = _long_label if form.is_long else _wide_labels
            labels += find(source, line, item, cells, form, reading, errors)
    return form, labels


def _long_label(
    source: TableFile,
    line: int,
    item: str,
    cells: Sequence[str],
    form: ColumnLayout,
    reading: LabelLayout,
    errors: ErrorList,
) -> list[LabelColumn]:
    annotator, label = cells[form.annotator or 0], cells[form.label or 0]
    if not annotator:
        errors.add(source.error(line, "annotator", "", "the row names no annotator."))
        return []
    passed = cells[form.passed] if form.passed is not None else ""
    number = int(passed) if passed.isascii() and passed.isdigit() else 0
    if form.passed is not None and number < 1:
        errors.add(source.error(line, "pass", passed, f"'{passed}' is not a whole number from 1."))
        return []
    return (
        []
        if _is_missing(label, reading)
        else [LabelColumn(line, item, annotator, label, number, _cluster(cells, form))]
    )


def _wide_labels(
    source: TableFile,
    line: int,
    item: str,
    cells: Sequence[str],
    form: ColumnLayout,
    reading: LabelLayout,
    errors: ErrorList,
) -> list[LabelColumn]:
    return [
        LabelColumn(line, item, rater, cells[place], 0, _cluster(cells, form))
        for place, rater in form.raters
        if not _is_missing(cells[place], reading)
    ]


def _cluster(cells: Sequence[str], form: ColumnLayout) -> str:
    return "" if form.cluster is None else cells[form.cluster]


def _is_missing(cell: str, reading: LabelLayout) -> bool:
    return not cell or cell in reading.missing


def _again(first: tuple[int, list[str]], rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    yield first
    yield from rows
