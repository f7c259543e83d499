import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404
from django.utils import timezone

from apps.accounts.models import Project
from apps.common.errors import Refusal
from apps.goldsets import actions, exporting, rules, selectors
from apps.goldsets.enums import Split
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.models import Version

VERSION_NAME = re.compile(r"([-a-zA-Z0-9_]+)/v([0-9]{1,6})\Z")
USAGE, REFUSED = 2, 3


class Command(BaseCommand):
    help = "Write a frozen gold version as files. Exit codes: 0 written, 2 wrong command line, 3 refused."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to ours."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument(
            "--version",
            metavar="GOLDSET/vN",
            dest="gold_version",
            help="default: the version released last",
        )
        parser.add_argument("--format", choices=CHOICES, action="append", dest="formats", help="default: all")
        parser.add_argument("--split", choices=Split.values, help="one side only; default: both")
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="a new or empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        version = self._version(options["project"], options["gold_version"])
        folder = self._folder(options["out"])
        formats = options["formats"] or ["all"]
        splits = [options["split"]] if options["split"] else list(Split.values)
        at = timezone.now()
        try:
            if reason := rules.export_refusal(version):
                raise exporting.ExportRefused(reason, code="export_refused")
            revoked = list(selectors.revoked_sources(version, at=at))
            manifest = exporting.write(version, folder, formats=formats, splits=splits, revoked=revoked)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=REFUSED) from None
        actions.log_export(version=version, actor=None, formats=formats, splits=splits, at=at)
        for entry in manifest["files"]:
            self.stdout.write(str(folder / entry["path"]))
        self.stdout.write(str(folder / "manifest.json"))

    def _version(self, slug: str, name: str | None) -> Version:
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise CommandError(f"There is no project “{slug}”.", returncode=USAGE)
        if name is None:
            latest = selectors.latest_version(project)
            if latest is None:
                raise CommandError("No version is released yet. Name one with --version.", returncode=USAGE)
            return latest
        match = VERSION_NAME.match(name)
        if match is None:
            raise CommandError(f"“{name}” does not name a version. Write it as handbook/v3.", returncode=USAGE)
        try:
            return selectors.version_in(project, match[1], int(match[2]))
        except Http404:
            raise CommandError(f"There is no version “{name}” in {slug}.", returncode=USAGE) from None

    def _folder(self, folder: Path) -> Path:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            is_empty = next(folder.iterdir(), None) is None
        except OSError as error:
            raise CommandError(f"{folder} cannot be used: {error.strerror}.", returncode=USAGE) from None
        if not is_empty:
            raise CommandError(f"{folder} is not empty. Name a new folder.", returncode=USAGE)
        return folder
