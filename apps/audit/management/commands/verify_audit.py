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
from apps.audit.execution.signed_checkpoints import OTHER_KEY, ChainHead
from apps.audit.execution.verification import Break, ChainCheck, is_passed, verify_chain

BROKEN, USAGE = 1, 2
ACCEPT = (
    "If the key was changed, or a backup or a project restored without it, put the old audit-key back, or accept the "
    "chains as they are: `karat verify-audit --sign`."
)


class Command(BaseCommand):
    help = (
        "Verify the audit chains, recompute the digests of frozen objects, and list every fault. "
        "Exit code 1 if there is one."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", metavar="SLUG", help="only this project's chain")
        parser.add_argument("--format", choices=["table", "json"], default="table")
        parser.add_argument(
            "--heads",
            metavar="FILE",
            type=Path,
            help="an earlier output of --format json: each chain must contain those heads",
        )
        parser.add_argument(
            "--sign",
            action="store_true",
            help="sign the present heads, after a restore of an older copy or with a new audit key; writes an event",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        projects = self._projects(options["project"])
        stored = stored_heads(options["heads"]) if options["heads"] else {}
        if options["sign"]:
            self._sign(projects)
        checks = [check_of(project, stored) for project in projects]
        if options["format"] == "json":
            self.stdout.write(json.dumps([asdict(check) for check in checks], indent=2))
        else:
            for check in checks:
                self.stdout.write("\n".join(lines(check)))
        if not all(check.holds for check in checks):
            if any(check.broken and check.broken.reason == OTHER_KEY for check in checks):
                self.stderr.write(ACCEPT)
            raise SystemExit(BROKEN)

    def _projects(self, slug: str | None) -> list[Project | None]:
        if not slug:
            return [None, *Project.objects.not_deleted().order_by("pk")]
        try:
            return [Project.objects.not_deleted().get(slug=slug)]
        except Project.DoesNotExist:
            raise CommandError(f"There is no project “{slug}”.", returncode=USAGE) from None

    def _sign(self, projects: list[Project | None]) -> None:
        for name in sign_heads(projects=projects, at=timezone.now()):
            self.stderr.write(f"{name}: signed.")


def stored_heads(path: Path) -> dict[str, ChainHead]:
    """The heads in an output file of this command, by chain name."""
    try:
        return {entry["name"]: ChainHead(entry["links"], entry["digest"]) for entry in json.loads(path.read_bytes())}
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}.", returncode=USAGE) from None
    except (ValueError, KeyError, TypeError):
        message = f"{path} is not an output of `karat verify-audit --format json`."
        raise CommandError(message, returncode=USAGE) from None


def check_of(project: Project | None, stored: dict[str, ChainHead]) -> ChainCheck:
    """The result for the chain of a project, under the name that people know, broken where the chain lacks the head
    that they stored.
    """
    check = verify_chain(project)
    named = replace(check, name=project.slug) if project else check
    head = stored.get(named.name)
    if check.broken is not None or head is None or is_passed(check.name, head):
        return named
    reason = f"it does not contain the stored head, link {head.length:,} with the digest {head.digest}"
    return replace(named, broken=Break(check.links, "", 0, reason))


def lines(check: ChainCheck) -> Iterator[str]:
    tail = f"{check.unsealed:,} not sealed yet, head {check.digest}"
    if check.broken is None:
        yield f"{check.name}: {check.links:,} links intact, {tail}"
    else:
        place = f"broken at link {check.broken.position:,}"
        if check.broken.kind:
            place += f" ({check.broken.kind} {check.broken.record_id})"
        yield f"{check.name}: {place}: {check.broken.reason}; {check.links:,} links before it intact, {tail}"
    yield from (f"{check.name}: {fault}" for fault in check.faults)
