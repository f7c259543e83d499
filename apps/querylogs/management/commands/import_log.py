from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.management.base import BAD_INPUT, ImportCommand
from apps.queries.models import Source
from apps.querylogs.enums import LEAST_PEOPLE, USUAL_OFFERED, USUAL_PEOPLE, Plan
from apps.querylogs.imports import name_of_log
from apps.querylogs.rules import MOST_OFFERED


class Command(ImportCommand):
    help = (
        "Draw queries from a search log or from traces, to be read on the page before they enter the project. Nothing"
        " else is kept of the log, and the file itself is not touched."
    )
    kind = "log"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", default="", help="name of the log (default: that of the file)")
        parser.add_argument("--source", default="", help="slug of the source (default: a new one with that name)")
        parser.add_argument(
            "--people", type=int, default=USUAL_PEOPLE, choices=LEAST_PEOPLE, help="people who must have asked a query"
        )
        parser.add_argument("--offer", type=int, default=USUAL_OFFERED, help="queries to offer")
        parser.add_argument(
            "--plan", default=Plan.BALANCED.value, choices=Plan.values, help="how places are shared out"
        )
        parser.add_argument("--seed", type=int, default=1, help="the same file and seed draw the same queries")
        self.add_first_row(parser)

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        source = options["source"]
        known = list(Source.objects.filter(project=project).order_by("slug").values_list("slug", flat=True))
        if source and source not in known:
            message = f"There is no source {source}. There are: {', '.join(known) or 'none yet'}."
            raise CommandError(message, returncode=BAD_INPUT)
        if not 1 <= options["offer"] <= MOST_OFFERED:
            raise CommandError(f"--offer is from 1 to {MOST_OFFERED:,}.", returncode=BAD_INPUT)
        return {
            "name": options["name"] or name_of_log(options["file"]),
            "wanted": options["offer"],
            **{name: options[name] for name in ("source", "people", "plan", "seed", "first_row")},
        }
