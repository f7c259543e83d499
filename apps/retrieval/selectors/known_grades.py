"""The grades of a pool's pairs. They are stored by apps above this one; each registers a source here."""

from collections.abc import Callable, Mapping

from apps.retrieval.models import Pool

RELEVANT_FROM = 1
"""The lowest grade that counts as relevant, the default of all measures."""

Grades = Mapping[tuple[int, int], int]
GradeSource = Callable[[Pool], Grades]

_sources: list[GradeSource] = []


def add_grade_source(source: GradeSource) -> GradeSource:
    """Register `source(pool)`: the agreed grade of every (query id, block version id) on the pool's snapshot."""
    if source not in _sources:
        _sources.append(source)
    return source


def grades_of(pool: Pool) -> dict[tuple[int, int], int]:
    """The agreed grades on the pool's snapshot, from any pool, by (query id, block version id). Slow: for jobs."""
    return {pair: grade for source in _sources for pair, grade in source(pool).items()}
