from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.accounts.models import Project
from apps.common.database.bulk import undone
from apps.common.files.faults import as_line
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.enums import ImportMode
from apps.corpus.imports.api import NEW
from apps.corpus.management.base import BAD_INPUT, ProjectCommand
from apps.corpus.selectors.corpora import corpora_in
from apps.judging.actions.imports import import_collection
from apps.judging.execution.collection_files import collection_at
from apps.judging.formats.judgements import parse_grade_map


class Command(ProjectCommand):
    help = (
        "Import a collection: a folder or zip as BEIR or MTEB have it, with corpus, queries and qrels. All of it or"
        " nothing; the corpus is frozen between."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", help="the folder, or a zip of it")
        super().add_arguments(parser)
        parser.add_argument("--corpus", required=True, help="slug of the corpus, or the name of a new one")
        parser.add_argument(
            "--mode",
            choices=ImportMode.values,
            default=ImportMode.REPLACE,
            help="blocks missing from the folder: replace removes them (default); merge keeps them",
        )
        parser.add_argument("--split", action="append", help="split whose judgements count (default: all; repeatable)")
        parser.add_argument("--grades", default="", help="grade map, such as 1=3,0=0")
        parser.add_argument("--skip-unknown", action="store_true", help="leave out judgements of unknown ids")
        parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        project, path = self.project(options), Path(options["folder"])
        actor = self.actor(project, options)
        if not path.exists():
            raise CommandError(f"There is no folder or file {path}.", returncode=BAD_INPUT)
        chosen = _chosen(project, options)
        with collection_at(path, path.name or str(path)) as collection:
            at = timezone.now()
            with undone(when=options["dry_run"]):
                plan = import_collection(project=project, collection=collection, options=chosen, actor=actor, at=at)
        self.report(plan, "Dry run" if options["dry_run"] else "Imported")

    def report(self, plan: ImportPlan, head: str) -> None:
        for warning in plan.errors.warnings:
            self.stderr.write(f"note: {as_line(warning)}")
        for part in plan.extra["parts"]:
            if part["rows"] is None:
                continue  # a split that does not count
            self.stdout.write(f"{head}, {part['file']}: {part['sentence']}")
            if part["kind"] == "corpus" and (snapshot := plan.extra.get("snapshot")):
                self.stdout.write(f"{head}, {snapshot['reference']} ({snapshot['name']}) has these passages")


def _chosen(project: Project, options: dict[str, Any]) -> dict[str, Any]:
    """The options in the format of the form."""
    try:
        parse_grade_map(options["grades"]) if options["grades"] else None
    except ValueError as reason:
        raise CommandError(f"--grades: {reason}.", returncode=BAD_INPUT) from None
    is_here = corpora_in(project).filter(slug=options["corpus"]).exists()
    return {
        "corpus": options["corpus"] if is_here else NEW,
        "name": "" if is_here else options["corpus"],
        "mode": options["mode"],
        "splits": ",".join(options["split"] or []),
        "grades": options["grades"],
        "skip_unknown": options["skip_unknown"],
    }
