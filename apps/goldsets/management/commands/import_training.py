from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.management.base import BAD_INPUT, ImportCommand
from apps.goldsets import rules
from apps.goldsets.enums import EntryKind
from apps.goldsets.formats.training import AUTO, IDS
from apps.goldsets.imports import CHOICES


class Command(ImportCommand):
    help = "Import a list of what a system was trained on. Every draft of the project is then checked against it."
    kind = "training"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", required=True, help="what was trained on it, such as “Ranker of May”")
        parser.add_argument("--format", default=AUTO, choices=list(CHOICES), help="format of the file")
        parser.add_argument(
            "--ids", default=EntryKind.QUESTION.value, choices=list(IDS), help="what the ids of a plain list are of"
        )

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        name = " ".join(options["name"].split())
        if reason := rules.training_name_refusal(project, name):
            raise CommandError(reason, returncode=BAD_INPUT)
        return {"name": name, "format": options["format"], "ids": options["ids"]}

    def report(self, project: Project, chosen: dict[str, Any], plan: ImportPlan, *, dry: bool) -> None:
        super().report(project, chosen, plan, dry=dry)
        for note in plan.notes:
            self.stdout.write(note)
