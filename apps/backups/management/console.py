"""The passphrase of a backup, and on standard error how far a backup or a restore is."""

import os
import sys
import time
from pathlib import Path
from typing import TextIO

from apps.backups.core.secrets import SHORTEST
from apps.common.errors import Refusal
from apps.jobs.core.progress import progress_line, seconds_left


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


EVERY_SECONDS, EVERY_SECONDS_IN_LOGS = 0.2, 10.0


class ProgressLine:
    """One line on a terminal that is written over and over, else a line every ten seconds."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out = out or sys.stderr
        self._is_terminal = out.isatty()
        self._every = EVERY_SECONDS if self._is_terminal else EVERY_SECONDS_IN_LOGS
        self._what, self._began = "", 0.0
        self._shown = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._began = what, now
        if now - self._shown < self._every:
            return
        self._shown = now
        line = f"{what}: {progress_line(done, total, seconds_left(done, total, now - self._began))}"
        self._out.write(f"\r{line}\x1b[K" if self._is_terminal else f"{line}\n")
        self._out.flush()

    def end(self) -> None:
        """Clear the line."""
        if self._is_terminal:
            self._out.write("\r\x1b[K")
            self._out.flush()
