"""The base of the import commands: project, acting person, preview, and mistakes on stderr with exit code 2."""

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, cast

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.rules import archive_refusal
from apps.accounts.selectors import members_of, with_address
from apps.common.database.bulk import undone
from apps.common.errors import InputError, InputErrors, Refusal
from apps.common.files.faults import as_line
from apps.common.files.linefiles import name_of
from apps.common.files.tabular import TableFile, open_source
from apps.corpus.core.documents import FIRST_ROWS
from apps.corpus.core.import_plans import ImportPlan
from apps.corpus.core.table_plans import WARN
from apps.corpus.execution.import_reading import prepared_source
from apps.corpus.formats.packages.on_disk import files_at, pack, package_name
from apps.corpus.selectors.import_kinds import FileToImport, kind_named

BAD_INPUT = 2


class ProjectCommand(BaseCommand):
    """A command in one project. Refusals and mistakes end it with exit code 2 and change nothing.

    A command that only reads sets `changes_project` to False: it also works in an archived project.
    """

    changes_project = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, help="slug of the project")
        parser.add_argument("--user", default="", help="e-mail of the acting person (default: the first lead)")

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=BAD_INPUT) from refusal
        except InputError as error:
            raise CommandError(as_line(error), returncode=BAD_INPUT) from error
        except InputErrors as errors:
            raise self.faults(errors.errors, more=errors.capped) from errors

    def faults(self, errors: list[InputError], *, more: bool = False) -> CommandError:
        lines = [as_line(error) for error in errors]
        if more:
            lines.append(f"… and more; only the first {len(errors)} are listed")
        return CommandError("\n".join([*lines, "Nothing was imported."]), returncode=BAD_INPUT)

    def project(self, options: dict[str, Any]) -> Project:
        slug = options["project"]
        project = Project.objects.not_deleted().filter(slug=slug).first()
        if project is None:
            known = ", ".join(Project.objects.not_deleted().order_by("slug").values_list("slug", flat=True)[:20])
            message = f"There is no project {slug}. There are: {known or 'none yet'}."
            raise CommandError(message, returncode=BAD_INPUT)
        if self.changes_project and (reason := archive_refusal(project)):
            raise CommandError(reason, returncode=BAD_INPUT)
        return project

    def actor(self, project: Project, options: dict[str, Any]) -> User:
        email = options["user"]
        if not email:
            lead = members_of(project, Role.LEAD).order_by("pk").first()
            if lead is None:
                raise CommandError(f"{project.name} has no lead. Name one with --user.", returncode=BAD_INPUT)
            return lead
        user = with_address(members_of(project, Role.LEAD), email).first()
        if user is None:
            raise CommandError(f"{email} is not a lead of {project.name}.", returncode=BAD_INPUT)
        return user


@contextmanager
def opened(path: str) -> Iterator[TableFile]:
    """The file to import. Standard input and pipes are copied: a file is read twice."""
    is_pipe = Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir())
    if path != "-" and not is_pipe:
        with open_source(path) as source:
            yield source
        return
    with TemporaryFile() as copy:
        with Path(path).open("rb") if is_pipe else nullcontext(sys.stdin.buffer) as stream:
            shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield TableFile(name_of(path), cast(BinaryIO, copy))


@contextmanager
def packed(paths: Iterable[Path]) -> Iterator[TableFile]:
    """What is at these paths, as one package. Raises InputError for a path that is not there."""
    with TemporaryDirectory(prefix="karat-") as folder:
        package, (files, hidden) = Path(folder) / "package", files_at(paths)
        with package.open("wb") as out:
            pack(files, out, hidden)
        with open_source(package, name=package_name(files)) as source:
            yield source


class ImportCommand(ProjectCommand):
    """Import one file of a kind that pages import too. Subclasses define their options."""

    kind: str

    def add_arguments(self, parser: ArgumentParser) -> None:
        self.add_file(parser)
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")

    def add_file(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the file, plain or gzip; - is standard input")

    def add_first_row(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--first-row",
            default="",
            choices=[name for name in FIRST_ROWS if name],
            help="what the first row of a table is (default: recognised, and asked where that is not sure)",
        )

    def opened(self, options: dict[str, Any]) -> AbstractContextManager[TableFile]:
        return opened(options["file"])

    def import_options(self, project: Project, options: dict[str, Any]) -> dict[str, Any]:
        """The options in the format of the kind's form."""
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        chosen = self.import_options(project, options)
        with self.opened(options) as source:
            file = FileToImport(project, source, chosen)
            plan = self.apply(file, self.actor(project, options), dry=options["dry_run"])
        self.report(project, chosen, plan, dry=options["dry_run"])

    def apply(self, file: FileToImport, actor: User, *, dry: bool) -> ImportPlan:
        """Import; a dry run does the same, so that it is refused for the same reasons, and then undoes it."""
        kind, at = kind_named(self.kind), timezone.now()
        with prepared_source(kind, file, actor=actor, at=at) as made, undone(when=dry):
            fitting = kind.still_fitting(file.project, file.options, made)
            plan = kind.apply(file, actor=actor, at=at, prepared=fitting)
            self.applied(file, plan, actor, at)
            return plan

    def applied(self, file: FileToImport, plan: ImportPlan, actor: User, at: datetime) -> None:
        """What else is done with the file, in the transaction that has applied it."""

    def report(self, project: Project, chosen: dict[str, Any], plan: ImportPlan, *, dry: bool) -> None:
        kind = kind_named(self.kind)
        for warning in plan.errors.warnings:
            self.stderr.write(f"note: {as_line(warning)}")
        for message in plan.extra.get("table", {}).get("messages", []):
            self.stderr.write(f"note: {message['title']} {message['words']}".rstrip())
            for example in message["examples"] if message["state"] == WARN else ():
                self.stderr.write(f"    {example}")
            if message["state"] == WARN and message["more"]:
                self.stderr.write(f"    and {message['more']:,} more")
        head = "Dry run" if dry else "Imported"
        self.stdout.write(f"{head}, {kind.target(project, chosen)}: {plan.sentence(kind.one, kind.many)}")
