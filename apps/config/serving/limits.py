"""Limits on the time and the bytes of a client, before and after a thread works for it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Limits:
    """Times in seconds. `deadline` is for bodies and answers: a grace period, then a least rate of bytes a second."""

    folder: Path
    body_bytes: int
    head_seconds: float = 10.0
    idle_seconds: float = 15.0
    grace_seconds: float = 20.0
    least_rate: int = 2048
    linger_seconds: float = 2.0
    linger_bytes: int = 64 * 1024**2
    head_bytes: int = 64 * 1024
    memory_bytes: int = 64 * 1024
    answer_bytes: int = 1024**3
    disk_reserve: int = 256 * 1024**2

    def deadline(self, since: float, moved: int) -> float:
        return since + self.grace_seconds + moved / self.least_rate
