from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from apps.common.text.wording import plural
from apps.corpus.execution.freezing import freeze_snapshot
from apps.corpus.execution.search_index import index_part, parts_of
from apps.corpus.management.base import BAD_INPUT, ProjectCommand
from apps.corpus.selectors.corpora import corpora_in


class Command(ProjectCommand):
    help = "Freeze a snapshot of a corpus."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--corpus", required=True, help="slug of the corpus")
        parser.add_argument("--name", default="", help="name of the snapshot (default: the corpus and a number)")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        corpora = corpora_in(project)
        corpus = corpora.filter(slug=options["corpus"]).first()
        if corpus is None:
            known = ", ".join(corpora.values_list("slug", flat=True)) or "none yet"
            message = f"There is no corpus {options['corpus']} in {project.name}. There are: {known}."
            raise CommandError(message, returncode=BAD_INPUT)
        actor = self.actor(project, options)
        for part in parts_of(corpus):  # one transaction each, so that others can write in between
            with transaction.atomic():
                index_part(part)
        snapshot = freeze_snapshot(corpus_id=corpus.pk, actor=actor, at=timezone.now(), name=options["name"])
        blocks, documents = snapshot.block_count, snapshot.document_count
        counts = f"{plural(blocks, 'block')} in {plural(documents, 'document')}"
        self.stdout.write(f"Frozen, {snapshot.reference} ({snapshot.name}): {counts}, sha256 {snapshot.digest}")
