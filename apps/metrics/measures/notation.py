"""Measures as text, in the notation of ir-measures: `nDCG@10`, `P(rel=2)@5`, `nDCG(dcg='exp-log2')@10`.

MacAvaney, Macdonald, Ounis, "Streamlining Evaluation with ir-measures", ECIR 2022. This module parses the grammar
and checks the values of parameters; names and cutoffs are in `registry`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# A value for each of several grades or names, as pairs in the order of the keys: `{1:1,2:3}`.
Map = tuple[tuple[int | str, float], ...]
Value = int | float | str | bool | Map

MAX_TEXT = 200
SHAPE = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_.-]*)(?:\((?P<params>.*)\))?(?:@(?P<cutoff>[^@()]*))?", re.S)
PARAMETER = re.compile(
    r"\s*(?P<key>[a-z_]+)\s*=\s*"
    r"(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|\{(?P<map>[^{}]*)\}|(?P<bare>[^,'\"{}\s]+))\s*(?:,|\Z)"
)
PAIR = re.compile(
    r"\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\"|(?P<whole>-?[0-9]{1,9}))\s*:\s*(?P<value>[^,:'\"\s]+)\s*(?:,|\Z)",
    re.A,
)
WHOLE = re.compile(r"[0-9]{1,9}", re.A)


class MeasureError(ValueError):
    """A measure that does not exist or is not well formed; the text is a sentence for its author."""


class MeasureErrors(MeasureError):
    """Several measures of a list that do not exist or are not well formed, a sentence each."""

    def __init__(self, faults: Sequence[MeasureError]) -> None:
        super().__init__(" ".join(map(str, faults)))
        self.faults = tuple(faults)


def faults_of(error: MeasureError) -> Sequence[MeasureError]:
    """The single errors in an error."""
    return error.faults if isinstance(error, MeasureErrors) else (error,)


class WrittenMeasure(NamedTuple):
    """The parts of a measure as written, not yet validated."""

    name: str
    parameters: dict[str, Value]
    cutoff: int | None


def take_apart(text: str) -> WrittenMeasure:
    """Name, parameters and cutoff of one measure. Raises MeasureError when the text has another shape."""
    text = text.strip()
    if len(text) > MAX_TEXT:
        raise MeasureError(f"A measure of {len(text)} characters is too long.")
    match = SHAPE.fullmatch(text)
    if match is None:
        raise MeasureError(f"'{text}' is not written like a measure, such as nDCG@10 or P(rel=2)@5.")
    return WrittenMeasure(match["name"], _parameters(match["params"], text), _cutoff(match["cutoff"], text))


def split_measures(text: str) -> list[str]:
    """The single measures of a list separated by spaces or commas outside brackets and quotes."""
    pieces, piece, depth, quote = [], "", 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        if depth <= 0 and not quote and (letter.isspace() or letter == ","):
            pieces.append(piece)
            piece = ""
        else:
            piece += letter
    return [piece for piece in [*pieces, piece] if piece]


def written(name: str, parameters: dict[str, Value], cutoff: int | None) -> str:
    """The canonical spelling of a measure: parameters by name, strings in single quotes, no spaces."""
    inside = ",".join(f"{key}={_quoted(value)}" for key, value in sorted(parameters.items()))
    text = f"{name}({inside})" if inside else name
    return text if cutoff is None else f"{text}@{cutoff}"


def _quoted(value: Value) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{_quoted(key)}:{number!r}" for key, number in value) + "}"
    return f"'{value}'" if isinstance(value, str) else str(value)


def _cutoff(text: str | None, whole: str) -> int | None:
    if text is None:
        return None
    if not WHOLE.fullmatch(text) or int(text) == 0:
        raise MeasureError(f"The cutoff of '{whole}' is not a whole number from 1.")
    return int(text)


def _parameters(text: str | None, whole: str) -> dict[str, Value]:
    parameters: dict[str, Value] = {}
    rest = (text or "").strip()
    while rest:
        match = PARAMETER.match(rest)
        if match is None:
            raise MeasureError(f"'{whole}' has brackets without name=value pairs in them.")
        if match["key"] in parameters:
            raise MeasureError(f"'{whole}' gives {match['key']} twice.")
        parameters[match["key"]] = _value(match, whole)
        rest = rest[match.end() :]
    return parameters


def _value(match: re.Match[str], whole: str) -> Value:
    for quoted in (match["single"], match["double"]):
        if quoted is not None:
            return quoted
    if match["map"] is not None:
        return _map(match["map"], whole)
    bare = match["bare"]
    if bare in {"True", "False"}:
        return bare == "True"
    if WHOLE.fullmatch(bare):
        return int(bare)
    try:
        return float(bare)
    except ValueError:
        return str(bare)


def _map(text: str, whole: str) -> Map:
    """The pairs in curly brackets. Raises MeasureError for a repeated key."""
    pairs: dict[int | str, float] = {}
    rest = text.strip()
    while rest:
        match = PAIR.match(rest)
        if match is None:
            raise MeasureError(f"'{whole}' has curly brackets without key:number pairs in them.")
        key = _key(match)
        if key in pairs:
            raise MeasureError(f"'{whole}' gives {key} twice.")
        try:
            pairs[key] = float(match["value"])
        except ValueError:
            raise MeasureError(f"'{match['value']}' in '{whole}' is not a number.") from None
        rest = rest[match.end() :]
    return tuple(sorted(pairs.items(), key=lambda pair: (str(type(pair[0])), pair[0])))


def _key(match: re.Match[str]) -> int | str:
    if match["whole"] is not None:
        return int(match["whole"])
    return match["single"] if match["single"] is not None else match["double"]


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


def _days(value: Value) -> float:
    number = _number(value)
    if not 0 < number < float("inf"):
        raise ValueError("is not a number of days above 0")
    return number


def _name(value: Value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("is not the name of an attribute, such as 'type'")
    return value


def _role(value: Value) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("is not the name of a role, such as 'guest'")
    return value.strip()


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
    "beta": Parameter("weight of recall against precision, in Q of gains against counts; 1 unless named", _weight),
    "by": Parameter("the attribute that groups blocks, such as `'type'`; required", _name),
    "capped": Parameter("`True` divides by the smaller of k and all relevant blocks, so that 1 can be reached", _flag),
    "dcg": Parameter(
        "`'log2'` for linear gain (the default), `'exp-log2'` for 2^grade − 1, `'jk'` for the first published discount",
        _form,
    ),
    "gains": Parameter("gains in place of grades, such as `{1:1,2:3}`; other grades are their own gain", _gains),
    "half_life": Parameter("days in which gain or freshness halves, such as 365; in place of `rate`", _days),
    "judged_only": Parameter("`True` leaves unjudged blocks out of the ranking first (condensed list)", _flag),
    "max_rel": Parameter("the highest grade of the scale, 4 unless named, always written out", _top),
    "p": Parameter("persistence, between 0 and 1; 0.8 unless named, always written out", _inner_share),
    "rate": Parameter(
        "how fast the gain fades a day: one rate, or one for each domain, `{'law':0.001,'news':0.1}`; to be given",
        _rate,
    ),
    "rel": Parameter("the lowest grade that counts as relevant, 1 unless named", _level),
    "role": Parameter("the role that may see some blocks only, such as `'guest'`; required", _role),
}
