"""What was uploaded, on the host that wants to read it."""

from pathlib import Path

from apps.common.files import store
from apps.jobs.models import Upload

NEAR_BYTES = 8 << 20


def file_of(upload: Upload) -> Path:
    """The path of an uploaded file on this host, fetched when another one has taken it in.

    Raises FileGone where nobody has it any more, and BucketAway where the store does not answer.
    """
    return store.here(upload.path, sha256=upload.sha256)


def is_near(upload: Upload) -> bool:
    """Whether a request may wait for the file: this host has it, or it is small."""
    return upload.size <= NEAR_BYTES or upload.place.exists()
