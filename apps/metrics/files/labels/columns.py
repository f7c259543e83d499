"""The columns of a file of labels, from its heading or from options, and what its labels mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from apps.common.errors import InputError
from apps.common.files.faults import ErrorList, fault
from apps.common.files.field_names import BLOCK, OF_ALL, QUERY, plain_name
from apps.common.files.field_names import ITEM as ITEMS
from apps.common.files.numbers import number_in
from apps.metrics.agreement.overall import Scale

ITEM, ANNOTATOR, LABEL, PASS, RATING, SKIP = "item", "annotator", "label", "pass", "rating", "skip"
ROLES = (ITEM, ANNOTATOR, LABEL, PASS, RATING, SKIP)
LONG = (ITEM, ANNOTATOR, LABEL)
# Names of the columns of long files, in lower case; the first name is the documented one.
NAMES = {
    ITEM: ITEMS,
    ANNOTATOR: (ANNOTATOR, "annotator_id", "rater", "rater_id", "worker", "worker_id", "judge", "assessor", "coder"),
    LABEL: (LABEL, "rating", "grade", "judgement", "judgment"),
}
# Columns that together identify an item where no single one does: a query, and a block.
PAIR = (QUERY, (*BLOCK, "doc"))
WEIGHTS = {"weight", "weights", "weighting"}
REPEATS = ("refuse", "passes", "first", "last")


class LabelColumn(NamedTuple):
    """One label in a file. Passes count from 1; 0 where the file has no such column. `cluster` is that of the item."""

    line: int
    item: str
    annotator: str
    label: str
    pass_number: int
    cluster: str = ""


@dataclass(frozen=True)
class LabelLayout:
    """How to read a file.

    `columns` gives a role to each column, from the left; by default the heading does. `missing` are the cells that mean
    no label, besides empty ones. `repeats` decides about an annotator's second label of an item without a pass: refuse,
    read them as passes in file order, keep the first or the last. `level` is that of the labels, and `categories` all
    possible ones; None and empty where both are derived from the labels. `cluster` is the name of the column that items
    are clustered by: None for the one that has a query's name, "" for none.
    """

    columns: tuple[str, ...] = ()
    has_heading: bool = True
    missing: frozenset[str] = frozenset()
    repeats: str = "refuse"
    level: str | None = None
    categories: tuple[str, ...] = ()
    cluster: str | None = None


@dataclass(frozen=True)
class ColumnLayout:
    """The columns of a file. A long file has one label a row, a wide one a column for each of its `raters`.

    `unread` names the columns of a long file without a role in its heading, except those marked to skip. `cluster` is
    the column that items are clustered by, as `cluster_name`.
    """

    width: int
    items: tuple[int, ...]
    annotator: int | None = None
    label: int | None = None
    passed: int | None = None
    raters: tuple[tuple[int, str], ...] = ()
    unread: tuple[str, ...] = ()
    cluster: int | None = None
    cluster_name: str = ""

    @property
    def is_long(self) -> bool:
        return self.label is not None

    def remarks(self) -> list[str]:
        """Warnings about columns that are in no figure."""
        if not self.unread:
            return []
        subject = "this column is" if len(self.unread) == 1 else "these columns are"
        weights = any(name.lower() in WEIGHTS for name in self.unread)
        alike = "; every label counts alike, so no weight is in a figure" if weights else ""
        return [f"{subject} not read: {', '.join(self.unread)[:200]}{alike}."]


def form_of(name: str, line: int, first: Sequence[str], reading: LabelLayout) -> ColumnLayout:
    """The layout of a file, from its first row. Raises InputError where that is incomplete or ambiguous."""
    cells = [cell.strip() for cell in first]
    names = cells if reading.has_heading else [f"column {place}" for place in range(1, len(cells) + 1)]
    return _clustered(name, line, names, _form(name, line, cells, reading), reading)


def _clustered(name: str, line: int, names: Sequence[str], form: ColumnLayout, reading: LabelLayout) -> ColumnLayout:
    """The layout with the column of the clusters, which is then nobody's label."""
    taken = {form.annotator, form.label, form.passed} - {None}
    if reading.columns:
        taken |= {place for place, _ in form.raters}
    if reading.cluster:
        places = [place for place, own in enumerate(names) if own.lower() == reading.cluster.lower()]
        if not places:
            message = f"no column is called '{reading.cluster}'; the file has {', '.join(names)[:200]}."
            raise InputError(name, line, "--cluster", reading.cluster, message)
        if places[0] in taken:
            message = f"'{reading.cluster}' has another role already; --cluster names a column of queries or the like."
            raise InputError(name, line, "--cluster", reading.cluster, message)
    else:
        is_asked = reading.cluster is None
        places = [place for place, own in enumerate(names) if is_asked and plain_name(own) in QUERY]
        if len(places) != 1 or places[0] in taken or form.items == (places[0],):
            return form
    return replace(
        form,
        cluster=places[0],
        cluster_name=names[places[0]],
        raters=_enough(name, line, tuple(rater for rater in form.raters if rater[0] != places[0]), form),
        unread=tuple(own for own in form.unread if own != names[places[0]]),
    )


