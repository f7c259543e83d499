"""The common part of commands with a snapshot."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.edges.commands import BAD_INPUT, ProjectCommand
from apps.corpus.models import Snapshot
from apps.corpus.selectors.corpora import snapshots_in
from apps.retrieval.selectors import snapshot_named


def chosen_snapshot(project: Project, name: str) -> Snapshot:
    """The snapshot with this name. Raises CommandError with a list of the snapshots."""
    snapshot = snapshot_named(project, name)
    if snapshot is None:
        known = ", ".join(each.reference for each in snapshots_in(project)[:20])
        message = f"No snapshot is called {name}. Available: {known or 'none yet'}."
        raise CommandError(message, returncode=BAD_INPUT)
    return snapshot


class SnapshotCommand(ProjectCommand):
    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--snapshot", required=True, help="corpus@number, or the snapshot's digest (at least 8 characters)"
        )

    def snapshot(self, project: Project, options: dict[str, Any]) -> Snapshot:
        return chosen_snapshot(project, options["snapshot"])
