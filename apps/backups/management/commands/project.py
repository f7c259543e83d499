"""`karat project`: writes one project to a file, takes one in from a file, and deletes one."""

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.models import Project, User
from apps.backups.actions.arrivals import import_project
from apps.backups.actions.projects import delete_project, export_project
from apps.backups.edges.progress import ProgressLine
from apps.backups.enums import PeopleAs
from apps.backups.execution.places import place_of
from apps.backups.formats.archive import Archive
from apps.backups.selectors.arrivals import Arrival, Person, arrival_of
from apps.backups.selectors.contents import contents_of
from apps.common.errors import Refusal

FAULT = 2
CONFIRM = "Nothing was imported. Run this again with --confirm; until it ends nobody can save."
NEW_FILE = "Nothing was imported, and this file will not be: run this again with one in which no round is open."


class Command(BaseCommand):
    help = "Write one project to a file, take one in from a file, or delete it, with everything in it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        export = steps.add_parser("export", help="write everything of one project to a file")
        export.add_argument("slug")
        export.add_argument(
            "target", type=place_of, help="a file that does not exist yet, a folder, or s3://BUCKET/FOLDER"
        )
        take = steps.add_parser("import", help="take in a project that another server has exported")
        take.add_argument("file", type=Path)
        take.add_argument("--lead", metavar="EMAIL", required=True, help="who leads it here; has an account")
        take.add_argument("--slug", default="", help="its address here, if not the one that it has")
        take.add_argument(
            "--people",
            choices=[*PeopleAs],
            default=PeopleAs.NAMES,
            help="who they are here: names without an account, “Person 1” and so on, or who has an account here under "
            "the same address",
        )
        take.add_argument("--confirm", action="store_true", help="do it; without this it is only shown")
        delete = steps.add_parser("delete", help="delete a project for good, with everything in it")
        delete.add_argument("slug")
        delete.add_argument("--name", help="its name, which is asked for otherwise")

    def handle(self, *args: Any, step: str, **options: Any) -> None:
        try:
            getattr(self, f"_{step}")(**options)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=FAULT) from refusal

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

    def _import(self, *, file: Path, lead: str, slug: str, people: str, confirm: bool, **options: Any) -> None:
        leads = self._person(lead)
        with Archive(file) as archive:
            arrival = arrival_of(archive)
            self.stdout.write("\n".join(preview(arrival, PeopleAs(people))))
            if not confirm:
                self.stdout.write(NEW_FILE if arrival.open_rounds else CONFIRM)
                return
            progress = ProgressLine()
            try:
                project = import_project(
                    archive=archive,
                    lead=leads,
                    people=PeopleAs(people),
                    slug=slug,
                    at=timezone.now(),
                    progress=progress,
                )
            finally:
                progress.end()
        self.stdout.write(f"Imported as {project.slug}; {leads.email} leads it.")

    def _person(self, email: str) -> User:
        if (user := User.objects.filter(email__iexact=email).first()) is None:
            raise CommandError(
                f"Nobody here has the address {email}. `karat user add {email} --name NAME` makes an account.",
                returncode=FAULT,
            )
        return user

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
        project = Project.objects.standing().filter(slug=slug).first()
        if project is None:
            known = ", ".join(Project.objects.standing().order_by("slug").values_list("slug", flat=True)[:20])
            raise CommandError(f"There is no project {slug}. There are: {known or 'none yet'}.", returncode=FAULT)
        return project


def preview(arrival: Arrival, people: PeopleAs) -> Iterator[str]:
    """What would come, a line each, and who each person would be here."""
    yield (
        f"{arrival.name} ({arrival.slug}), exported by Karat {arrival.karat} at {arrival.made_at}: {arrival.rows:,} "
        f"rows, {arrival.files:,} files, {arrival.links:,} sealed records of history"
    )
    for name in arrival.open_rounds:
        yield f"  The round {name} is open there: close it, and export the project again."
    for number, person in enumerate(arrival.people, 1):
        roles = ", ".join(person.roles) or "no role"
        yield f"  {person.name} <{person.email}> ({roles}): {_here(person, people, number)}"


def _here(person: Person, people: PeopleAs, number: int) -> str:
    if people == PeopleAs.PSEUDONYMS:
        return f"Person {number}, without an account"
    if person.account is None:
        return "a name without an account"
    if people == PeopleAs.MEMBERS:
        return "the person here with this address"
    return "a name without an account, though somebody here has this address"
