"""The command `karat import_run`."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.common.database.bulk import undone
from apps.common.text.wording import plural
from apps.corpus.management.base import BAD_INPUT
from apps.metrics.statistics.usage import EXAMPLE, Usage, UsageError, usage_of_words
from apps.retrieval.actions.intake import import_file
from apps.retrieval.enums import RUN_DETAILS
from apps.retrieval.execution.intake import ImportedRun, UnknownIds
from apps.retrieval.formats import RunDraft
from apps.retrieval.management.base import SnapshotCommand, add_abstains_below


class Command(SnapshotCommand):
    help = (
        "Import a run: a table with a heading, such as query,passage,rank,score, or TREC's six columns. Exit codes: 0"
        " imported or unchanged, 2 not imported."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="file", type=Path, help="CSV, TSV or TREC's six columns, plain or gzip")
        super().add_arguments(parser)
        parser.add_argument("--system", default="", help="what made it (default: the file's tag, or its name)")
        parser.add_argument("--tag", default="", help="name of the run (default: the file's tag, or its name)")
        parser.add_argument("--note", default="", help="what changed, for the ledger")
        parser.add_argument("--commit", default="", help="the commit of the system")
        parser.add_argument("--as-role", default="", help="the role for whom it searched, such as guest")
        add_abstains_below(parser)
        parser.add_argument("--usage", type=_usage, default={}, metavar="WORDS", help=f"what it used: '{EXAMPLE}'")
        parser.add_argument(
            "--skip-unknown", action="store_true", help="leave out rows that name an unknown query or block"
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would be imported, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        snapshot = self.snapshot(project, options)
        source = {key: options[key] for key in ("path", "skip_unknown")} | {"project": project, "snapshot": snapshot}
        try:
            with undone(when=options["dry_run"]):
                imported = self._import(source, options)
        except UnknownIds as unknown:
            hint = "Fix the file, or leave out the rows that name these ids with --skip-unknown."
            raise CommandError(
                f"{self.faults(unknown.errors, more=unknown.capped)}\n{hint}", returncode=BAD_INPUT
            ) from unknown
        except OSError as error:
            message = f"{options['path']}: cannot be read: {error.strerror}."
            raise CommandError(message, returncode=BAD_INPUT) from error
        for remark in _remarks(imported.draft):
            self.stderr.write(f"note: {remark}")
        if options["dry_run"]:
            self.stdout.write(f"Dry run: {_counts(imported.draft)}.")
            return
        head = "Imported" if imported.is_new else "Nothing changed, this run is already here"
        self.stdout.write(f"{head}: {imported.run.tag}, {_counts(imported.draft)}, sha256 {imported.run.digest}")

    def _import(self, source: dict[str, Any], options: dict[str, Any]) -> ImportedRun:
        details = {key: options[key] for key in (*RUN_DETAILS, "abstains_below")}
        actor = self.actor(source["project"], options)
        return import_file(**source, details=details, usage=options["usage"], actor=actor, at=timezone.now())


def _usage(text: str) -> Usage:
    try:
        return usage_of_words(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def _remarks(draft: RunDraft) -> Iterator[str]:
    """What the page of an upload says of the order of the results."""
    if draft.reordered:
        yield (
            f"the rank column differs from the order of the scores in {plural(draft.reordered, 'query', 'queries')}; "
            "scores decide, the highest first. Negate distances, of which the lowest is the best."
        )
    if draft.ties:
        tied = plural(draft.ties, "result has", "results have")
        yield f"{tied} the score of the result before; ties are broken by passage id, descending."


def _counts(draft: RunDraft) -> str:
    counts = f"{len(draft.rankings):,} queries, {draft.results:,} results"
    counts += f", {len(draft.by_text):,} queries found by text or Q&A" if draft.by_text else ""
    return f"{counts}, {draft.skipped:,} rows left out" if draft.skipped else counts
