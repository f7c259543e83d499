"""How far a backup or a restore is, on standard error."""

import sys
import time
from typing import TextIO

from apps.jobs.core.progress import progress_line, seconds_left

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
