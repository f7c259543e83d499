from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.core.near_duplicates import NEAR_SHARE
from apps.corpus.management.base import BAD_INPUT, ImportCommand
from apps.corpus.selectors.corpora import corpora_in
from apps.queries.enums import Difficulty
from apps.queries.selectors import source_slugs
from apps.triples.formats.reading import AUTO
from apps.triples.imports import CHOICES
from apps.triples.selectors.entry_comparison import ForAll

SHARE = f"{NEAR_SHARE:.0%}".replace("%", " %%")


class Command(ImportCommand):
    help = "Import triples as drafts of their authors, or of who imports them; machine-written ones as candidates."
    kind = "triples"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", default=AUTO, choices=list(CHOICES), help="format of the file")
        parser.add_argument("--corpus", default="", help="slug of the corpus of entries that name no snapshot")
        parser.add_argument("--machine", default="", help="what wrote the whole file: its entries become candidates")
        parser.add_argument("--author", default="", help="who wrote the entries that name nobody: a member, or a name")
        parser.add_argument("--source", default="", help="slug of the source of the entries that name none")
        parser.add_argument("--domain", default="", help="domain of the entries that name none")
        parser.add_argument(
            "--difficulty", default="", choices=["", *Difficulty.values], help="of those that name none"
        )
        parser.add_argument(
            "--near",
            action="store_true",
            help=f"of RAG evaluation files: a context without an id is the passage that has {SHARE} of its words",
        )

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        slug = options["corpus"]
        slugs = list(corpora_in(project).order_by("slug").values_list("slug", flat=True))
        if slug and slug not in slugs:
            message = f"There is no corpus {slug}. Available: {', '.join(slugs) or 'none yet'}."
            raise CommandError(message, returncode=BAD_INPUT)
        sources = source_slugs(project)
        if (source := options["source"]) and source not in sources.values():
            message = (
                f"There is no source {source}. Available: {', '.join(sorted(set(sources.values()))) or 'none yet'}."
            )
            raise CommandError(message, returncode=BAD_INPUT)
        return {name: options[name] for name in ("format", "corpus", "machine", "near", *ForAll._fields)}