def _form(name: str, line: int, cells: Sequence[str], reading: LabelLayout) -> ColumnLayout:
    if reading.columns:
        return _from_roles(name, line, cells, reading)
    if not reading.has_heading:
        raise InputError(name, None, "", "", "without a heading, --columns must give each column a role.")
    if len(cells) == 1 and "|" in cells[0]:
        raise InputError(name, line, "", "", "the file is divided by |; write commas, tabs or semicolons instead.")
    doubled = [cell for place, cell in enumerate(cells) if cell in cells[:place]]
    if doubled:
        message = f"two columns are called '{doubled[0]}'; a file without a heading needs --no-heading and --columns."
        raise InputError(name, line, "", doubled[0], message)
    lower = [cell.lower() for cell in cells]
    places = {role: _place_of(name, line, role, lower) for role in LONG}
    items = _items_in(lower, places[ITEM])
    lacking = [role for role, place in places.items() if place is None and not (role == ITEM and items)]
    if not lacking:
        passed = lower.index(PASS) if PASS in lower else None
        read = {*items, places[ANNOTATOR], places[LABEL], passed}
        unread = tuple(cell or f"column {place}" for place, cell in enumerate(cells, 1) if place - 1 not in read)
        return ColumnLayout(len(cells), items, places[ANNOTATOR], places[LABEL], passed, unread=unread)
    if LABEL in lower or places[ANNOTATOR] is not None or lacking == [ITEM]:
        message = f"this column is missing; looked for {', '.join(NAMES[lacking[0]])}; the file has "
        raise InputError(name, line, lacking[0], "", f"{message}{', '.join(cells)[:200]}.")
    items = items if len(items) > 1 else (0,)
    left = [(place, cell) for place, cell in enumerate(cells) if place not in items]
    raters = tuple((place, cell) for place, cell in left if OF_ALL.isdisjoint(plain_name(cell).split("_")))
    unread = tuple(cell for place, cell in left if (place, cell) not in raters)
    return replace(_wide(name, line, len(cells), items, raters), unread=unread)


def _items_in(lower: Sequence[str], own: int | None) -> tuple[int, ...]:
    """The columns that together identify the item: its own, else those of the query and of the block; or none."""
    if own is not None:
        return (own,)
    columns = [[place for place, cell in enumerate(lower) if cell in names] for names in PAIR]
    return tuple(places[0] for places in columns) if all(len(places) == 1 for places in columns) else ()


def _place_of(name: str, line: int, role: str, lower: Sequence[str]) -> int | None:
    """The column of a role, None without one: the one with its name, or else with another of its names."""
    matches = [own for own in NAMES[role] if own in lower]
    if len(matches) > 1 and role not in matches:
        message = f"{matches[0]} and {matches[1]} may both be the {role}; --columns gives each column a role."
        raise InputError(name, line, role, "", message)
    return lower.index(matches[0]) if matches else None


def _from_roles(name: str, line: int, cells: Sequence[str], reading: LabelLayout) -> ColumnLayout:
    roles = reading.columns
    if len(roles) != len(cells):
        message = f"the row has {len(cells)} columns, --columns names {len(roles)}."
        raise InputError(name, line, "", "", message)
    places = {role: [place for place, own in enumerate(roles) if own == role] for role in ROLES}
    for role in (ANNOTATOR, LABEL, PASS):
        if len(places[role]) > 1:
            raise InputError(name, None, "", role, f"--columns names {role} twice; only one column can have it.")
    if places[RATING]:
        if places[ANNOTATOR] or places[LABEL] or places[PASS]:
            message = "--columns names rating, for a wide file, together with annotator, label or pass, for a long one."
            raise InputError(name, None, "", "", message)
        names = cells if reading.has_heading else [f"column {place}" for place in range(1, len(cells) + 1)]
        raters = tuple((place, names[place]) for place in places[RATING])
        return _wide(name, line, len(cells), tuple(places[ITEM]), raters)
    lacking = [role for role in LONG if not places[role]]
    if lacking:
        raise InputError(name, None, "", "", f"--columns names no {lacking[0]}.")
    passed = places[PASS][0] if places[PASS] else None
    return ColumnLayout(len(cells), tuple(places[ITEM]), places[ANNOTATOR][0], places[LABEL][0], passed)


def _wide(
    name: str, line: int, width: int, items: tuple[int, ...], raters: tuple[tuple[int, str], ...]
) -> ColumnLayout:
    form = ColumnLayout(width, items, raters=raters)
    _enough(name, line, raters, form)
    unnamed = next((place for place, rater in raters if not rater), None)
    if unnamed is not None:
        raise InputError(name, line, "", "", f"column {unnamed + 1} has no name.")
    return form


def _enough(
    name: str, line: int, raters: tuple[tuple[int, str], ...], form: ColumnLayout
) -> tuple[tuple[int, str], ...]:
    """The raters of a wide file. Raises InputError for fewer than two."""
    if len(raters) < 2 and not form.is_long:
        message = (
            "agreement takes two annotators: a long file has the columns item, annotator, label, a wide one the item "
            "first and then a column for each annotator. --columns names others."
        )
        raise InputError(name, line, "", "", message)
    return raters


