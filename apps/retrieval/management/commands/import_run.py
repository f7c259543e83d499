from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.common.errors import InputErrors
from apps.corpus.edges.commands import BAD_INPUT
from apps.retrieval.edges.commands import SnapshotCommand
from apps.retrieval.execution import intake
from apps.retrieval.execution.run_reading import draft_of_file
from apps.retrieval.formats import RunDraft


class Command(SnapshotCommand):
    help = "Import a run in TREC's six columns. Exit codes: 0 taken in or unchanged, 2 nothing was imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the file, plain or gzip")
        super().add_arguments(parser)
        parser.add_argument("--system", default="", help="what made it (default: the file's tag)")
        parser.add_argument("--tag", default="", help="name of the run (default: the file's tag)")
        parser.add_argument("--note", default="", help="what was tried, for the ledger")
        parser.add_argument("--commit", default="", help="the commit it was made at")
        parser.add_argument(
            "--skip-unknown", action="store_true", help="leave out rows that name an unknown query or block"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would change, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        snapshot = self.snapshot(project, options)
        path = options["file"]
        try:
            draft = draft_of_file(path, project=project, snapshot=snapshot)
        except OSError as error:
            raise CommandError(f"{path}: cannot be read: {error.strerror}.", returncode=BAD_INPUT) from error
        if options["dry_run"]:
            if draft.is_spoilt or (draft.errors and not options["skip_unknown"]):
                raise InputErrors(list(draft.errors), capped=draft.errors.unlisted > 0)
            self.stdout.write(f"Dry run: {_counts(draft)}.")
            return
        imported = intake.import_run(
            project=project,
            snapshot=snapshot,
            draft=draft,
            origin=path.name,
            actor=self.actor(project, options),
            at=timezone.now(),
            **{key: options[key] for key in ("system", "tag", "note", "commit", "skip_unknown")},
        )
        head = "Imported" if imported.is_new else "Nothing changed, this run is here already"
        self.stdout.write(f"{head}: {imported.run.tag}, {_counts(draft)}, sha256 {imported.run.digest}")


def _counts(draft: RunDraft) -> str:
    counts = f"{len(draft.rankings):,} queries, {draft.results:,} results"
    return f"{counts}, {draft.skipped:,} rows left out" if draft.skipped else counts
