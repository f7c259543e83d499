"""`karat project`: deletes a project."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.models import Project
from apps.backups.actions.projects import delete_project
from apps.backups.selectors.contents import contents_of
from apps.common.errors import Refusal

FAULT = 2


class Command(BaseCommand):
    help = "Delete a project, with everything in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        delete = steps.add_parser("delete", help="delete a project for good, with everything in it")
        delete.add_argument("slug")
        delete.add_argument("--name", help="its name, which is asked for otherwise")

    def handle(self, *args: Any, step: str, **options: Any) -> None:
        try:
            getattr(self, f"_{step}")(**options)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=FAULT) from refusal

    def _delete(self, *, slug: str, name: str | None, **options: Any) -> None:
        project = self._project(slug)
        goes = ", ".join(f"{each.what}: {each.rows:,}" for each in contents_of(project) if each.rows)
        self.stderr.write(f"All of {project.name} goes ({goes}); `karat backup` keeps a copy.")
        try:
            typed = input("Its name, to delete it: ") if name is None else name
        except EOFError:
            typed = ""
        delete_project(project=project, typed=typed, actor=None, at=timezone.now())
        self.stdout.write(f"{project.name} is closed to everybody, and a worker deletes what is in it.")

    def _project(self, slug: str) -> Project:
        project = Project.objects.standing().filter(slug=slug).first()
        if project is None:
            known = ", ".join(Project.objects.standing().order_by("slug").values_list("slug", flat=True)[:20])
            raise CommandError(f"There is no project {slug}. There are: {known or 'none yet'}.", returncode=FAULT)
        return project
