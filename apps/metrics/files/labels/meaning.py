"""The meaning of labels: numbers or words, their order, and the categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from apps.common.files.faults import ErrorList, fault
from apps.metrics.agreement.overall import Scale
from apps.metrics.files.labels.columns import LabelLayout

Texts = Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Meaning:
    """The level and the categories of labels, and for each label the index of its category."""

    level: str
    categories: tuple[str, ...]
    scale: Scale
    places: list[int]


def meaning_of(name: str, labels: Texts, errors: ErrorList, reading: LabelLayout) -> Meaning | None:
    """The meaning of these (line, label) pairs; None where some are invalid, with the reasons in `errors`.

    Numbers are in order of value, and "1" is "1.0"; words as `reading` lists the categories where the level is ordinal,
    otherwise they have no order. Without a level numbers are ordinal and words nominal.
    """
    values = _values(name, labels, errors, reading)
    is_numeric = values is not None
    keys: list[object] = list(values) if values is not None else [label for _, label in labels]
    order = _order(keys, reading.categories, is_numeric)
    positions = {key: place for place, key in enumerate(order)}
    _refuse_unlisted(name, labels, keys, positions, errors)
    if errors:
        return None
    level = reading.level or ("ordinal" if is_numeric else "nominal")
    shown = tuple(_shown(key) for key in order)
    scale = _scale(order, level, is_numeric, bool(reading.categories))
    return Meaning(level, shown, scale, [positions[key] for key in keys])


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


def number_in(text: str) -> float | None:
    """The finite number in a text; None for any other text."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


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
