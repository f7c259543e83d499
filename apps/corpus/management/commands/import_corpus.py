from argparse import ArgumentParser
from typing import Any

from apps.accounts.models import Project
from apps.corpus.edges.commands import ImportCommand
from apps.corpus.edges.imports import NEW
from apps.corpus.enums import ImportMode
from apps.corpus.formats import FORMATS, IDS
from apps.corpus.selectors.corpora import corpora_in


class Command(ImportCommand):
    help = "Import a corpus file into a project. A missing corpus is created."
    kind = "corpus"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--corpus", required=True, help="slug of the corpus, or the name of a new one")
        parser.add_argument("--format", required=True, choices=list(FORMATS), help="format of the file")
        parser.add_argument(
            "--ids", choices=list(IDS), default="file", help="where ids come from; position is for SMART files"
        )
        parser.add_argument(
            "--mode",
            choices=ImportMode.values,
            default=ImportMode.REPLACE,
            help="blocks missing from the file: replace removes them (default); merge keeps them",
        )

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        known = corpora_in(project).filter(slug=options["corpus"]).exists()
        return {
            "format": options["format"],
            "ids": options["ids"],
            "mode": options["mode"],
            "corpus": options["corpus"] if known else NEW,
            "name": "" if known else options["corpus"],
        }
