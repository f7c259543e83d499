"""A small world to look at: the demo project, loaded by its own job, and the pages that the resolver knows."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from django.urls import URLResolver, get_resolver
from django.utils import timezone

from apps.accounts.actions import create_token, invite
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import members_of
from apps.dashboard.demo.actions import request_demo
from apps.jobs.testing import run_jobs
from tests.factories import make_user


@dataclass
class World:
    project: Project
    lead: User
    annotator: User
    invitation: str


def build() -> World:
    """The demo with an open invitation and a token, so that no list of its pages is empty."""
    lead, at = make_user("Petra Lomas", is_operator=True), timezone.now()
    job = request_demo(host=lead, at=at)
    run_jobs()
    project = Project.objects.get(pk=job.project_id)
    _, invitation = invite(project=project, actor=lead, roles=[Role.VIEWER], at=at)
    create_token(project=project, user=lead, name="pipeline", scopes=["runs:write"], at=at, lasts=timedelta(days=9))
    leads = members_of(project, Role.LEAD)
    annotator = members_of(project, Role.ANNOTATOR).exclude(pk__in=leads).first()
    assert annotator is not None
    return World(project, lead, annotator, invitation)


def page_names(resolver: URLResolver | None = None, namespace: str = "") -> Iterator[str]:
    """`namespace:name` of every pattern outside the API that answers GET."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            if not str(entry.pattern).startswith("api/"):
                yield from page_names(entry, f"{entry.namespace}:" if entry.namespace else namespace)
        elif entry.name and "GET" in methods(entry.callback):
            yield namespace + entry.name


def methods(view: Callable) -> set[str]:
    """The methods that the decorators of a view let through."""
    while view is not None:
        allowed = inspect.getclosurevars(view).nonlocals.get("request_method_list")
        if allowed:
            return set(allowed)
        view = getattr(view, "__wrapped__", None)
    return {"GET", "POST"}
