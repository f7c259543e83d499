"""`karat verify-backup FILE`: proof that a backup can be restored."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.backups.execution.places import place_of
from apps.backups.execution.verification import scratch_beside, verify_backup
from apps.backups.management.console import read_passphrase
from apps.common.errors import Refusal

NOT_VERIFIED = 1


class Command(BaseCommand):
    help = (
        "Restore a backup into a scratch place, compare every digest, and verify the audit chains. "
        "Exit code 1 if it does not hold."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=place_of, help="what `karat backup` wrote: a file, or its address in a bucket")
        parser.add_argument("--scratch", type=Path, metavar="FOLDER", help="where to restore it for a while")
        parser.add_argument("--passphrase-file", type=Path, metavar="FILE", help="of the keys in the backup")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            passphrase = read_passphrase(options["passphrase_file"])
            file, scratch = options["file"], options["scratch"]
            if scratch is None and isinstance(file, str):
                scratch = scratch_beside(file)
            self.stdout.write(str(verify_backup(file, passphrase=passphrase, scratch=scratch)))
        except Refusal as refusal:
            raise CommandError(refusal.sentence, returncode=NOT_VERIFIED) from refusal
