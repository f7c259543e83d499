"""`karat verify`: check an exported version without a server and without a database."""

from __future__ import annotations

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from apps.common.text.wording import plural
from apps.goldsets.core.signing import PREFIX, NoKey, Signer, fingerprint, parse_public_key
from apps.goldsets.formats.verification import NotAnExport, VerificationReport, verify

VERIFIED, CHANGED, UNREADABLE, UNSIGNED = 0, 1, 3, 4


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Adds `verify` to the commands of `karat`."""
    parser = subparsers.add_parser(
        "verify",
        help="check an exported version against its manifest",
        description="Check every file of an exported version against the digests of its manifest.",
        epilog="Exit codes: 0 intact, and signed with the key where one is given; 1 changed; 2 wrong command line; "
        "3 not an export; 4 intact, but not signed with the key.",
    )
    parser.add_argument("path", metavar="DIR", type=Path, help="an exported folder, or the zip file of one")
    parser.add_argument(
        "--key", metavar="PUB", type=_key, help="the public key that must have signed it, or a file with it"
    )
    parser.add_argument("--format", choices=["table", "json"], default="table", help="how to print")
    parser.set_defaults(run=run)
    return parser


def run(args: argparse.Namespace) -> int:
    try:
        report = verify(args.path)
    except (NotAnExport, OSError, zipfile.BadZipFile) as error:
        print(f"karat verify: {error}", file=sys.stderr)
        return UNREADABLE
    refusal = _signature_refusal(report.signer, args.key) if report.is_intact else None
    if args.format == "json":
        print(json.dumps(_facts(report, refusal)))
    else:
        print("\n".join([*_lines(report), *_signature_lines(report, args.key, refusal)]))
    if not report.is_intact:
        return CHANGED
    return UNSIGNED if refusal else VERIFIED


def _key(text: str) -> str:
    """The key, or that in the file of this name."""
    try:
        path = Path(text)
        is_file = not text.startswith(PREFIX) and path.is_file()
        return parse_public_key(path.read_text(errors="replace") if is_file else text)
    except (NoKey, OSError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _signature_refusal(signer: Signer | None, key: str | None) -> str | None:
    """Why the signature is not the wanted one; None when it is, or none is wanted."""
    if key is None or (signer and signer.public_key == key):
        return None
    if signer is None:
        return f"Not signed, and the key {fingerprint(key)} was expected."
    return f"Signed with another key, {signer.fingerprint}; {fingerprint(key)} was expected."


def _signature_lines(report: VerificationReport, key: str | None, refusal: str | None) -> Iterator[str]:
    if refusal:
        yield refusal
    elif report.is_intact and report.signer:
        by = f"Signed by project {report.signer.project} with the key {report.signer.fingerprint}"
        yield f"{by}." if key else f"{by}. Whose key it is, --key PUB checks."


def _facts(report: VerificationReport, refusal: str | None) -> dict[str, Any]:
    signer = report.signer._asdict() | {"fingerprint": report.signer.fingerprint} if report.signer else None
    faults = [*report.faults, *([refusal] if refusal else [])]
    return {"intact": report.is_intact, "files": report.checked, "faults": faults, "signed_by": signer}


def _lines(report: VerificationReport) -> Iterator[str]:
    yield from report.faults
    files = plural(report.checked, "file")
    if report.is_intact:
        yield f"Intact: {files}, {report.size:,} bytes, as the manifest says."
    else:
        count = len(report.faults)
        yield f"Changed: {plural(count, 'fault')} in {files}."
