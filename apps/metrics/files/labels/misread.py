"""Detects a wide file that was read in the wrong way, for one message instead of an error for each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from apps.metrics.files.labels.columns import ITEM, RATING, SKIP, ColumnLayout, LabelColumn
from apps.metrics.files.labels.meaning import number_in

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
