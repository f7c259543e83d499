"""How long the body of a request may be, by its address: the one place that says it.

Middleware asks before anybody is asked who sends a body, and the parser while it reads. The web server takes what is at
most as long as the longest of them.
"""

import re

MOST_BYTES = 5_000_000
"""Of forms without a file and of JSON. Django's DATA_UPLOAD_MAX_MEMORY_SIZE is the same."""
MOST_BYTES_OF_A_RUN = 64 * 1024**2
KEPT_IN_MEMORY = 64 * 1024
DISK_RESERVE = 256 * 1024**2
"""While less is free on the disk of the data directory, no body longer than `KEPT_IN_MEMORY` is taken: what is left is
for people's work."""
FRAMING_BYTES = 1024**2  # what a form adds to the largest file
_RUNS = re.compile(r"/api/v1/projects/[^/]+/runs/")
_IMPORTED = "corpus|queries|queries/logs|collections|triples|judging|versions/training"
_FILES = re.compile(rf"/p/[^/]+/.*|/api/v1/projects/[^/]+/(?:{_IMPORTED})/imports/", re.DOTALL)


def most_bytes_at(path: str, largest_file: int) -> int:
    """The longest body that is taken at this path, where an uploaded file may have `largest_file` bytes."""
    if _FILES.fullmatch(path):
        return largest_file + FRAMING_BYTES
    if _RUNS.fullmatch(path):
        return MOST_BYTES_OF_A_RUN
    return MOST_BYTES


def too_large_in_words(most: int) -> str:
    limit = f"{most // 1024**2:,} MiB" if most % 1024**2 == 0 else f"{most:,} bytes"
    return f"A body here has at most {limit}. Send less at once, or use the command line for a file."