Texts = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Meaning:
    """The level and the categories of labels, and for each label the index of its category.

    `spellings` has the other spellings of each word that count as the one before them.
    """

    level: str
    categories: tuple[str, ...]
    scale: Scale
    places: list[int]
    spellings: tuple[tuple[str, ...], ...] = ()


def meaning_of(name: str, labels: Texts, errors: ErrorList, reading: LabelLayout) -> Meaning | None:
    """The meaning of these (line, label) pairs; None where some are invalid, with the reasons in `errors`.

    Numbers are in order of value, and "1" is "1.0"; words as `reading` lists the categories where the level is ordinal,
    otherwise they have no order. Without a level numbers are ordinal and words nominal. Words that differ in case and
    blanks alone are one, in their first spelling or that of a category that is listed, unless two such are listed.
    """
    values = _values(name, labels, errors, reading)
    is_numeric = values is not None
    spellings = {} if is_numeric else _spellings([label for _, label in labels], reading.categories)
    keys: list[object] = list(values) if values is not None else [spellings[label] for _, label in labels]
    order = _order(keys, reading.categories, is_numeric)
    positions = {key: place for place, key in enumerate(order)}
    _refuse_unlisted(name, labels, keys, positions, errors)
    if errors:
        return None
    level = reading.level or ("ordinal" if is_numeric else "nominal")
    shown = tuple(_shown(key) for key in order)
    scale = _scale(order, level, is_numeric, bool(reading.categories))
    alike: dict[str, list[str]] = {}
    for label, word in spellings.items():
        if label != word:
            alike.setdefault(word, [word]).append(label)
    return Meaning(level, shown, scale, [positions[key] for key in keys], tuple(map(tuple, alike.values())))


def _spellings(labels: Sequence[str], listed: Sequence[str]) -> dict[str, str]:
    """The one spelling of each label."""
    folded: dict[str, str] = {}
    for word in (*listed, *labels):
        folded.setdefault(_folded(word), word)
    exact = set(listed) if len({_folded(word) for word in listed}) < len(set(listed)) else set()
    return {label: label if label in exact else folded[_folded(label)] for label in labels}


def _folded(word: str) -> str:
    return " ".join(word.split()).casefold()


def _values(name: str, labels: Texts, errors: ErrorList, reading: LabelLayout) -> list[float] | None:
    """The labels as numbers; None where they are words. Labels that must be numbers and are not become errors."""
    level, categories = reading.level, reading.categories
    numbers = {text: number_in(text) for text in {*(label for _, label in labels), *categories}}
    words = {text for text, value in numbers.items() if value is None}
    if not words:
        if level == "ratio":
            _refuse_negative(name, labels, errors)
        return [numbers[label] or 0.0 for _, label in labels]
    wants_words = level == "nominal" or (level == "ordinal" and categories) or (level is None and categories)
    if wants_words or (level is None and len(words) == len(numbers)):
        return None
    for line, label in labels:
        if label in words:
            errors.add(fault(name, line, "label", label, _not_a_number(label, level)))
    return None


def _not_a_number(text: str, level: str | None) -> str:
    shown = f"'{text}' is not a number"
    if level is None:
        return (
            f"{shown} as others are. If it means no answer, add --missing {text}; if it is a category, "
            "--level nominal; if its column contains no labels, --columns gives each column a role."
        )
    if level == "ordinal":
        return f"{shown}. Words take their order from --categories LOWEST,…,HIGHEST; no answer is --missing {text}."
    return f"{shown}, which the {level} level needs. If it means no answer, add --missing {text}."


def _refuse_negative(name: str, labels: Texts, errors: ErrorList) -> None:
    for line, label in labels:
        if (number_in(label) or 0.0) < 0:
            errors.add(fault(name, line, "label", label, f"'{label}' is below 0; ratios start there."))


def _order(keys: Sequence[object], categories: Sequence[str], is_numeric: bool) -> list[object]:
    listed: list[object] = [number_in(text) for text in categories] if is_numeric else list(categories)
    values = set(listed or keys)
    if is_numeric:
        return sorted(values, key=lambda value: value if isinstance(value, float) else 0.0)
    return list(dict.fromkeys(listed)) or sorted(values, key=str)


def _refuse_unlisted(
    name: str, labels: Texts, keys: Sequence[object], positions: dict[object, int], errors: ErrorList
) -> None:
    for (line, label), key in zip(labels, keys, strict=True):
        if key not in positions:
            listed = ", ".join(_shown(known) for known in positions)
            message = f"'{label}' is not one of the categories {listed}."
            errors.add(fault(name, line, "label", label, message))


def _scale(order: Sequence[object], level: str, is_numeric: bool, is_listed: bool) -> Scale:
    if is_numeric:
        return Scale(len(order), tuple(value for value in order if isinstance(value, float)), is_numeric=True)
    if level == "ordinal" and is_listed:
        return Scale(len(order), tuple(float(place) for place in range(len(order))))
    return Scale(len(order))


def _shown(key: object) -> str:
    return str(int(key)) if isinstance(key, float) and key.is_integer() else str(key)
