import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import Refusal
from apps.jobs.actions.uploads import fill_store

SHOWN = 20


class Command(BaseCommand):
    help = "Send the uploaded files of this host to the store that KARAT_STORE names."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            filled = fill_store()
        except Refusal as refusal:
            raise CommandError(refusal.sentence) from None
        self.stdout.write(f"{filled.sent:,} files were sent; {filled.there:,} were in the store already.")
        if not filled.missing:
            return
        self.stderr.write(f"{len(filled.missing):,} files are neither here nor in the store:")
        for path in filled.missing[:SHOWN]:
            self.stderr.write(f"  {path}")
        self.stderr.write("Run this on the host that has them, or restore them from a backup.")
        sys.exit(1)
