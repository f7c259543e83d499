from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.corpus.edges.commands import BAD_INPUT, ImportCommand
from apps.judging.formats.judgements import FORMATS, QRELS_COLUMNS, columns_of, parse_grade_map
from apps.retrieval.edges.commands import chosen_snapshot


class Command(ImportCommand):
    help = "Import judgements: TREC qrels, other columns, or the flat CSV layout. Nothing about grades is guessed."
    kind = "judgements"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--snapshot", required=True, help="corpus@number, or the snapshot's digest (8 characters will do)"
        )
        parser.add_argument("--format", required=True, choices=list(FORMATS), help="form of the file")
        parser.add_argument(
            "--columns",
            default="",
            help=f"columns of a file divided by blanks (default: {' '.join(QRELS_COLUMNS)}), or of ratings, such as"
            " query=query_text,docid=doc_id,first=rater,second=rater,agreed=final",
        )
        parser.add_argument("--grades", default="", help="grade map, such as 1=3,2=2,3=1,-1=skip")
        parser.add_argument("--name", default="", help="name of the round")
        parser.add_argument(
            "--skip-unknown", action="store_true", help="leave out rows that name an unknown query or block"
        )

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        of_form = partial(columns_of, options["format"])
        for name, parse in (("grades", parse_grade_map), ("columns", of_form)):
            try:
                if options[name]:
                    parse(options[name])
            except ValueError as fault:
                raise CommandError(f"--{name}: {fault}.", returncode=BAD_INPUT) from fault
        snapshot = chosen_snapshot(project, options["snapshot"])
        chosen = ("format", "columns", "grades", "name", "skip_unknown")
        return {"snapshot": str(snapshot.pk), **{name: options[name] for name in chosen}}
