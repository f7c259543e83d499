"""Units: the one that a word writes, and the one after a number."""

import re

from apps.triples.core.tokens.wording import singular

_UNIT_FORMS = """
second sec secs s; minute min mins; hour hr hrs h; day; week; month; quarter; year yr yrs; millisecond msec ms;
percent % pct; byte; kilobyte kb; megabyte mb; gigabyte gb; terabyte tb; kibibyte kib; mebibyte mib;
gibibyte gib; tebibyte tib; bit; kilometre kilometer km; metre meter; centimetre centimeter cm; millimetre millimeter
mm; kilogram kg; gram; milligram mg; litre liter; millilitre milliliter ml; hertz hz; kilohertz khz; megahertz mhz;
gigahertz ghz; watt; kilowatt kw; volt; ampere amp; °c celsius; °f fahrenheit; euro eur €; dollar usd $; pound gbp £;
franc chf; people person; time; copy
"""
UNITS = {form: forms.split()[0] for forms in _UNIT_FORMS.split(";") for form in forms.split()}
_BITS = {"Kb": "kilobit", "Mb": "megabit", "Gb": "gigabit", "Tb": "terabit"}
_QUALIFIERS = frozenset(["business", "calendar", "working", "consecutive"])


def unit_of(word: str) -> str:
    """The name of the unit that `word` writes in any form, or "". Mb is not MB: bits are not bytes."""
    if word in _BITS:
        return _BITS[word]
    folded = word.casefold()
    return UNITS.get(folded) or UNITS.get(singular(folded), "")


_FOLLOWER = re.compile(r"[ -]?(?P<unit>%|°[CF]\b|[€$£]|[^\W\d_]+\.?)")


def unit_behind(text: str, at: int) -> tuple[str, int]:
    """The unit right after `at` and its end; a qualifier (business days) belongs to it."""
    match = _FOLLOWER.match(text, at)
    if match is None:
        return "", at
    word = match["unit"].rstrip(".")
    if word.casefold() == "per" and (cent := re.compile(r" cent\b").match(text, match.end())):
        return "percent", cent.end()
    if word.casefold() in _QUALIFIERS:
        unit, end = unit_behind(text, match.end())
        return (f"{word.casefold()} {unit}", end) if unit else ("", at)
    unit = unit_of(word)
    return (unit, match.start("unit") + len(word)) if unit else ("", at)
