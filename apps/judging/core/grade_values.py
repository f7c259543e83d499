"""How the grades of a table are read on a project's scale: numbers of another range, and words for grades."""

import re
from collections.abc import Iterable, Mapping, Sequence

_NUMBER = re.compile(r"[+-]?[0-9]{1,4}(?:[.,][0-9]{1,3})?\Z")
TOPS = (4, 5, 6, 7, 10, 100)
WORDS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (
        0.0,
        (
            "no", "none", "not relevant", "irrelevant", "non relevant", "bad", "poor", "off topic", "false", "n",
            "wrong", "not", "nein", "nicht relevant", "unrelated", "useless", "fail",
        ),
    ),
    (
        0.5,
        (
            "partly", "partial", "partially", "partially relevant", "partly relevant", "somewhat", "somewhat relevant",
            "related", "fair", "maybe", "ok", "okay", "marginal", "marginally relevant", "teilweise", "medium", "mixed",
        ),
    ),
    (0.75, ("good", "relevant but not best", "mostly", "mostly relevant", "substantial", "gut")),
    (
        1.0,
        (
            "yes", "relevant", "perfect", "exact", "fully", "full", "highly relevant", "very relevant", "excellent",
            "complete", "completely", "true", "y", "right", "best", "ja", "vital", "ideal", "answers", "pass",
        ),
    ),
)  # fmt: skip


def number_in(value: str) -> float | None:
    """The number that a grade of the file is, with a decimal point or comma; None for words."""
    return float(value.replace(",", ".")) if _NUMBER.match(value.strip()) else None


def is_same_grade(value: str, grade: str) -> bool:
    """Whether a grade of the file is ours as it is, also when the file writes 1 as 1.0."""
    return value == grade or (number_in(value) is not None and number_in(value) == number_in(grade))


def is_grade_word(value: str) -> bool:
    return _plain(value) in _SHARES


def propose_grades(values: Iterable[str], scale: Mapping[int, str]) -> dict[str, str]:
    """A grade of the scale for each value that has an obvious one; values without one are left out of the map.

    Whole numbers of the scale are themselves. Numbers of another range are spread over the scale, between two grades
    the lower; a number below 0 is a code, which has no obvious grade. Names of the scale's grades, and usual words for
    yes, partly and no, are those grades. `scale` maps our grades to their names.
    """
    values = list(dict.fromkeys(value.strip() for value in values if value.strip()))
    names = {_plain(name): grade for grade, name in scale.items()}
    numbers = {value: number for value in values if (number := number_in(value)) is not None}
    numbers = {value: number for value, number in numbers.items() if number >= 0}
    by_number = _on_scale(list(numbers.values()), sorted(scale)) if numbers else {}
    proposed: dict[str, str] = {}
    for value in values:
        if value in numbers:
            proposed[value] = str(by_number[numbers[value]])
        elif (plain := _plain(value)) in names:
            proposed[value] = str(names[plain])
        elif plain in _SHARES:
            proposed[value] = str(_at(_SHARES[plain], sorted(scale)))
    return proposed


def _on_scale(numbers: Sequence[float], grades: Sequence[int]) -> dict[float, int]:
    if all(number in grades for number in numbers):
        return {number: int(number) for number in numbers}
    low, high = min(numbers), max(numbers)
    if all(number.is_integer() for number in numbers):
        low = min(low, 1)
        high = next((top for top in TOPS if top >= high), high)
    return {number: _at((number - low) / (high - low) if high > low else 0, grades) for number in numbers}


def _at(share: float, grades: Sequence[int]) -> int:
    """The grade at this share of the scale; between two grades the lower."""
    place = share * (len(grades) - 1)
    return grades[int(place + 0.5 - 1e-9)]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.replace("_", " ").casefold()))


_SHARES = {_plain(word): share for share, words in WORDS for word in words}
