"""Labels as a matrix of items by annotators, and what annotators said when they were asked again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.agreement.coefficients import MISSING, Scale
from apps.agreement.labelfiles.columns import Label
from apps.common.errors import InputError
from apps.common.inputs import ErrorList, fault

Counts = NDArray[np.int64]
NO_ANSWER = {"na", "n/a", "nan", "null", "none", "nil", "-", ".", "*", "?"}


@dataclass(frozen=True)
class Labelling:
    """What a file says about agreement.

    `rated` is items by annotators with the first label of each, as positions in `categories`. `again` has a row for
    each later label of the same item by the same annotator: item, annotator, first position, later position.
    """

    items: tuple[str, ...]
    annotators: tuple[str, ...]
    categories: tuple[str, ...]
    level: str
    scale: Scale
    rated: Counts
    again: Counts

    @property
    def labels(self) -> int:
        """All labels, also those that were given again."""
        return int((self.rated != MISSING).sum()) + len(self.again)

    @property
    def shared(self) -> int:
        """Items that two annotators or more labelled."""
        return int(((self.rated != MISSING).sum(axis=1) >= 2).sum())


def labelling_of(
    name: str,
    labels: Sequence[Label],
    errors: ErrorList,
    *,
    level: str | None = None,
    categories: Sequence[str] = (),
    repeats: str = "refuse",
    annotators: Sequence[str] = (),
) -> Labelling:
    """The labelling of a file's labels. Items and annotators keep the order in which the file first names them.

    `annotators` are those that the file names in its heading, whether they gave a label or not.

    Numbers are ordered by their value, and "1" is "1.0"; words as `categories` lists them where the level is
    ordinal, otherwise they have no order. Without a level numbers are ordinal and words nominal. Mistakes go to
    `errors`; raises InputError when there is no label at all.
    """
    if not labels:
        raise InputError(name, None, "", "", "holds no label.")
    values = _values(name, labels, errors, level, categories)
    is_numeric = values is not None
    keys: list[object] = list(values) if values is not None else [label.label for label in labels]
    order = _order(keys, categories, is_numeric)
    positions = {key: place for place, key in enumerate(order)}
    _refuse_unlisted(name, labels, keys, positions, errors)
    if errors:
        return _empty()
    found = level or ("ordinal" if is_numeric else "nominal")
    items = _numbered(label.item for label in labels)
    people = _numbered([*annotators, *(label.annotator for label in labels)])
    first, again = _first_and_again(name, labels, [positions[key] for key in keys], repeats, errors)
    return Labelling(
        items=tuple(items),
        annotators=tuple(people),
        categories=tuple(_shown(key) for key in order),
        level=found,
        scale=_scale(order, found, is_numeric, bool(categories)),
        rated=_matrix(first, items, people),
        again=np.array(
            [(items[item], people[who], one, other) for item, who, one, other in again], dtype=np.int64
        ).reshape(-1, 4),
    )


def _values(
    name: str, labels: Sequence[Label], errors: ErrorList, level: str | None, categories: Sequence[str]
) -> list[float] | None:
    """The labels as numbers; None where they are words. Those that should be numbers and are not become errors."""
    numbers = {text: number_in(text) for text in {*(label.label for label in labels), *categories}}
    words = {text for text, value in numbers.items() if value is None}
    if not words:
        if level == "ratio":
            _refuse_negative(name, labels, errors)
        return [numbers[label.label] or 0.0 for label in labels]
    wants_words = level == "nominal" or (level == "ordinal" and categories) or (level is None and categories)
    if wants_words or (level is None and len(words) == len(numbers)):
        return None
    for label in labels:
        if label.label in words:
            errors.add(fault(name, label.line, "label", label.label, _not_a_number(label.label, level)))
    return None


def _not_a_number(text: str, level: str | None) -> str:
    shown = f"'{text}' is not a number"
    if level is None:
        return (
            f"{shown} as others are. If it means no answer, add --missing {text}; if it is a category, --level nominal."
        )
    if level == "ordinal":
        return f"{shown}. Words take their order from --categories LOWEST,…,HIGHEST; no answer is --missing {text}."
    return f"{shown}, which the {level} level needs. If it means no answer, add --missing {text}."


def _refuse_negative(name: str, labels: Sequence[Label], errors: ErrorList) -> None:
    for label in labels:
        if (number_in(label.label) or 0.0) < 0:
            errors.add(
                fault(name, label.line, "label", label.label, f"'{label.label}' is below 0; ratios start there.")
            )


def number_in(text: str) -> float | None:
    """The finite number that a text is; None for any other text."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _order(keys: Sequence[object], categories: Sequence[str], is_numeric: bool) -> list[object]:
    listed: list[object] = [number_in(text) for text in categories] if is_numeric else list(categories)
    found = set(listed or keys)
    if is_numeric:
        return sorted(found, key=lambda value: value if isinstance(value, float) else 0.0)
    return list(dict.fromkeys(listed)) or sorted(found, key=str)


