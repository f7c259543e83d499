"""Rules about changes of a project. Each returns the reason against it, or None."""

from apps.accounts.models import Project
from apps.judging.models import Judgement


def scale_refusal(project: Project) -> str | None:
    """The scale is fixed from the first grade on, since it defines what given grades mean."""
    if Judgement.objects.filter(round__project=project).exists():
        return "The grades cannot be changed after the first judgement. A new project can have others."
    return None
