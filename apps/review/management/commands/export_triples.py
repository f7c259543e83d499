import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.corpus.management.base import BAD_INPUT, ProjectCommand
from apps.review.actions.exporting import export_triples
from apps.review.selectors.exports import STATES, Selection
from apps.triples.enums import State
from apps.triples.formats import WRITTEN


class Command(ProjectCommand):
    changes_project = False
    help = "Write a project's triples as entries of a gold set. What is left out is listed on stderr."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", choices=list(WRITTEN), default="jsonl", help="form of the file")
        parser.add_argument("--state", choices=list(STATES), default=State.ACCEPTED.value, help="which triples")
        parser.add_argument("--out", type=Path, help="a new file (default: stdout)")

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        at = timezone.now()
        actor = self.actor(project, options) if options["user"] else None
        selection = Selection(project, options["state"], member=None, at=at)
        pieces = export_triples(selection, form=options["format"], actor=actor, at=at)
        if options["out"] is None:
            for piece in pieces:
                sys.stdout.buffer.write(piece)
            sys.stdout.flush()
        else:
            self._write(options["out"], pieces)
        for left in selection.left_out():
            self.stderr.write(f"left out: {left.sentence}")

    def _write(self, path: Path, pieces: Any) -> None:
        try:
            with path.open("xb") as stream:
                stream.writelines(pieces)
        except FileExistsError:
            raise CommandError(f"{path} is there already. Name a new file.", returncode=BAD_INPUT) from None
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.", returncode=BAD_INPUT) from None
        self.stdout.write(str(path))
