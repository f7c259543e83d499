import json
from argparse import ArgumentParser
from dataclasses import asdict, replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.accounts.models import Project
from apps.audit.verification import Verdict, verify_chain

BROKEN = 1


class Command(BaseCommand):
    help = "Walk the audit chains and name the first broken link. Exit code 1 when one is broken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project's chain")
        parser.add_argument("--format", choices=["table", "json"], default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        verdicts = [verdict_on(project) for project in self._projects(options["project"])]
        if options["format"] == "json":
            self.stdout.write(json.dumps([asdict(verdict) for verdict in verdicts], indent=2))
        else:
            for verdict in verdicts:
                self.stdout.write(line(verdict))
        if any(verdict.broken for verdict in verdicts):
            raise SystemExit(BROKEN)

    def _projects(self, slug: str | None) -> list[Project | None]:
        if not slug:
            return [None, *Project.objects.order_by("pk")]
        try:
            return [Project.objects.get(slug=slug)]
        except Project.DoesNotExist:
            raise CommandError(f"There is no project “{slug}”.", returncode=2) from None


def verdict_on(project: Project | None) -> Verdict:
    """The verdict on a chain under the name by which people call the project."""
    verdict = verify_chain(project)
    return replace(verdict, name=project.slug) if project else verdict


def line(verdict: Verdict) -> str:
    tail = f"{verdict.unsealed:,} not sealed yet, head {verdict.digest}"
    if verdict.broken is None:
        return f"{verdict.name}: {verdict.links:,} links hold, {tail}"
    place = f"broken at link {verdict.broken.position:,}"
    if verdict.broken.kind:
        place += f" ({verdict.broken.kind} {verdict.broken.record_id})"
    return f"{verdict.name}: {place}: {verdict.broken.reason}; {verdict.links:,} links before it hold, {tail}"
