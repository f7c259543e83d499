"""`karat export negatives`: write the negatives of a gold version to a file."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.evaluation.selectors.evaluations import scorable_runs
from apps.goldsets.actions.versions import log_export
from apps.goldsets.enums import Split
from apps.goldsets.management.base import REFUSED, USAGE, VersionCommand
from apps.goldsets.models import Version
from apps.reports import rules
from apps.reports.core.negatives import NegativesChoice
from apps.reports.selectors import negatives
from apps.reports.selectors.negatives import CONTENT_TYPES, NegativesProposal
from apps.retrieval.models import Run

DEFAULT = NegativesChoice()


class Command(VersionCommand):
    help = "Write hard and easy negatives for the judged queries of a gold version. Codes: 0, 2 wrong line, 3 refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--run", metavar="TAG", required=True, help="the baseline: a complete run on the snapshot")
        parser.add_argument("--split", choices=Split.values, default=Split.DEV.value, help="default: dev")
        parser.add_argument("--hard", type=int, default=DEFAULT.hard, help="ranked high and judged 0 (default: 10)")
        parser.add_argument("--easy", type=int, default=DEFAULT.easy, help="random, in no run’s top (default: 5)")
        parser.add_argument("--depth", type=int, default=DEFAULT.depth, help="ranks that count as high (default: 100)")
        parser.add_argument(
            "--seed", type=int, default=DEFAULT.seed, help=f"of the random ones (default: {DEFAULT.seed})"
        )
        parser.add_argument("--format", choices=list(CONTENT_TYPES), default="jsonl", help="default: jsonl")
        parser.add_argument("--out", metavar="FILE", type=Path, help="path of a new file (default: stdout)")

    def handle(self, *args: Any, **options: Any) -> None:
        version = self.version(options)
        runs = Run.objects.filter(project=version.gold_set.project, tag=options["run"]).select_related(
            "snapshot__corpus"
        )
        baseline = runs.first()
        if baseline is None:
            raise CommandError(f"There is no run “{options['run']}” in {options['project']}.", returncode=USAGE)
        if options["seed"] < 0:
            raise CommandError("The seed must be a whole number, 0 or more.", returncode=USAGE)
        choice = NegativesChoice(options["hard"], options["easy"], options["depth"], options["seed"])
        if reason := rules.negatives_refusal(baseline, version, options["split"], choice):
            raise CommandError(reason, returncode=REFUSED)
        proposal = NegativesProposal(
            version, baseline, scorable_runs(version), [options["split"]], choice, timezone.now()
        )
        self._warn(proposal)
        self._write(options["out"], negatives.lines(proposal, options["format"]))
        self._log(version, proposal, options["format"])

    def _warn(self, proposal: NegativesProposal) -> None:
        if Split.TEST in proposal.splits:
            self.stderr.write("These negatives reveal the test split. Do not train what you will measure on it.")
        if proposal.revoked:
            self.stderr.write("Queries whose permission has been revoked are left out.")
        if proposal.signatures is None:
            self.stderr.write("The near-duplicate index is not built. Only copies of relevant blocks are left out.")

    def _write(self, path: Path | None, lines: Iterator[str]) -> None:
        if path is None:
            for line in lines:
                sys.stdout.write(line)
            return
        try:
            with path.open("x", encoding="utf-8", newline="") as stream:
                stream.writelines(lines)
        except FileExistsError:
            raise CommandError(f"{path} already exists. Name a new file.", returncode=USAGE) from None
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.", returncode=USAGE) from None
        self.stdout.write(str(path))

    def _log(self, version: Version, proposal: NegativesProposal, form: str) -> None:
        log_export(version=version, actor=None, formats=[f"negatives-{form}"], splits=proposal.splits, at=proposal.at)
