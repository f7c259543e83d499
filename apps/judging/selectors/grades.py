"""Grades for apps below judging, passed in by callers."""

from apps.judging.selectors.pairs import resolved_grades
from apps.retrieval.models import Pool


def grades_for_pool(pool: Pool) -> dict[tuple[int, int], int]:
    """The settled grade of every (query, block version) on the pool's snapshot, of any round."""
    grades = resolved_grades(pool.snapshot)
    return {(pair.query_id, pair.version_id): pair.grade for pair in grades if pair.grade is not None}
