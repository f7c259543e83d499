from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.common.files import store
from apps.common.files.tabular import TableFile
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.core.near_duplicates import NEAR_SHARE
from apps.corpus.management.base import BAD_INPUT, ImportCommand
from apps.corpus.selectors.corpora import corpora_in
from apps.corpus.selectors.import_kinds import FileToImport
from apps.jobs.actions.uploads import written
from apps.queries.enums import Difficulty
from apps.queries.selectors import source_slugs
from apps.review.actions.elsewhere import take_applied
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
        self.add_first_row(parser)
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
        parser.add_argument(
            "--reviewed-elsewhere",
            default="",
            metavar="REASON",
            help="take the entries that name their reviewers as accepted: where and how they were reviewed",
        )
        parser.add_argument(
            "--sample",
            type=_sample,
            metavar="N",
            help="of what is taken as accepted: how many, drawn at random, are reviewed blind here (default: a tenth)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["sample"] is not None and not options["reviewed_elsewhere"]:
            raise CommandError("--sample goes with --reviewed-elsewhere.", returncode=BAD_INPUT)
        self.reason, self.sample = options["reviewed_elsewhere"], options["sample"]
        super().handle(*args, **options)

    @contextmanager
    def opened(self, options: dict[str, Any]) -> Iterator[TableFile]:
        """What is taken as accepted keeps its file: a sample of it is drawn by the file's digest."""
        with super().opened(options) as source:
            if not self.reason:
                yield source
                return
            with written(source.raw(), filename=source.name, at=timezone.now()) as self.stored:
                source.rewind()
                yield source
                if options["dry_run"]:
                    store.remove(self.stored.path)

    def applied(self, file: FileToImport, plan: ImportPlan, actor: User, at: datetime) -> None:
        if self.reason:
            self.found = take_applied(
                file=file, stored=self.stored, plan=plan, lead=actor, reason=self.reason, sample=self.sample, at=at
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
        return {name: options[name] for name in ("format", "corpus", "first_row", "machine", "near", *ForAll._fields)}

    def report(self, project: Project, chosen: dict[str, Any], plan: ImportPlan, *, dry: bool) -> None:
        for note in plan.notes:
            self.stderr.write(f"note: {note}")
        super().report(project, chosen, plan, dry=dry)
        if not self.reason:
            return
        for label, why in self.found.taken.kept.items():
            self.stderr.write(f"note: {label} stays a draft. {why}")
        accepted = plural(self.found.taken.accepted, "Q&A is", "Q&As are")
        drawn = plural(self.found.drawn, "of them is", "of them are")
        self.stdout.write(f"{accepted} taken as accepted; {drawn} reviewed blind here, drawn at random.")


def _sample(words: str) -> int:
    if not words.isdecimal():
        raise ArgumentTypeError("a number, such as 120, or 0 for none")
    return int(words)
