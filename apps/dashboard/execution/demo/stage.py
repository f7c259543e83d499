"""The common data of the demo's steps: the project, its people, and the calendar."""

import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.actions import people as accounts
from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.jobs.enums import JobState
from apps.jobs.execution.performing import perform
from apps.jobs.models import Job
from apps.judging.models import Guideline, Round
from apps.retrieval.models import Pool, Run

WEEKS = 7
RELEASED = 41.2
"""The day on which the first version is released."""
PATIENCE_SECONDS = 120


class Person(NamedTuple):
    key: str
    name: str
    roles: tuple[str, ...]


CAST = (
    Person("petra", "Petra Lomas", (Role.LEAD,)),
    Person("mara", "Mara Quill", (Role.ANNOTATOR,)),
    Person("sef", "Sef Arden", (Role.ANNOTATOR,)),
    Person("ines", "Ines Okonjo-Vale", (Role.ANNOTATOR,)),
    Person("jun", "Jun Hallam", (Role.ANNOTATOR,)),
    Person("tobias", "Tobias Renn", (Role.REVIEWER,)),
    Person("hanna", "Hanna Roth", (Role.REVIEWER,)),
    Person("ola", "Ola Vik", (Role.VIEWER,)),
)
REVIEWERS = ("tobias", "hanna")
LEAD = "petra"


class DemoFailed(Refusal):
    """A job of the demo failed or took too long."""


@dataclass
class Stage:
    """One demo being built. `begins` is some weeks ago, so that its charts have a history.

    Results of earlier steps are loaded from the database, since another worker may do the later steps.
    """

    project: Project
    host: User
    begins: datetime
    people: dict[str, User] = field(default_factory=dict)

    def at(self, day: float) -> datetime:
        """The time `day` days after the beginning; fractions are parts of a day."""
        return self.begins + timedelta(days=day)

    @property
    def lead(self) -> User:
        return self.people[LEAD]

    def frozen(self) -> Snapshot:
        """The first snapshot, which runs, grades and triples refer to."""
        return Snapshot.objects.select_related("corpus__project").get(corpus__project=self.project, number=1)

    def guideline(self) -> Guideline:
        return Guideline.objects.get(project=self.project)

    def ranked(self) -> list[Run]:
        """The runs from before the first version, in the order of their creation."""
        return self._runs(created_at__lt=self.at(RELEASED))

    def asked(self) -> list[Run]:
        """The runs on the questions of the first version, in the order of their creation."""
        return self._runs(created_at__gt=self.at(RELEASED))

    def _runs(self, **when: datetime) -> list[Run]:
        runs = Run.objects.filter(project=self.project, **when)
        return list(runs.select_related("system", "project", "snapshot").order_by("pk"))

    def first_pool(self) -> Pool:
        return Pool.objects.select_related("snapshot__corpus").filter(project=self.project).earliest("pk")

    def first_round(self) -> Round:
        rounds = Round.objects.filter(project=self.project).select_related("pool__snapshot__corpus", "guideline")
        return rounds.earliest("number")


@transaction.atomic
def create_demo_project(*, name: str, slug: str, host: User, now: datetime) -> Project:
    """Create the project and its people. The host becomes its lead."""
    begins = now - timedelta(weeks=WEEKS)
    project = projects.create_project(name=name, slug=slug, actor=host, at=begins, is_demo=True)
    for person in CAST:
        user = _person(person.key, person.name, begins)
        projects.set_roles(project=project, user=user, roles=person.roles, actor=host, at=begins)
    return project


def stage_of(project: Project, host: User) -> Stage:
    emails = {_email(person.key): person.key for person in CAST}
    people = {emails[user.email]: user for user in User.objects.filter(email__in=list(emails))}
    return Stage(project=project, host=host, begins=project.created_at, people=people)


def add_host_roles(stage: Stage) -> None:
    """Let the host grade and review too, after the earlier steps without them."""
    roles = [Role.LEAD, Role.ANNOTATOR, Role.REVIEWER]
    projects.set_roles(
        project=stage.project, user=stage.host, roles=roles, actor=stage.host, at=stage.at(WEEKS * 7 - 2)
    )


def _person(key: str, name: str, at: datetime) -> User:
    """One person of the demo, the same in every demo. They have no password, so nobody can sign in as them."""
    email = _email(key)
    known = User.objects.filter(email=email).first()
    return known or accounts.create_user(email=email, name=name, password=None, at=at)


def _email(key: str) -> str:
    return f"{key}@tarnwick.example"


def finish(job: Job | None, *, at: datetime | None = None) -> None:
    """Do a job in this process, or wait for the worker that claimed it first.

    `at` is the time of its results, by default now. Inside a transaction nobody else sees the job, and a heartbeat
    thread would wait for our lock.
    """
    if job is None:
        return
    perform(job.pk, worker="demo", clock=lambda: at or timezone.now(), with_heartbeat=not connection.in_atomic_block)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        job.refresh_from_db()
        if job.state == JobState.DONE:
            return
        if job.state in {JobState.FAILED, JobState.CANCELLED}:
            raise DemoFailed(f"The job {job.kind} ended as {job.state}: {job.error}", code="demo")
        time.sleep(0.1)
    raise DemoFailed(f"The job {job.kind} took longer than {PATIENCE_SECONDS} seconds.", code="demo")
