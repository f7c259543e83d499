from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.management.base import BAD_INPUT, ImportCommand
from apps.queries.formats import AUTO, IDS
from apps.queries.imports import CHOICES
from apps.queries.models import Source


class Command(ImportCommand):
    help = "Import a query file into a project. Queries that the file does not contain do not change."
    kind = "queries"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", default=AUTO, choices=list(CHOICES), help="format of the file")
        parser.add_argument(
            "--ids", choices=list(IDS), default="file", help="where ids come from; position is for SMART files"
        )
        self.add_first_row(parser)
        parser.add_argument("--source", default="", help="slug of the source for new queries without one")

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        source = options["source"]
        known = list(Source.objects.filter(project=project).order_by("slug").values_list("slug", flat=True))
        if source and source not in known:
            message = f"There is no source {source}. There are: {', '.join(known) or 'none yet'}."
            raise CommandError(message, returncode=BAD_INPUT)
        return {name: options[name] for name in ("format", "ids", "source", "first_row")}
