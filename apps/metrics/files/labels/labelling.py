"""Labels as a matrix of items by annotators, and repeated labels by one annotator, read from a file.

The file is long or wide; separated by commas, tabs or semicolons, plain or gzipped; or Parquet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from apps.common.errors import InputError
from apps.common.files.anytable import packed_rows
from apps.common.files.csvsafe import restore_cell
from apps.common.files.faults import ErrorList, fault
from apps.common.files.parquet import is_parquet
from apps.common.files.tables import opened
from apps.common.files.tabular import TableFile, read_rows
from apps.metrics.agreement.counting import MISSING
from apps.metrics.agreement.overall import Scale
from apps.metrics.agreement.results import FEWEST_CLUSTERS
from apps.metrics.files.labels.columns import (
    ITEM,
    RATING,
    SKIP,
    ColumnLayout,
    LabelColumn,
    LabelLayout,
    form_of,
    meaning_of,
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
            if reading.has_heading and cells == first[1]:
                errors.add(source.error(line, "", cells[0], "the row repeats the heading; remove it."))
                continue
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


Counts = NDArray[np.int64]
FEWEST_LABELS = 3
"""How many may be all different without a word."""
NO_ANSWER = {"na", "n/a", "nan", "null", "none", "nil", "-", ".", "*", "?"}


@dataclass(frozen=True)
class Labelling:
    """The labels of a file.

    `rated` is items by annotators with the first label of each, as positions in `categories`. `again` has a row for
    each later label of the same item by the same annotator: item, annotator, first position, later position.
    `clusters` has the number of each item's cluster where the column `cluster_name` names one; an item without is one
    of its own. `spellings` has other spellings of a category behind the one that they count as.
    """

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    categories: tuple[str, ...]
    level: str
    scale: Scale
    rated: Counts
    again: Counts
    clusters: Counts | None = None
    cluster_name: str = ""
    spellings: tuple[tuple[str, ...], ...] = ()

    @property
    def cluster_count(self) -> int | None:
        return None if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def labels(self) -> int:
        """The number of labels, including repeated ones."""
        return int((self.rated != MISSING).sum()) + len(self.again)

    @property
    def shared(self) -> int:
        """The number of items labelled by two annotators or more."""
        return int(((self.rated != MISSING).sum(axis=1) >= 2).sum())


def labelling_of(
    name: str,
    labels: Sequence[LabelColumn],
    errors: ErrorList,
    reading: LabelLayout,
    annotators: Iterable[str] = (),
    cluster_name: str = "",
) -> Labelling | None:
    """The labelling of a file's labels; None where they have errors, which are added to `errors`.

    Items and annotators are in order of first mention in the file. `annotators` are those of its heading, with or
    without labels; `cluster_name` is that of the column of clusters, if any. Raises InputError without any label.
    """
    if not labels:
        raise InputError(name, None, "", "", "contains no label.")
    meaning = meaning_of(name, [(label.line, label.label) for label in labels], errors, reading)
    if meaning is None:
        return None
    items = _numbered(label.item for label in labels)
    people = _numbered([*annotators, *(label.annotator for label in labels)])
    first, again = _first_and_again(name, labels, meaning.places, reading.repeats, errors)
    later = [(items[item], people[who], one, other) for item, who, one, other in again]
    return Labelling(
        items=tuple(items),
        annotators=tuple(people),
        categories=meaning.categories,
        level=meaning.level,
        scale=meaning.scale,
        rated=_matrix(first, items, people),
        again=np.array(later, dtype=np.int64).reshape(-1, 4),
        clusters=_clusters(name, labels, items, errors, cluster_name) if cluster_name else None,
        cluster_name=cluster_name,
        spellings=meaning.spellings,
    )


def _clusters(
    name: str, labels: Sequence[LabelColumn], items: Iterable[str], errors: ErrorList, cluster_name: str
) -> Counts:
    """The number of each item's cluster, in order of first mention."""
    first: dict[str, LabelColumn] = {}
    for label in labels:
        known = first.setdefault(label.item, label)
        if label.cluster != known.cluster:
            both = f"'{label.cluster}' here and '{known.cluster}' in line {known.line}"
            message = f"'{label.item}' has {both}; an item is in one cluster, or --no-cluster."
            errors.add(fault(name, label.line, cluster_name, label.cluster, message))
    owns = [first[item].cluster or (item,) for item in items]
    places = {own: place for place, own in enumerate(dict.fromkeys(owns))}
    return np.array([places[own] for own in owns], dtype=np.int64)


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _first_and_again(
    name: str, labels: Sequence[LabelColumn], places: Sequence[int], repeats: str, errors: ErrorList
) -> tuple[dict[tuple[str, str], int], list[tuple[str, str, int, int]]]:
    """The first label of each item by each annotator, and (item, annotator, first, later) for repeated ones."""
    given: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for label, place in zip(labels, places, strict=True):
        own = given.setdefault((label.item, label.annotator), [])
        earlier = next((line for number, line, _ in own if number == label.pass_number), None)
        if earlier is not None and (label.pass_number or repeats == "refuse"):
            errors.add(fault(name, label.line, "item", label.item, _repeat_words(label, earlier)))
        elif earlier is None or repeats == "passes":
            own.append((label.pass_number, label.line, place))
        elif repeats == "last":
            own[0] = (label.pass_number, label.line, place)
    first, again = {}, []
    for (item, who), own in given.items():
        (_, _, one), *later = sorted(own)
        first[item, who] = one
        again += [(item, who, one, other) for _, _, other in later]
    return first, again


