from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.corpus.edges.commands import BAD_INPUT
from apps.retrieval import actions
from apps.retrieval.edges.commands import SnapshotCommand
from apps.retrieval.execution.intake import ImportedRun, try_file
from apps.retrieval.formats.runs import RunDraft


class Command(SnapshotCommand):
    help = "Import a run in TREC's six columns. Exit codes: 0 taken in or unchanged, 2 nothing was imported."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="file", type=Path, help="the file, plain or gzip")
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
        source = {key: options[key] for key in ("path", "skip_unknown")} | {"project": project, "snapshot": snapshot}
        try:
            if options["dry_run"]:
                self.stdout.write(f"Dry run: {_counts(try_file(**source))}.")
                return
            imported = self._import(source, options)
        except OSError as error:
            said = f"{options['path']}: cannot be read: {error.strerror}."
            raise CommandError(said, returncode=BAD_INPUT) from error
        head = "Imported" if imported.is_new else "Nothing changed, this run is here already"
        self.stdout.write(f"{head}: {imported.run.tag}, {_counts(imported.draft)}, sha256 {imported.run.digest}")

    def _import(self, source: dict[str, Any], options: dict[str, Any]) -> ImportedRun:
        said = {key: options[key] for key in ("system", "tag", "note", "commit")}
        actor = self.actor(source["project"], options)
        return actions.import_file(**source, said=said, actor=actor, at=timezone.now())


def _counts(draft: RunDraft) -> str:
    counts = f"{len(draft.rankings):,} queries, {draft.results:,} results"
    return f"{counts}, {draft.skipped:,} rows left out" if draft.skipped else counts