def _refuse_unlisted(
    name: str, labels: Sequence[Label], keys: Sequence[object], positions: dict[object, int], errors: ErrorList
) -> None:
    for label, key in zip(labels, keys, strict=True):
        if key not in positions:
            listed = ", ".join(_shown(known) for known in positions)
            said = f"'{label.label}' is not one of the categories {listed}."
            errors.add(fault(name, label.line, "label", label.label, said))


def _scale(order: Sequence[object], level: str, is_numeric: bool, is_listed: bool) -> Scale:
    if is_numeric:
        return Scale(len(order), tuple(value for value in order if isinstance(value, float)), is_numeric=True)
    if level == "ordinal" and is_listed:
        return Scale(len(order), tuple(float(place) for place in range(len(order))))
    return Scale(len(order))


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _first_and_again(
    name: str, labels: Sequence[Label], places: Sequence[int], repeats: str, errors: ErrorList
) -> tuple[dict[tuple[str, str], int], list[tuple[str, str, int, int]]]:
    """The first label of each item by each annotator, and (item, annotator, first, later) for those given again."""
    given: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for label, place in zip(labels, places, strict=True):
        own = given.setdefault((label.item, label.annotator), [])
        earlier = next((line for number, line, _ in own if number == label.pass_number), None)
        if earlier is not None and (label.pass_number or repeats == "refuse"):
            errors.add(fault(name, label.line, "item", label.item, _said_again(label, earlier)))
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


def _said_again(label: Label, line: int) -> str:
    found = f"'{label.annotator}' labelled '{label.item}' in line {line} already"
    if label.pass_number:
        return f"{found}, also in pass {label.pass_number}."
    return f"{found}. A column pass tells them apart; --repeats passes, first or last says what they are."


def _matrix(first: dict[tuple[str, str], int], items: dict[str, int], annotators: dict[str, int]) -> Counts:
    rated = np.full((len(items), len(annotators)), MISSING, dtype=np.int64)
    rows = np.array([items[item] for item, _ in first], dtype=np.int64)
    columns = np.array([annotators[who] for _, who in first], dtype=np.int64)
    rated[rows, columns] = np.array(list(first.values()), dtype=np.int64)
    return rated


def _shown(key: object) -> str:
    return f"{key:g}" if isinstance(key, float) and f"{key:g}" == repr(key).removesuffix(".0") else str(key)


def _empty() -> Labelling:
    nothing = np.zeros((0, 0), dtype=np.int64)
    return Labelling((), (), (), "nominal", Scale(0), nothing, np.zeros((0, 4), dtype=np.int64))


def remarks_on(labelling: Labelling) -> list[str]:
    """What a person would want to know before trusting the figures."""
    found = []
    for category in labelling.categories:
        if category.lower() in NO_ANSWER:
            said = f"'{category}' is counted as a category; if it means no answer, add --missing {category}."
            found.append(said)
    gaps = _gaps(labelling)
    if gaps:
        said = f"no label is {', '.join(gaps)}; if the scale has it, list all of it with --categories for Gwet's AC."
        found.append(said)
    folded: dict[str, str] = {}
    for name in (*labelling.annotators, *labelling.items):
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            found.append(f"'{other}' and '{name}' differ in upper and lower case only, and are taken for two.")
            break
    return found


def _gaps(labelling: Labelling) -> list[str]:
    """Whole numbers that lie between the labels and that nobody gave; none where there are many or other numbers."""
    values = labelling.scale.values if labelling.scale.is_numeric else None
    if not values or any(value % 1 for value in values) or values[-1] - values[0] > 12:
        return []
    missing = set(range(int(values[0]), int(values[-1]) + 1)) - {int(value) for value in values}
    return [str(value) for value in sorted(missing)]
