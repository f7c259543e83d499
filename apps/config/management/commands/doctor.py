import sqlite3
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from apps.config import doctor

SECONDS = 1.5


class Command(BaseCommand):
    help = "Measure this machine and its database, and say what limits how fast people can grade."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            figures = doctor.measure(seconds=SECONDS)
        except (OSError, sqlite3.Error, DatabaseError) as problem:
            raise CommandError(f"This cannot be measured: {str(problem).strip()}", returncode=2) from problem
        for line in doctor.report(figures):
            self.stdout.write(line)
