"""`karat project`: writes one project to a file, and deletes one."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.models import Project
from apps.backups.actions.projects import delete_project, export_project
from apps.backups.execution.places import place_of
from apps.backups.management.console import ProgressLine
from apps.backups.selectors.backups import contents_of


class Command(BaseCommand):
    help = "Write one project to a file, or delete it, with everything in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        export = steps.add_parser("export", help="write everything of one project to a file")
        export.add_argument("slug")
        export.add_argument(
            "target", type=place_of, help="a file that does not exist yet, a folder, or s3://BUCKET/FOLDER"
        )
        delete = steps.add_parser("delete", help="delete a project for good, with everything in it")
        delete.add_argument("slug")
        delete.add_argument("--name", help="its name, which is asked for otherwise")

    def handle(self, *args: Any, step: str, **options: Any) -> None:
        getattr(self, f"_{step}")(**options)

    def _export(self, *, slug: str, target: Path | str, **options: Any) -> None:
        progress = ProgressLine()
        try:
            written = export_project(project=self._project(slug), target=target, at=timezone.now(), progress=progress)
        finally:
            progress.end()
        manifest = written.manifest
        content = f"{manifest.rows:,} rows and {len(manifest.files):,} files, digest {manifest.digest[:12]}"
        self.stdout.write(f"{written.path}: {written.size / 1e6:,.1f} MB with {content}")
        for path in manifest.missing:
            self.stderr.write(f"The uploaded file {path} was not on the disk, and is not in the file.")

    def _delete(self, *, slug: str, name: str | None, **options: Any) -> None:
        project = self._project(slug)
        goes = ", ".join(f"{each.what}: {each.rows:,}" for each in contents_of(project) if each.rows)
        self.stderr.write(f"All of {project.name} goes ({goes}); `karat project export {slug} FOLDER` keeps a copy.")
        try:
            typed = input("Its name, to delete it: ") if name is None else name
        except EOFError:
            typed = ""
        delete_project(project=project, typed=typed, actor=None, at=timezone.now())
        self.stdout.write(f"{project.name} is closed to everybody, and a worker deletes what is in it.")

    def _project(self, slug: str) -> Project:
        project = Project.objects.not_deleted().filter(slug=slug).first()
        if project is None:
            known = ", ".join(Project.objects.not_deleted().order_by("slug").values_list("slug", flat=True)[:20])
            raise CommandError(f"There is no project {slug}. There are: {known or 'none yet'}.", returncode=2)
        return project
