"""The command `karat run`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.retrieval.actions.runs import request_run
from apps.retrieval.enums import RunState
from apps.retrieval.management.base import (
    FAILED,
    READY,
    SnapshotCommand,
    add_abstains_below,
    add_questions,
    chosen_questions,
    chosen_system,
)
from apps.retrieval.models import Run
from apps.retrieval.rules import RUN_DEPTH


class Command(SnapshotCommand):
    help = (
        "Run a system on all queries of the project, on a query set, or on the questions of a gold set or version. Exit"
        " codes: 0 made or queued, 1 failed, 2 refused."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--system", required=True, help=f"name of the system; {', '.join(READY)} are created when missing"
        )
        add_questions(parser)
        parser.add_argument("--depth", type=int, default=RUN_DEPTH, help=f"results a query (default: {RUN_DEPTH:,})")
        parser.add_argument("--tag", default="", help="name of the run (default: made from system and snapshot)")
        parser.add_argument("--note", default="", help="what changed, for the ledger")
        parser.add_argument("--commit", default="", help="the commit of the system")
        parser.add_argument("--as-role", default="", help="the role for whom it searched, such as guest")
        add_abstains_below(parser)
        parser.add_argument("--queue", action="store_true", help="leave the work to a worker and return at once")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        actor = self.actor(project, options)
        run = request_run(
            project=project,
            snapshot_id=self.snapshot(project, options).pk,
            choice=chosen_questions(project, options["questions"]),
            system_id=chosen_system(project, options["system"], actor).pk,
            **{name: options[name] for name in ("depth", "tag", "note", "commit", "as_role", "abstains_below")},
            actor=actor,
            at=timezone.now(),
        )
        if self.is_done(run.job_id, run.tag, "making", is_queued=options["queue"]):
            self._report(Run.objects.get(pk=run.pk))

    def _report(self, run: Run) -> None:
        if run.state != RunState.COMPLETE:
            raise CommandError(f"{run.tag} is {run.state}. {run.failure}".strip(), returncode=FAILED)
        self.stdout.write(f"{run.tag}: {run.query_count:,} queries, sha256 {run.digest}")
