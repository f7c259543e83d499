"""The grades that rooms below this one ask for."""

from apps.judging.selectors.pairs import resolved_grades
from apps.retrieval.models import Pool


def grades_beside(pool: Pool) -> dict[tuple[int, int], int]:
    """The settled grade of every (query, block version) on the pool's snapshot, in whichever round it was given."""
    found = resolved_grades(pool.snapshot)
    return {(pair.query_id, pair.version_id): pair.grade for pair in found if pair.grade is not None}
