"""Rules about changes of a project. Each returns the reason against it, or None."""

from apps.accounts.models import Project
from apps.dashboard.enums import FIRST_STEPS, NEVER_SKIPPED
from apps.judging.models import Judgement


def skip_refusal(step: str) -> str | None:
    """Steps that a project does not need can be skipped; without passages there is nothing to do."""
    if step not in FIRST_STEPS:
        return f"There is no step called {step}. Steps are {', '.join(FIRST_STEPS)}."
    if step in NEVER_SKIPPED:
        return "This step cannot be skipped: everything else rests on passages."
    return None


def scale_refusal(project: Project) -> str | None:
    """The scale is fixed from the first grade on, since it defines what given grades mean."""
    if Judgement.objects.filter(round__project=project).exists():
        return "The grades cannot be changed after the first judgement. A new project can have others."
    return None
