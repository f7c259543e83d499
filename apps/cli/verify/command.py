"""`karat verify`: check an exported version without a server and without a database."""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.goldsets.formats.verification import NotAnExport, VerificationReport, verify

VERIFIED, CHANGED, UNREADABLE = 0, 1, 3


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds `verify` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "verify",
        help="check an exported version against its manifest",
        description="Check every file of an exported version against the digests of its manifest.",
        epilog="Exit codes: 0 intact, 1 changed, 2 wrong command line, 3 not an export.",
    )
    parser.add_argument("path", metavar="DIR", type=Path, help="an exported folder, or the zip file of one")
    parser.add_argument("--format", choices=["table", "json"], default="table", help="how to print")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    try:
        report = verify(args.path)
    except (NotAnExport, OSError, zipfile.BadZipFile) as error:
        print(f"karat verify: {error}", file=sys.stderr)
        return UNREADABLE
    if args.format == "json":
        print(json.dumps({"intact": report.is_intact, "files": report.checked, "faults": report.faults}))
    else:
        print("\n".join(_lines(report)))
    return VERIFIED if report.is_intact else CHANGED


def _lines(report: VerificationReport) -> Iterator[str]:
    yield from report.faults
    files = "1 file" if report.checked == 1 else f"{report.checked:,} files"
    if report.is_intact:
        yield f"Intact: {files}, {report.size:,} bytes, as the manifest says."
    else:
        count = len(report.faults)
        yield f"Changed: {count} {'fault' if count == 1 else 'faults'} in {files}."
