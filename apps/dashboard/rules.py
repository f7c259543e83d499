"""What may be changed about a project. Each rule returns the reason why not, or None."""

from apps.accounts.models import Project
from apps.judging.models import Judgement


def scale_refusal(project: Project) -> str | None:
    """Grades given mean what the scale said then, so the scale is fixed from the first one on."""
    if Judgement.objects.filter(round__project=project).exists():
        return "The grades cannot be changed after the first judgement. A new project can have others."
    return None
