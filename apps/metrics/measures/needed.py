"""Measures of what a question needs: they count expected blocks, and are computed by `apps.metrics.expected`."""

from __future__ import annotations

from apps.metrics.columns import Floats
from apps.metrics.measures.entries import EXPECTED, Entry, Measure
from apps.metrics.measures.measure_input import Pass
from apps.metrics.measures.notation import MeasureError


def _not_by_grades(run: Pass, measure: Measure) -> Floats:
    raise MeasureError(f"{measure} counts expected blocks, which grades do not name.")


def _entry(name: str, words: str, source: str) -> Entry:
    needs = frozenset({EXPECTED})
    return Entry(name, words, source, _not_by_grades, "needed", takes=frozenset(), needs=needs)


ENTRIES = (
    _entry(
        "Coverage",
        "Share of the needed blocks that a passage in the first k hits; where any expected block will do, one is "
        "needed.",
        "recall over the expected blocks of a triple that needs all of them",
    ),
    _entry(
        "Sufficient",
        "1 when the passages in the first k hit all needed blocks, else 0; where any expected block will do, one is "
        "needed.",
        "Coverage, rounded down",
    ),
)
