"""Figures of letters and digits: codes, versions, acronyms, and names before a number."""

import re

from apps.triples.core.tokens.amounts import measured
from apps.triples.core.tokens.figure import Figure, Found, Kind
from apps.triples.core.tokens.numbers import NUMBER, plain_number
from apps.triples.core.tokens.units import unit_of

_NAMED = re.compile(
    r"(?<![\w-])(?P<name>[A-Z][A-Z0-9]+s?) (?P<rest>\d[\w.]*+(?:-\w+)*+)(?! ?%)(?P<more> [A-Z][A-Z0-9]+\b)?"
)
_FIGURE = re.compile(rf"(?:\b[A-Za-z]\w*-)*(?:(?:(?<=[\s(])-|^-)?(?:{NUMBER})(?!\w)|\w*\d\w*)(?:[-.,:/]\w+)*")
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][A-Za-z0-9]+(?:-[A-Z0-9][A-Za-z0-9]*)*\b")


def _code(written: str) -> str:
    """A code in one form: AES256, AES-256 and AES 256 are one, and so are v1.2 and 1.2."""
    folded = re.sub(r"^v(?=\d)", "", written.casefold())
    return re.sub(r"[\s_-]+|(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", "-", folded)


def _named(text: str, match: re.Match[str]) -> list[Found]:
    rest = match["rest"].rstrip(".")
    end = match.start("rest") + len(rest)
    name = Figure(match["name"], _acronym(match["name"]))
    _, part_end, number = _one(text, match.start("rest"), rest)
    if match["more"] and not unit_of(match["more"].strip()):
        rest, end = rest + match["more"], match.end()
    whole = Figure(text[match.start() : end], _code(f"{match['name']} {rest}"))
    return [(match.start(), max(end, part_end), whole._replace(parts=(name, number)))]


def _one(text: str, start: int, written: str) -> Found:
    """The figure `written` at `start`: a number with its unit, or a code."""
    end = start + len(written)
    if re.fullmatch(rf"-?(?:{NUMBER})", written):
        return measured(text, start, plain_number(written), end)
    attached = re.fullmatch(rf"(-?(?:{NUMBER}))-?([^\W\d_]+)", written)
    if attached and (unit := unit_of(attached[2])):
        return start, end, Figure(written, plain_number(attached[1]), unit)
    return start, end, Figure(written, _code(written))


def _figure(text: str, match: re.Match[str]) -> list[Found]:
    return [_one(text, match.start(), match.group().rstrip(".,:;/- "))]


def _acronym(written: str) -> str:
    return re.sub(r"(?<=[A-Z0-9])s$", "", written).casefold()


def _letters(text: str, match: re.Match[str]) -> list[Found]:
    return [(*match.span(), Figure(match.group(), _acronym(match.group())))]


NAMED = Kind(_NAMED, _named)
WRITTEN = Kind(_FIGURE, _figure)
ACRONYM = Kind(_ACRONYM, _letters)
