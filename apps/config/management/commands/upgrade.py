"""`karat upgrade`: shows what an upgrade changes, makes a backup, and applies it."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.config.upgrade import plan_upgrade, upgrade


class Command(BaseCommand):
    help = "Show what an upgrade of the database changes, back the database up, and apply it. `karat up` does the same."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--plan", action="store_true", help="show it, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        plan = plan_upgrade(data_dir=settings.DATA_DIR)
        if not plan.migrations:
            self.stdout.write("The database is of this version. There is nothing to do.")
        elif options["plan"]:
            self.stdout.write("\n".join(plan.lines))
        else:
            backup = upgrade(data_dir=settings.DATA_DIR, at=timezone.now(), say=self.stdout.write)
            self.stdout.write(f"Upgraded. The backup from before: {backup}" if backup else "The tables were created.")
