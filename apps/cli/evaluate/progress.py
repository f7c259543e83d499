"""Progress of the queries, on standard error."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 24
STEP = 0.1


class Progress:
    """A bar on a terminal, else a line for every tenth, so that the log of a pipeline stays short."""

    def __init__(self, out: TextIO, *, is_quiet: bool = False) -> None:
        self._out = out
        self._is_quiet = is_quiet
        self._is_bar = out.isatty()
        self._began = time.monotonic()
        self._had: int | None = None
        self._shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        self._had = done if self._had is None else self._had
        share = done / total if total else 1.0
        if self._is_quiet:
            return
        if self._is_bar:
            filled = round(share * WIDTH)
            bar = "█" * filled + "░" * (WIDTH - filled)
            self._out.write(f"\r{bar} {self._words(done, total)}\x1b[K" + ("\n" if done == total else ""))
        elif done == total or share >= self._shown + STEP:
            self._shown = share
            self._out.write(f"{self._words(done, total)}\n")
        self._out.flush()

    def _words(self, done: int, total: int) -> str:
        fresh, seconds = done - (self._had or 0), time.monotonic() - self._began
        if not fresh or done == total:
            return f"{done:,} of {total:,} queries answered"
        return f"{done:,} of {total:,} queries answered, {(total - done) * seconds / fresh:,.0f} s to go"
