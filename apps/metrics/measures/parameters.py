"""The parameters of measures: their meaning and their ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from apps.metrics.measures.notation import Map, MeasureError, Value

DCG_FORMS = ("log2", "exp-log2", "jk")
HIGHEST_GRADE = 60
HIGHEST_GAIN = 1e100


class Parameter(NamedTuple):
    """`words` is for people; `check` returns the canonical value, or raises ValueError with its range."""

    words: str
    check: Callable[[Value], Any]


def checked(name: str, key: str, value: Value) -> Any:
    """The canonical value of a parameter of the measure `name`. Raises MeasureError for an invalid one."""
    try:
        return PARAMETERS[key].check(value)
    except ValueError as error:
        raise MeasureError(f"{key} of {name} {error}.") from None


def _level(value: Value) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("is not a grade from 1")
    return value


def _top(value: Value) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= HIGHEST_GRADE:
        raise ValueError(f"is not a grade from 1 to {HIGHEST_GRADE}")
    return value


def _form(value: Value) -> str:
    if value not in DCG_FORMS:
        raise ValueError(f"is 'log2', 'exp-log2' or 'jk', not '{value}'")
    return str(value)


def _flag(value: Value) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is True or False")
    return value


def _inner_share(value: Value) -> float:
    number = _number(value)
    if not 0 < number < 1:
        raise ValueError("is not a number between 0 and 1")
    return number


def _share(value: Value) -> float:
    number = _number(value)
    if not 0 <= number <= 1:
        raise ValueError("is not a number from 0 to 1")
    return number


def _weight(value: Value) -> float:
    number = _number(value)
    if not 0 <= number < float("inf"):
        raise ValueError("is not a number from 0")
    return number


def _name(value: Value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("is not the name of an attribute, such as 'type'")
    return value


def _rate(value: Value) -> float | Map:
    if not isinstance(value, tuple):
        return _weight(value)
    if not value or not all(isinstance(domain, str) for domain, _ in value):
        raise ValueError("is a rate a day, or one for each domain, such as {'law':0.001,'news':0.1}")
    return tuple((domain, _weight(rate)) for domain, rate in value)


def _gains(value: Value) -> Map:
    if not isinstance(value, tuple) or not all(isinstance(grade, int) for grade, _ in value):
        raise ValueError("is a gain for each grade, such as {1:1,2:3}")
    gains = tuple((grade, _weight(gain)) for grade, gain in value)
    if max((gain for _, gain in gains), default=0.0) > HIGHEST_GAIN:
        raise ValueError(f"has a gain above {HIGHEST_GAIN:g}, which cannot be added up")
    return gains


def _number(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("is not a number")
    return float(value)


PARAMETERS = {
    "alpha": Parameter("how much a facet that was already found is worth less, from 0 to 1; 0.5 unless named", _share),
    "beta": Parameter("weight of recall against precision, 1 unless named", _weight),
    "by": Parameter("the attribute that groups blocks, such as `'type'`; required", _name),
    "dcg": Parameter(
        "`'log2'` for linear gain (the default), `'exp-log2'` for 2^grade − 1, `'jk'` for the first published discount",
        _form,
    ),
    "gains": Parameter("gains in place of grades, such as `{1:1,2:3}`; other grades are their own gain", _gains),
    "judged_only": Parameter("`True` leaves unjudged blocks out of the ranking first (condensed list)", _flag),
    "max_rel": Parameter("the highest grade of the scale, 4 unless named, always written out", _top),
    "p": Parameter("persistence, between 0 and 1; 0.8 unless named, always written out", _inner_share),
    "rate": Parameter(
        "how fast the gain fades a day: one rate, or one for each domain, `{'law':0.001,'news':0.1}`; to be given",
        _rate,
    ),
    "rel": Parameter("the lowest grade that counts as relevant, 1 unless named", _level),
}
