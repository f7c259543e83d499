from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.common.errors import Refusal
from apps.goldsets import rules
from apps.goldsets.actions.versions import log_export
from apps.goldsets.enums import Split
from apps.goldsets.execution import exporting
from apps.goldsets.formats.folder import CHOICES
from apps.goldsets.management.base import REFUSED, USAGE, VersionCommand
from apps.goldsets.selectors import versions


class Command(VersionCommand):
    help = "Write a frozen gold version as files. Exit codes: 0 written, 2 wrong command line, 3 refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--format", choices=CHOICES, action="append", dest="formats", help="default: all")
        parser.add_argument("--split", choices=Split.values, help="one split only; default: both")
        parser.add_argument(
            "--run",
            metavar="TAG",
            action="append",
            default=[],
            help="of letor: a run to take as a feature",
        )
        parser.add_argument("--slices", action="store_true", help="also slices.json, as the slices are now")
        parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="a new or empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        version = self.version(options)
        folder = self._folder(options["out"])
        formats = options["formats"] or ["all"]
        splits = [options["split"]] if options["split"] else list(Split.values)
        at = timezone.now()
        try:
            if reason := rules.export_refusal(version):
                raise exporting.ExportRefused(reason, code="export_refused")
            revoked = versions.revoked_sources(version, at=at)
            runs = exporting.runs_for(version, formats, options["run"])
            choice: dict[str, Any] = {"formats": formats, "splits": splits, "with_slices": options["slices"]}
            manifest = exporting.write(version, folder, revoked=revoked, runs=runs, **choice)
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=REFUSED) from None
        log_export(version=version, actor=None, formats=formats, splits=splits, at=at)
        for entry in manifest["files"]:
            self.stdout.write(str(folder / entry["path"]))
        self.stdout.write(str(folder / "manifest.json"))

    def _folder(self, folder: Path) -> Path:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            is_empty = next(folder.iterdir(), None) is None
        except OSError as error:
            raise CommandError(f"{folder} cannot be used: {error.strerror}.", returncode=USAGE) from None
        if not is_empty:
            raise CommandError(f"{folder} is not empty. Name a new folder.", returncode=USAGE)
        return folder