def _repeat_words(label: LabelColumn, line: int) -> str:
    repeat = f"'{label.annotator}' labelled '{label.item}' in line {line} already"
    if label.pass_number:
        return f"{repeat}, also in pass {label.pass_number}."
    return f"{repeat}. Add a column pass, or choose --repeats passes, first or last."


def _matrix(first: dict[tuple[str, str], int], items: dict[str, int], annotators: dict[str, int]) -> Counts:
    rated = np.full((len(items), len(annotators)), MISSING, dtype=np.int64)
    rows = np.array([items[item] for item, _ in first], dtype=np.int64)
    columns = np.array([annotators[who] for _, who in first], dtype=np.int64)
    rated[rows, columns] = np.array(list(first.values()), dtype=np.int64)
    return rated


def remarks_on(labelling: Labelling) -> list[str]:
    """What intervals are over, and warnings about what limits the figures."""
    remarks = _cluster_remarks(labelling)
    for word, *others in labelling.spellings:
        written = ", ".join(f"'{other}'" for other in others)
        remarks.append(f"{written} counts as '{word}'; to keep them apart, list both with --categories."[:400])
    for category in labelling.categories:
        if category.lower() in NO_ANSWER:
            message = f"'{category}' is counted as a category; if it means no answer, add --missing {category}."
            remarks.append(message)
    gaps = _gaps(labelling)
    if gaps:
        message = f"no label is {', '.join(gaps)}; if the scale has it, list all of it with --categories for Gwet's AC."
        remarks.append(message)
    if not set(labelling.annotators).isdisjoint(labelling.categories):
        remarks.append(f"annotators are called {', '.join(labelling.annotators)[:200]}, as labels are; {NO_HEADING}.")
    elif len(labelling.categories) == labelling.labels > FEWEST_LABELS:
        remarks.append(f"no label occurs twice; {NO_HEADING}.")
    folded: dict[str, str] = {}
    for name in (*labelling.annotators, *labelling.items):
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            remarks.append(f"'{other}' and '{name}' differ in upper and lower case only, and count as two.")
            break
    return remarks


def _cluster_remarks(labelling: Labelling) -> list[str]:
    count = labelling.cluster_count
    if count is None:
        return []
    remarks = [
        f"intervals are over the {count:,} clusters of column {labelling.cluster_name}; --no-cluster: over items."
    ]
    if count < FEWEST_CLUSTERS:
        remarks.append(
            f"{count} clusters are too few for a trustworthy interval; {FEWEST_CLUSTERS} or more are enough."
        )
    return remarks


def _gaps(labelling: Labelling) -> list[str]:
    """Whole numbers between the labels that nobody gave; empty where there are many, or other numbers."""
    values = labelling.scale.values if labelling.scale.is_numeric else None
    if not values or any(value % 1 for value in values) or values[-1] - values[0] > 12:
        return []
    missing = set(range(int(values[0]), int(values[-1]) + 1)) - {int(value) for value in values}
    return [str(value) for value in sorted(missing)]
