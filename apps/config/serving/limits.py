"""Limits on the time and the bytes of a client before and after a thread works for it, and on the number of clients."""

import resource
import tempfile
from dataclasses import dataclass
from pathlib import Path

from apps.common.web.body_limits import most_bytes_at

MOST_FILES = 8192
FILES_OF_OUR_OWN = 128
FILES_OF_A_CLIENT = 3  # its socket, its body, its answer


@dataclass(frozen=True)
class Limits:
    """Times in seconds. `deadline` is for bodies and answers: a grace period, then a least rate of bytes a second."""

    folder: Path
    file_bytes: int
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

    def body_bytes(self, path: str) -> int:
        """The longest body of a request for this path."""
        return most_bytes_at(path, self.file_bytes)

    def deadline(self, since: float, moved: int) -> float:
        return since + self.grace_seconds + moved / self.least_rate


def limits_from_settings(*, idle_seconds: float) -> Limits:
    """The limits of this process. Bodies are collected in the data directory, on a disk with room for them."""
    from django.conf import settings

    folder = Path(settings.INCOMING_DIR)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir())
    return Limits(
        folder=folder,
        file_bytes=settings.UPLOAD_MAX_BYTES,
        idle_seconds=idle_seconds,
        head_seconds=settings.CLIENT_HEAD_SECONDS,
        grace_seconds=settings.CLIENT_GRACE_SECONDS,
        least_rate=settings.CLIENT_LEAST_RATE,
    )


def room_for_clients() -> int:
    """For how many clients the open-file limit of this process suffices, after raising it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    else:
        most = MOST_FILES if soft == resource.RLIM_INFINITY else soft
    return max((most - FILES_OF_OUR_OWN) // FILES_OF_A_CLIENT, 16)
