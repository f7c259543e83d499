import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.accounts.models import Project
from apps.audit.actions import sign_heads
from apps.audit.execution.heads import ChainHead
from apps.audit.execution.verification import Break, ChainCheck, is_passed, verify_chain

BROKEN, USAGE = 1, 2


class Command(BaseCommand):
    help = (
        "Walk the audit chains, take the digests of what was frozen again, and name what does not hold. "
        "Exit code 1 when something does not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project's chain")
        parser.add_argument("--format", choices=["table", "json"], default="table")
        parser.add_argument(
            "--heads",
            metavar="FILE",
            type=Path,
            help="what --format json printed earlier and you kept: each chain must have gone through those heads",
        )
        parser.add_argument(
            "--sign",
            action="store_true",
            help="sign the heads as they are, after a restore of an older copy or with a new audit key; it is recorded",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        projects = self._projects(options["project"])
        kept = kept_heads(options["heads"]) if options["heads"] else {}
        if options["sign"]:
            self._sign(projects)
        verdicts = [against(verdict_on(project), project, kept) for project in projects]
        if options["format"] == "json":
            self.stdout.write(json.dumps([asdict(verdict) for verdict in verdicts], indent=2))
        else:
            for verdict in verdicts:
                self.stdout.write("\n".join(lines(verdict)))
        if not all(verdict.holds for verdict in verdicts):
            raise SystemExit(BROKEN)

    def _projects(self, slug: str | None) -> list[Project | None]:
        if not slug:
            return [None, *Project.objects.order_by("pk")]
        try:
            return [Project.objects.get(slug=slug)]
        except Project.DoesNotExist:
            raise CommandError(f"There is no project “{slug}”.", returncode=USAGE) from None

    def _sign(self, projects: list[Project | None]) -> None:
        for name in sign_heads(projects=projects, at=timezone.now()):
            self.stderr.write(f"{name}: signed as it is now.")


def kept_heads(path: Path) -> dict[str, ChainHead]:
    """The heads in a file that this command wrote, by the names of the chains."""
    try:
        return {entry["name"]: ChainHead(entry["links"], entry["digest"]) for entry in json.loads(path.read_bytes())}
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}.", returncode=USAGE) from None
    except (ValueError, KeyError, TypeError):
        said = f"{path} is not what `karat verify-audit --format json` prints."
        raise CommandError(said, returncode=USAGE) from None


def verdict_on(project: Project | None) -> ChainCheck:
    """The verdict on a chain under the name by which people call the project."""
    verdict = verify_chain(project)
    return replace(verdict, name=project.slug) if project else verdict


def against(verdict: ChainCheck, project: Project | None, kept: dict[str, ChainHead]) -> ChainCheck:
    head = kept.get(verdict.name)
    if verdict.broken is not None or head is None or is_passed(project, head):
        return verdict
    reason = f"it never had the head that was kept, link {head.length:,} with the digest {head.digest}"
    return replace(verdict, broken=Break(verdict.links, "", 0, reason))


def lines(verdict: ChainCheck) -> Iterator[str]:
    tail = f"{verdict.unsealed:,} not sealed yet, head {verdict.digest}"
    if verdict.broken is None:
        yield f"{verdict.name}: {verdict.links:,} links hold, {tail}"
    else:
        place = f"broken at link {verdict.broken.position:,}"
        if verdict.broken.kind:
            place += f" ({verdict.broken.kind} {verdict.broken.record_id})"
        yield f"{verdict.name}: {place}: {verdict.broken.reason}; {verdict.links:,} links before it hold, {tail}"
    yield from (f"{verdict.name}: {fault}" for fault in verdict.faults)
