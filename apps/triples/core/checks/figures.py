"""Whether the evidence says the figures of the answer."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from apps.triples.core.checks.check import PASS, STOP, WARN, Check, counted
from apps.triples.core.tokens import Figure, figures, unit_of, words

MOST_FIGURES = 4


class Held(NamedTuple):
    """The figures a text holds, a named one's parts beside it, and its words in lower case with the units they name."""

    figures: list[Figure]
    exact: frozenset[tuple[str, str]]
    plain: frozenset[str]
    words: frozenset[str]
    units: frozenset[str]

    def says(self, figure: Figure) -> bool:
        """Whether the text says the figure.

        A number without a unit may stand before any unit, and one with a unit may stand bare in a text that names the
        unit elsewhere, as tables do. A name may be written without its capitals.
        """
        if (figure.plain, figure.unit) in self.exact or (not figure.unit and figure.plain in self.plain):
            return True
        if figure.unit and (figure.plain, "") in self.exact and figure.unit in self.units:
            return True
        if figure.parts:
            return all(map(self.says, figure.parts))
        return _is_name(figure) and figure.plain in self.words


def held_in(text: str) -> Held:
    """What `text` holds, read once, so that many figures can be looked for in it."""
    there = [one for figure in figures(text) for one in (figure, *figure.parts)]
    pieces = frozenset(words(text))
    return Held(
        there,
        frozenset((figure.plain, figure.unit) for figure in there),
        frozenset(figure.plain for figure in there),
        pieces,
        frozenset(filter(None, map(unit_of, pieces))),
    )


def _is_name(figure: Figure) -> bool:
    return not any(character.isdigit() for character in figure.plain)


def _nearest(figure: Figure, there: Sequence[Figure]) -> Figure | None:
    """What the evidence has in place of `figure`: the same number with another unit, or the likest spelling."""
    for other in there:
        if other.plain == figure.plain:
            return other
    alike = [(SequenceMatcher(None, figure.plain, other.plain).ratio(), other) for other in there]
    best = max(alike, key=lambda pair: pair[0], default=(0.0, None))
    if best[0] >= 0.5:
        return best[1]
    return next((other for other in there if figure.unit and other.unit), None)


def check_figures(answer: str, evidence: str) -> list[Check]:
    """Each number with its unit, version, date, code and acronym of the answer occurs in the evidence.

    A difference is shown, never corrected: "90 days" is not "3 months", "AES-256" is not "AES-256-GCM". Anything
    with a digit stops; a missing acronym only warns, because it may be a name that everybody uses.
    """
    held = held_in(evidence)
    asked = figures(answer)
    lacking = [figure for figure in asked if not held.says(figure)]
    if lacking:
        return [_difference(figure, held.figures) for figure in lacking[:MOST_FIGURES]]
    if not asked:
        return [Check(PASS, "figures", "The answer has no figures to compare.")]
    return [Check(PASS, "figures", f"{counted(len(asked), 'figure')} of the answer found in the evidence.")]


def _difference(figure: Figure, there: Sequence[Figure]) -> Check:
    level = WARN if _is_name(figure) else STOP
    near = _nearest(figure, there)
    if near is None or (_is_name(figure) and not _is_name(near)):
        sentence = f"“{figure.shown}” is in the answer but not in the marked evidence."
        return Check(level, "figures", sentence, ref=figure.shown)
    return Check(
        level,
        "figures",
        "A figure differs from the evidence.",
        detail=f"Answer: {figure.shown}. Evidence: {near.shown}.",
        ref=figure.shown,
        said=figure.shown,
        meant=near.shown,
    )
