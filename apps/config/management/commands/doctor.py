import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from apps.config import doctor
from apps.dashboard.core.checkup import Check, headline, summary
from apps.dashboard.enums import CheckStanding
from apps.dashboard.pages.health import check_up

SECONDS = 1.5
WORDS = {CheckStanding.BROKEN: "broken", CheckStanding.WARNING: "warning", CheckStanding.FINE: "fine"}


class Command(BaseCommand):
    help = (
        "Check that everything is all right; then measure this machine, and say what limits how fast people can grade."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Exit code 1 where something is broken, 2 where this machine cannot be measured."""
        checks = check_up(at=timezone.now(), thoroughly=True)
        self.stdout.write("\n".join([headline(checks), summary(checks), "", *told(checks), "\n"]))
        try:
            figures = doctor.measure(seconds=SECONDS)
        except (OSError, sqlite3.Error, DatabaseError) as problem:
            raise CommandError(f"This cannot be measured: {str(problem).strip()}", returncode=2) from problem
        for line in doctor.report(figures):
            self.stdout.write(line)
        if any(check.standing == CheckStanding.BROKEN for check in checks):
            raise CommandError(headline(checks), returncode=1)


def told(checks: Iterable[Check]) -> Iterator[str]:
    """Each check in a line, and how to mend what is not fine below it."""
    for check in checks:
        yield f"{WORDS[check.standing]:<8} {check.name}: {check.sentence}".replace("\N{NO-BREAK SPACE}", " ")
        if check.mend and not check.is_fine:
            yield f"{'':<8} To mend it: {check.mend}"
