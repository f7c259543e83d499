"""Measures as text, in the notation of ir-measures: `nDCG@10`, `P(rel=2)@5`, `nDCG(dcg='exp-log2')@10`.

MacAvaney, Macdonald, Ounis, "Streamlining Evaluation with ir-measures", ECIR 2022. This module parses the grammar;
names, parameters and cutoffs are in the registry (measures/).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

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
