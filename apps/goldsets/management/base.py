"""The argument that names a version, for the commands about versions."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.http import Http404

from apps.accounts.models import Project
from apps.goldsets.models import Version
from apps.goldsets.selectors import versions

VERSION_NAME = re.compile(r"([-a-zA-Z0-9_]+)/v([0-9]{1,6})\Z")
USAGE, REFUSED = 2, 3


class VersionCommand(BaseCommand):
    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Remove Django's own --version option, since a version is an argument here."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", required=True)
        parser.add_argument(
            "--version",
            metavar="GOLDSET/vN",
            dest="gold_version",
            help="default: the version released last",
        )

    def version(self, options: dict[str, Any]) -> Version:
        slug, name = options["project"], options["gold_version"]
        project = Project.objects.not_deleted().filter(slug=slug).first()
        if project is None:
            raise CommandError(f"There is no project “{slug}”.", returncode=USAGE)
        if name is None:
            latest = versions.latest_version(project)
            if latest is None:
                raise CommandError("No version is released yet. Name one with --version.", returncode=USAGE)
            return latest
        match = VERSION_NAME.match(name)
        if match is None:
            raise CommandError(f"“{name}” does not name a version. Write it as handbook/v3.", returncode=USAGE)
        try:
            return versions.version_in(project, match[1], int(match[2]))
        except Http404:
            known = ", ".join(f"{each.gold_set.slug}/{each.label}" for each in versions.versions_in(project))
            message = f"There is no version “{name}” in {slug}. There are: {known or 'none yet'}."
            raise CommandError(message, returncode=USAGE) from None
