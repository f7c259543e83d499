"""What the jobs of evaluation share."""

from apps.evaluation.selectors import Ground, judged_of
from apps.goldsets.models import Version
from apps.jobs.context import JobFailed


def ground_of(version: Version, split: str) -> Ground:
    """What one side of a version holds to score against. Raises JobFailed where it holds no grades."""
    ground = judged_of(version, split)
    if not ground.judged.queries:
        raise JobFailed(f"{version.label} holds no grades on this side: there is nothing to score against.")
    return ground
