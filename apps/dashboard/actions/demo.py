"""Actions that queue the demo project and offer it at the start."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from apps.accounts.actions.projects import free_slug
from apps.accounts.models import Project, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import has_operator
from apps.dashboard.enums import LOAD_DEMO
from apps.dashboard.execution.demo.stage import create_demo_project
from apps.jobs.actions.jobs import enqueue
from apps.jobs.models import Job

NAME = "Tarnwick Handbook"


@transaction.atomic
def request_demo(*, host: User, at: datetime, name: str = NAME) -> Job:
    """Create a demo project, led by `host`, and queue the job that fills it. Returns the job, which has the project."""
    if not host.is_operator:
        raise PeopleRefused("Only an operator can create projects, and the demo is a project.")
    project = create_demo_project(name=name, slug=free_slug(name), host=host, now=at)
    return enqueue(kind=LOAD_DEMO, params={}, project=project, actor=host, at=at)


def offer_demo(*, at: datetime) -> str:
    """The line that a first start prints about the demo; "" when it is not offered or already exists."""
    if not settings.OFFER_DEMO or Project.objects.filter(is_demo=True).exists():
        return ""
    if has_operator():
        return "New here? Load the demo project from the list of projects; it takes about ten seconds."
    return "After that, load the demo project from the list of projects; it takes about ten seconds."
