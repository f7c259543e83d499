"""`SHA256SUMS`: the digest of every file of an export and of its manifest, as `sha256sum --check` reads it.

The manifest has the digest of each file; this has the manifest's. Each of the two says what the other must be, so that
no byte of either can change alone.
"""

from __future__ import annotations

import hashlib
from typing import Any

CHECKSUMS = "SHA256SUMS"
MANIFEST = "manifest.json"


def checksums(manifest: dict[str, Any], manifest_data: bytes) -> bytes:
    """The file, from the manifest and its bytes; lines in the bytewise order of paths."""
    digests = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    digests[MANIFEST] = hashlib.sha256(manifest_data).hexdigest()
    lines = [f"{digests[path]}  {path}\n" for path in sorted(digests, key=str.encode)]
    return "".join(lines).encode()
