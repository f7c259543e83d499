"""Check that the figures of the answer are in the evidence."""

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import Indel

from apps.triples.core.checks.check import PASS, STOP, WARN, Check, counted
from apps.triples.core.tokens import Figure, figures, unit_of, words

MOST_FIGURES = 4


class TextFigures(NamedTuple):
    """The figures of a text with the parts of named ones, and its words in lower case with the units they name."""

    figures: list[Figure]
    exact: frozenset[tuple[str, str]]
    plain: frozenset[str]
    words: frozenset[str]
    units: frozenset[str]

    def says(self, figure: Figure) -> bool:
        """Whether the text contains the figure.

        A number without a unit matches one with any unit, and one with a unit matches a bare number in a text that
        names the unit elsewhere, as tables do. A name may be written without its capitals.
        """
        if (figure.plain, figure.unit) in self.exact or (not figure.unit and figure.plain in self.plain):
            return True
        if figure.unit and (figure.plain, "") in self.exact and figure.unit in self.units:
            return True
        if figure.parts:
            return all(map(self.says, figure.parts))
        return _is_name(figure) and figure.plain in self.words


def figures_in(text: str) -> TextFigures:
    """The figures of `text`, computed once, so that many can be looked up in it."""
    parts = [one for figure in figures(text) for one in (figure, *figure.parts)]
    pieces = frozenset(words(text))
    return TextFigures(
        parts,
        frozenset((figure.plain, figure.unit) for figure in parts),
        frozenset(figure.plain for figure in parts),
        pieces,
        frozenset(filter(None, map(unit_of, pieces))),
    )


def _is_name(figure: Figure) -> bool:
    return not any(character.isdigit() for character in figure.plain)


def _nearest(figure: Figure, present: Sequence[Figure]) -> Figure | None:
    """The evidence's figure nearest to `figure`: the same number with another unit, or the most similar spelling."""
    for other in present:
        if other.plain == figure.plain:
            return other
    alike = [(Indel.normalized_similarity(figure.plain, other.plain), other) for other in present]
    best = max(alike, key=lambda pair: pair[0], default=(0.0, None))
    if best[0] >= 0.5:
        return best[1]
    return next((other for other in present if figure.unit and other.unit), None)


def check_figures(answer: str, evidence: str) -> list[Check]:
    """Each number with its unit, version, date, code and acronym of the answer occurs in the evidence.

    A difference is shown, never corrected: "90 days" is not "3 months", "AES-256" is not "AES-256-GCM". Anything
    with a digit stops; a missing acronym only warns, because it may be a name that everybody uses.
    """
    in_evidence = figures_in(evidence)
    in_answer = figures(answer)
    lacking = [figure for figure in in_answer if not in_evidence.says(figure)]
    if lacking:
        return [_difference(figure, in_evidence.figures) for figure in lacking[:MOST_FIGURES]]
    if not in_answer:
        return [Check(PASS, "figures", "The answer has no figures to compare.")]
    return [Check(PASS, "figures", f"{counted(len(in_answer), 'figure')} of the answer found in the evidence.")]


def _difference(figure: Figure, present: Sequence[Figure]) -> Check:
    level = WARN if _is_name(figure) else STOP
    near = _nearest(figure, present)
    if near is None or (_is_name(figure) and not _is_name(near)):
        sentence = f"“{figure.shown}” is in the answer but not in the marked evidence."
        return Check(level, "figures", sentence, ref=figure.shown)
    return Check(
        level,
        "figures",
        "A figure differs from the evidence.",
        detail=f"Answer: {figure.shown}. Evidence: {near.shown}.",
        ref=figure.shown,
        in_answer=figure.shown,
        in_evidence=near.shown,
    )
