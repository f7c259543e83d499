"""Rules about changes of a project. Each returns the reason against it, or None."""

from apps.accounts.models import Project
from apps.dashboard.enums import FIRST_STEPS, NEEDED_TO_GRADE, NEVER_SKIPPED
from apps.judging.models import Judgement
from apps.triples.enums import State
from apps.triples.models import Triple


def skip_refusal(step: str, *, is_fresh: bool) -> str | None:
    """Why a step cannot be left out. `is_fresh`: nobody has graded or written anything yet."""
    if step not in FIRST_STEPS:
        return f"There is no step called {step}. Steps are {', '.join(FIRST_STEPS)}."
    if step in NEVER_SKIPPED:
        return "This step cannot be skipped: everything else rests on passages and leads to a version."
    if is_fresh and step in NEEDED_TO_GRADE:
        return "This step cannot be skipped yet: the first grade needs it. Once a Q&A is written, it can be."
    return None


def is_fresh(project: Project) -> bool:
    """Whether nobody has graded or written anything in the project that counts: that was not withdrawn."""
    grades = Judgement.objects.filter(round__project=project, round__withdrawn_at=None)
    return not (grades.exists() or Triple.objects.filter(project=project).exclude(state=State.WITHDRAWN).exists())


def scale_refusal(project: Project) -> str | None:
    """The scale is fixed from the first grade on, since it defines what given grades mean, withdrawn ones too."""
    if Judgement.objects.filter(round__project=project).exists():
        return "The grades cannot be changed after the first judgement. A new project can have others."
    return None
