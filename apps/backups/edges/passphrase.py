"""The passphrase of the server's keys: from a file or the environment, never from the command line."""

import os
from pathlib import Path

from apps.backups.core.secrets import SHORTEST
from apps.common.errors import Refusal


def read_passphrase(file: Path | None) -> str:
    """The first line of the file, else the variable; "" without either. Raises Refusal for a file without one."""
    if file is None:
        return os.environ.get("KARAT_BACKUP_PASSPHRASE", "")
    try:
        passphrase = file.read_text().partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is no text"
        raise Refusal(f"The passphrase cannot be read from {file}: {reason}.", code="no_passphrase") from None
    if not passphrase:
        raise Refusal(f"The first line of {file} is empty. Write the passphrase there.", code="no_passphrase")
    return passphrase


def new_passphrase(file: Path | None) -> str:
    """As `read_passphrase`. Raises Refusal where there is none, or where it is easy to guess."""
    passphrase = read_passphrase(file)
    if not passphrase:
        raise Refusal(
            "To include the keys of the server, give a passphrase: with --passphrase-file, or in "
            "KARAT_BACKUP_PASSPHRASE.",
            code="no_passphrase",
        )
    if len(passphrase) < SHORTEST:
        raise Refusal(f"The passphrase is too short: it needs at least {SHORTEST} characters.", code="no_passphrase")
    return passphrase
