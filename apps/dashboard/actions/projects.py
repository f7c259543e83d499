"""Actions on a project as a whole that need data of several apps, the demo, and what operators do on the server."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.accounts.actions.projects import free_slug
from apps.accounts.models import Project, User
from apps.accounts.rules import PeopleRefused, people_refusal
from apps.accounts.selectors import has_operator, policy
from apps.audit.actions import record
from apps.common.errors import Forbidden, Refusal
from apps.common.hooks import has_mail_server
from apps.dashboard import rules
from apps.dashboard.core.storage import CLEARABLE
from apps.dashboard.enums import CLEAR_STORAGE, LOAD_DEMO, MEASURE_SERVER
from apps.dashboard.execution.demo.stage import create_demo_project
from apps.dashboard.selectors import measuring_now
from apps.jobs.actions.jobs import enqueue
from apps.jobs.execution.outbox import post_mail
from apps.jobs.execution.periodic import periodic_task
from apps.jobs.models import Job, Outbox

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


ONLY_OPERATORS = "Only an operator can do this: it concerns every project of the server."


@periodic_task("dashboard.measure", every=timedelta(days=1))
def measure_daily(at: datetime) -> None:
    request_measurement(actor=None, at=at)


@transaction.atomic
def request_measurement(*, actor: User | None, at: datetime) -> Job:
    """Queue the job that measures what is stored, unless one waits or runs. Without an actor Karat itself asks."""
    _check(actor)
    return measuring_now() or enqueue(kind=MEASURE_SERVER, params={}, project=None, actor=actor, at=at)


@transaction.atomic
def request_clearing(*, kind: str, actor: User, at: datetime) -> Job:
    """Queue the job that removes what can be cleared of this kind, on the machine of a worker."""
    _check(actor)
    if kind not in CLEARABLE:
        raise Refusal("That is needed, so it cannot be cleared.", code="not_clearable")
    return enqueue(kind=CLEAR_STORAGE, params={"kind": kind}, project=None, actor=actor, at=at)


@transaction.atomic
def send_test_mail(*, actor: User, at: datetime) -> Outbox:
    """Send a mail to the operator who asks, by the way that every mail goes."""
    _check(actor)
    if not has_mail_server():
        raise Refusal("No mail server is set. Set EMAIL_HOST and start Karat again.", code="no_mail_server")
    body = f"This is a test, asked for by {actor} at {settings.PUBLIC_URL}. Mail of Karat goes out.\n"
    mail = post_mail(to=[actor.email], subject="Karat: a test", body=body, project=None, at=at)
    record(project=None, actor=actor, action="mail.tested", obj=mail, at=at)
    return mail


def _check(actor: User | None) -> None:
    if actor is not None and not actor.is_operator:
        raise Forbidden(ONLY_OPERATORS)


class ScaleRefused(Refusal):
    """The grades of this project are in use."""


@transaction.atomic
def change_scale(*, project_id: int, scale: list[dict], actor: User, at: datetime) -> Project:
    """Set the grades of a project. Refused once anybody has graded with them."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if reason := people_refusal(actor, project):
        raise Forbidden(reason)
    if project.scale == scale:
        return project
    if reason := rules.scale_refusal(project):
        raise ScaleRefused(reason, code="scale_in_use")
    before = {"scale": project.scale}
    project.scale = scale
    project.save(update_fields=["scale"])
    record(
        project=project,
        actor=actor,
        action="project.scale_changed",
        obj=project,
        before=before,
        after={"scale": scale},
        at=at,
    )
    return project


@transaction.atomic
def skip_step(*, project_id: int, step: str, skipped: bool, actor: User, at: datetime) -> Project:
    """Leave one of the first steps out of the list, or bring it back. The same again changes nothing."""
    project = Project.objects.select_for_update().get(pk=project_id)
    if reason := people_refusal(actor, project):
        raise Forbidden(reason)
    if skipped and (reason := rules.skip_refusal(step, is_fresh=rules.is_fresh(project))):
        raise Refusal(reason, code="step")
    before = policy(project, "skipped_steps")
    after = sorted({*before, step} if skipped else {*before} - {step})
    if before == after:
        return project
    project.policies = {**project.policies, "skipped_steps": after}
    project.save(update_fields=["policies"])
    record(
        project=project,
        actor=actor,
        action="project.step_skipped" if skipped else "project.step_brought_back",
        obj=project,
        before={"skipped_steps": before},
        after={"skipped_steps": after},
        at=at,
    )
    return project
