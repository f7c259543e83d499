import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from apps.accounts.models import Project
from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.documents import DEFAULT, EXAMPLES, FIRST_ROWS, recipe_of
from apps.corpus.core.import_plans import ImportPlan, named_columns
from apps.corpus.enums import ImportMode
from apps.corpus.execution.document_reading import AUTO, endings_in
from apps.corpus.formats import IDS
from apps.corpus.formats.documents.records import SAID
from apps.corpus.imports.api import EMPTIES, NEW
from apps.corpus.imports.documents import FORMAT_CHOICES, site_address
from apps.corpus.management.base import BAD_INPUT, ImportCommand, opened, packed
from apps.corpus.models import READING
from apps.corpus.selectors.corpora import corpora_in

PATHS_SHOWN = 5


class Command(ImportCommand):
    help = "Import documents, or files of passages, into a corpus of a project. A missing corpus is created."
    kind = "corpus"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--corpus", required=True, help="slug of the corpus, or the name of a new one")
        parser.add_argument(
            "--format",
            choices=list(dict(FORMAT_CHOICES)),
            default=AUTO,
            help="kind of the files (default: recognised for each)",
        )
        parser.add_argument(
            "--recipe",
            help=f"how documents are cut: {', '.join(EXAMPLES)} (default: as the corpus was, or by headings)",
        )
        parser.add_argument(
            "--also-text",
            metavar="ENDINGS",
            help='endings of files to read as text where no reader knows them, such as yaml,toml; "" for none'
            " (default: as the corpus was)",
        )
        parser.add_argument(
            "--base-url",
            metavar="URL",
            help='address of the site, so that passages link to their pages; "" for none (default: as the corpus was)',
        )
        parser.add_argument(
            "--first-row",
            choices=list(FIRST_ROWS),
            help='what the first row of a table is; "" where that is recognised (default: as the corpus was)',
        )
        parser.add_argument(
            "--columns",
            metavar="COLUMNS",
            help="what columns of tables are, such as Inhalt=text,Nr=id; they can be"
            f" {', '.join(SAID)} (default: as the corpus was)",
        )
        parser.add_argument(
            "--ids", choices=list(IDS), default="file", help="where ids come from; position is for SMART files"
        )
        parser.add_argument(
            "--mode",
            choices=ImportMode.values,
            default=ImportMode.REPLACE,
            help="blocks missing from the files: replace removes them (default); merge keeps them",
        )

        parser.add_argument(
            "--empty",
            action="store_true",
            help="let the files remove all blocks of a corpus that has none of their documents",
        )

    def add_file(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders and zips; - is standard input")

    @contextmanager
    def opened(self, options: dict[str, Any]) -> Iterator[TableFile]:
        """One file as it is; several, or a folder, as one package."""
        paths = [str(path) for path in options["paths"]]
        if paths != ["-"]:
            is_alone = len(paths) == 1 and not Path(paths[0]).is_dir()
            with opened(paths[0]) if is_alone else packed(map(Path, paths)) as source:
                yield source
            return
        with TemporaryDirectory(prefix="karat-") as folder:
            package = Path(folder) / "package"
            with package.open("wb") as out:
                shutil.copyfileobj(sys.stdin.buffer, out)
            with open_source(package, name=name_of("-")) as source:
                yield source

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        if options["format"] == AUTO and options["ids"] != "file":
            raise CommandError("Ids by position are for SMART files: name --format smart.", returncode=BAD_INPUT)
        corpus = corpora_in(project).filter(slug=options["corpus"]).first()
        usual = corpus.reading if corpus else dict.fromkeys(READING, "")
        reading = {name: value if options[name] is None else options[name] for name, value in usual.items()}
        try:
            recipe = str(recipe_of(reading["recipe"] or str(DEFAULT)))
            base_url = site_address(reading["base_url"])
            also_text = endings_in(reading["also_text"])
            named_columns(reading["columns"], SAID)
        except ValueError as reason:
            raise CommandError(str(reason), returncode=BAD_INPUT) from reason
        except ValidationError as reason:
            message = (
                f"--base-url {options['base_url']} is not the address of a site, such as https://docs.example.org."
            )
            raise CommandError(message, returncode=BAD_INPUT) from reason
        return {
            "format": options["format"],
            "recipe": recipe,
            "base_url": base_url,
            "also_text": also_text,
            EMPTIES: corpus.slug if corpus and options["empty"] else "",
            "first_row": reading["first_row"],
            "columns": reading["columns"],
            "ids": options["ids"],
            "mode": options["mode"],
            "corpus": options["corpus"] if corpus else NEW,
            "name": "" if corpus else options["corpus"],
        }

    def report(self, project: Project, chosen: dict[str, Any], plan: ImportPlan, *, dry: bool) -> None:
        for note in plan.notes if plan.extra else ():
            self.stderr.write(f"note: {note}")
        for group in plan.extra.get("unread", ()):
            paths = ", ".join(group["paths"][:PATHS_SHOWN]) + (", …" if len(group["paths"]) > PATHS_SHOWN else "")
            files = "1 file" if group["files"] == 1 else f"{group['files']:,} files"
            endings = ",".join(group.get("as_text", {}).get("endings", []))
            cure = f"; --also-text {endings} reads them as text" if endings else ""
            self.stderr.write(f"not read: {group['reason']}: {files} ({paths}){cure}")
        super().report(project, chosen, plan, dry=dry)
