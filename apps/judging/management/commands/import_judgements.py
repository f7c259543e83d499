from argparse import ArgumentParser
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from apps.accounts.models import Project, User
from apps.common.files.tabular import TableFile
from apps.corpus.core.import_plans import SKIP, ImportPlan
from apps.corpus.management.base import BAD_INPUT, ImportCommand, packed
from apps.corpus.selectors.import_kinds import FileToImport, kind_named
from apps.judging.core.table_roles import is_same_grade, parse_table_columns
from apps.judging.execution.judgement_import import PASSAGES, QUERIES
from apps.judging.formats.judgements import QRELS_COLUMNS, columns_of, parse_grade_map
from apps.judging.formats.recognition import AUTO
from apps.judging.imports.judgements import CHOICES, TABLES, named_choice
from apps.judging.imports.previews import GRADED
from apps.retrieval.management.base import chosen_snapshot


class Command(ImportCommand):
    help = (
        "Import judgements: TREC qrels, tables, or exports of other tools, which may be folders. Nothing about grades"
        " is guessed."
    )
    kind = "judgements"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--snapshot", required=True, help="corpus@number, or the snapshot's digest (8 characters will do)"
        )
        parser.add_argument("--format", default=AUTO, choices=list(CHOICES), help="format of the file")
        parser.add_argument(
            "--columns",
            default="",
            help=f"columns of a file divided by blanks (default: {' '.join(QRELS_COLUMNS)}), or of ratings, such as"
            " query=query_text,docid=doc_id,first=rater,second=rater,agreed=final; of a table, such as"
            " Search=query,URL=passage,Stars=grade",
        )
        parser.add_argument("--grades", default="", help="grade map, such as 1=3,2=2,3=1,-1=skip")
        self.add_first_row(parser)
        parser.add_argument("--sheet", default="", help="sheet of a workbook (default: the largest one)")
        parser.add_argument("--person", default="", help="who gave the grades, if the file does not say it")
        parser.add_argument(
            "--graded",
            default="",
            choices=[choice for choice in GRADED if choice],
            help="of pairs that have a grade already: replace the grades that the same person gave before, or leave the"
            " pairs out (default: stop where that is to be decided; grades of others always stay)",
        )
        parser.add_argument("--name", default="", help="name of the round")
        parser.add_argument(
            "--skip-unknown", action="store_true", help="leave out rows that name an unknown query or block"
        )

        parser.add_argument(
            "--match-ids", action="store_true", help="read unknown ids that nearly fit by the one rule that fits them"
        )

    def opened(self, options: dict[str, Any]) -> AbstractContextManager[TableFile]:
        """The file, or a folder as a package."""
        path = Path(options["file"])
        return packed([path]) if path.is_dir() else super().opened(options)

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        is_table = options["format"] in {AUTO, *TABLES}
        of_form = parse_table_columns if is_table else partial(columns_of, options["format"])
        for name, parse in (("grades", parse_grade_map), ("columns", of_form)):
            try:
                if options[name]:
                    parse(options[name])
            except ValueError as fault:
                raise CommandError(f"--{name}: {fault}.", returncode=BAD_INPUT) from fault
        snapshot = chosen_snapshot(project, options["snapshot"])
        chosen = ("format", "columns", "grades", "name", "skip_unknown", "person", "graded", "first_row")
        values = {"snapshot": str(snapshot.pk), **{name: options[name] for name in chosen}}
        if options["match_ids"]:
            values["match"] = [QUERIES, PASSAGES]
        return values | named_choice(options) if is_table else values

    def apply(self, file: FileToImport, actor: User, *, dry: bool) -> ImportPlan:
        """Import, unless a grade would become another one that nobody has named: only a page can show that."""
        plan = kind_named(self.kind).preview(file, lambda done: None)
        grades = plan.extra.get("table", {}).get("grades", [])
        if not file.options["grades"] and any(not is_same_grade(value, grade) for value, grade, _ in grades):
            map_ = ",".join(f"{value}={grade or SKIP}" for value, grade, _ in grades)
            message = f"The table has grades of another scale. Name what they mean here, such as --grades {map_}"
            raise CommandError(message, returncode=BAD_INPUT)
        for fix in plan.fixes:
            if fix.name.startswith("match-"):
                self.stderr.write(f"note: {fix.words} Import with --match-ids to read them so.")
            if graded := fix.options.get("graded"):
                self.stderr.write(f"note: with --graded {graded}: {fix.words}")
        if any("graded" in fix.options for fix in plan.fixes) and not file.options["person"]:
            self.stderr.write("note: with --person NAME the grades of the file are theirs.")
        file.source.rewind()
        return super().apply(file, actor, dry=dry)
