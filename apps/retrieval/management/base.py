"""The common parts of commands with a snapshot and systems."""

import math
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.corpus.management.base import BAD_INPUT, ProjectCommand
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.jobs.execution.performing import perform
from apps.jobs.execution.tasks import worker_name
from apps.retrieval.actions.systems import create_system
from apps.retrieval.core.engines.registry import ENGINES
from apps.retrieval.models import System
from apps.retrieval.selectors.question_sets import QueryChoice, question_set, question_sets
from apps.retrieval.selectors.snapshots import snapshot_named

FAILED = 1
READY = tuple(name for name, engine in ENGINES.items() if not engine.needs_model)
"""The kinds that are created when a command names them and the project has none."""


def add_abstains_below(parser: ArgumentParser) -> None:
    words = "a query whose best score is below this gets no answer (default: one without results)"
    parser.add_argument("--abstains-below", type=_finite, metavar="SCORE", help=words)


def _finite(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentTypeError(f"'{text}' is not a number")
    return value


def chosen_snapshot(project: Project, name: str) -> Snapshot:
    """The snapshot with this name. Raises CommandError with a list of the snapshots."""
    snapshot = snapshot_named(project, name)
    if snapshot is None:
        known = ", ".join(each.reference for each in snapshots_in(project)[:20])
        message = f"No snapshot is called {name}. Available: {known or 'none yet'}."
        raise CommandError(message, returncode=BAD_INPUT)
    return snapshot


def chosen_system(project: Project, name: str, actor: User) -> System:
    """The system with this name; one of READY is created when missing. Raises CommandError with a list of systems."""
    system = System.objects.filter(project=project, name=name).first()
    if system is None and name in READY:
        system = System.objects.filter(project=project, name=ENGINES[name].title).first()
        return system or create_system(
            project=project, name=ENGINES[name].title, kind=name, actor=actor, at=timezone.now()
        )
    if system is None:
        known = ", ".join(System.objects.filter(project=project).values_list("name", flat=True))
        message = f"There is no system {name}. There are: {known or 'none yet'}."
        raise CommandError(message, returncode=BAD_INPUT)
    return system


def add_questions(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--questions",
        default="",
        help="such as set:pilot for a query set, handbook/v1 for the questions of a version, handbook for those of now",
    )


def chosen_questions(project: Project, key: str) -> QueryChoice:
    """The choice of a set of questions; of all queries for "". Raises CommandError with a list of the sets."""
    try:
        return QueryChoice(questions=question_set(project, key).key if key else "")
    except Http404:
        known = ", ".join(one.key for one in question_sets(project)[:20])
        message = f"No questions are called {key}. Available: {known or 'none yet'}."
        raise CommandError(message, returncode=BAD_INPUT) from None


class SnapshotCommand(ProjectCommand):
    """A command on a snapshot, which may queue a job."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--snapshot", required=True, help="corpus@number, or the snapshot's digest (at least 8 characters)"
        )

    def snapshot(self, project: Project, options: dict[str, Any]) -> Snapshot:
        return chosen_snapshot(project, options["snapshot"])

    def is_done(self, job_id: int | None, name: str, doing: str, *, is_queued: bool) -> bool:
        """Do the job here, unless it `is_queued` for a worker or one has it; that is then written."""
        assert job_id is not None
        if is_queued:
            self.stdout.write(f"Queued: {name}, job {job_id}")
            return False
        if perform(job_id, worker=worker_name(), clock=timezone.now) is None:
            self.stdout.write(f"A worker is {doing} {name}, job {job_id}")
            return False
        return True
