"""The figures of a text, in order."""

import re
from collections.abc import Iterator

from apps.triples.core.tokens.amounts import IN_WORDS, MONEY, RANGE
from apps.triples.core.tokens.codes import ACRONYM, NAMED, WRITTEN
from apps.triples.core.tokens.dates import CLOCK, DAY_FIRST, ISO_DATE, MONTH_FIRST
from apps.triples.core.tokens.figure import Figure, Found
from apps.triples.core.tokens.wording import SAME_SIGN

# Specific kinds first: a text that one kind matched is not matched by others.
KINDS = (ISO_DATE, DAY_FIRST, MONTH_FIRST, CLOCK, MONEY, RANGE, NAMED, WRITTEN, IN_WORDS, ACRONYM)
_JOINED = re.compile(r" (?:to|and|or) |, ")


def _all_figures(text: str) -> Iterator[Found]:
    """Every figure with its place, kind by kind."""
    used: list[tuple[int, int]] = []
    for pattern, read in KINDS:
        fresh = [
            match
            for match in pattern.finditer(text)
            if not any(match.start() < end and start < match.end() for start, end in used)
        ]
        for match in fresh:
            for placed in read(text, match):
                used.append(placed[:2])
                yield placed


def figures(text: str) -> list[Figure]:
    """Numbers in digits or words, versions, dates, codes and acronyms of `text`, in order, each form once.

    In "10 to 20 days" both numbers are days.
    """
    even = text.translate(SAME_SIGN)
    placed = sorted(_all_figures(even), key=lambda one: one[:2])
    unique: dict[tuple[str, str], Figure] = {}
    for place, (_, end, figure) in enumerate(placed):
        follower = placed[place + 1] if place + 1 < len(placed) else None
        is_bare = not figure.unit and re.fullmatch(r"-?\d+(\.\d+)?", figure.plain)
        if is_bare and follower and follower[2].unit and _JOINED.fullmatch(even, end, follower[0]):
            figure = figure._replace(unit=follower[2].unit)
        unique.setdefault((figure.plain, figure.unit), figure)
    return list(unique.values())
