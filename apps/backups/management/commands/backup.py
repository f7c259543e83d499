"""`karat backup FILE|FOLDER|s3://BUCKET/FOLDER`: writes everything to one file, while people work."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.backups.actions.backups import back_up
from apps.backups.execution.making import WrittenBackup
from apps.backups.execution.places import place_of
from apps.backups.management.console import ProgressLine, new_passphrase
from apps.common.errors import Refusal

FAULT, NOT_VERIFIED = 2, 1
NO_PROOF = {"backup_not_restored", "backup_not_verified", "backup_broken"}


class Command(BaseCommand):
    help = "Write the database and the uploaded files, as they are now, to one file. People can go on working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "target", type=place_of, help="a file that does not exist yet, a folder, or s3://BUCKET/FOLDER"
        )
        parser.add_argument("--verify", action="store_true", help="restore it into a scratch place, and compare")
        parser.add_argument(
            "--with-secrets", action="store_true", help="include the keys of the server, encrypted with a passphrase"
        )
        parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help="its first line is the passphrase")

    def handle(self, *args: Any, **options: Any) -> None:
        progress = ProgressLine()
        if options["passphrase_file"] and not options["with_secrets"]:
            raise CommandError("--passphrase-file is for --with-secrets. Give both, or neither.", returncode=FAULT)
        try:
            passphrase = new_passphrase(options["passphrase_file"]) if options["with_secrets"] else ""
            backup, verified = back_up(
                target=options["target"],
                at=timezone.now(),
                passphrase=passphrase,
                verify=options["verify"],
                progress=progress,
            )
        except Refusal as refusal:
            code = NOT_VERIFIED if refusal.code in NO_PROOF else FAULT
            raise CommandError(refusal.sentence, returncode=code) from refusal
        finally:
            progress.end()
        self.stdout.write(f"{backup.path}: {contents(backup)}")
        for path in backup.manifest.missing:
            self.stderr.write(f"The uploaded file {path} was not on the disk, and is not in the backup.")
        if verified:
            self.stdout.write(str(verified))


def contents(backup: WrittenBackup) -> str:
    manifest = backup.manifest
    return (
        f"{backup.size / 1e6:,.1f} MB with {manifest.rows:,} rows of {len(manifest.tables)} tables and "
        f"{len(manifest.files):,} files of {manifest.bytes_of_files / 1e6:,.1f} MB, digest {manifest.digest[:12]}"
    )
