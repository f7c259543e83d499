"""Stores the files of a public release, gives them back, and checks that they are those that were prepared."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from apps.accounts.models import Project
from apps.audit.selectors.events import recorded_digests
from apps.common.database.bulk import insert_rows
from apps.goldsets.execution.exporting import FORGED, ExportRefused
from apps.goldsets.execution.publishing import Built
from apps.goldsets.models import PublicPart, PublicRelease, PublicStay

PART_BYTES = 1 << 20
STAY_COLUMNS = ("release_id", "kind", "name", "reason", "detail")


def keep_files(release: PublicRelease, files: Built) -> None:
    """Store the zip and what stays in, in place of those of an earlier build."""
    release.parts.all().delete()
    release.stays.all().delete()
    for number, data in enumerate(_parts_of(files.path)):
        PublicPart.objects.create(release=release, number=number, data=data)
    rows = ((release.pk, stay.kind, stay.name, stay.reason.value, stay.detail[:200]) for stay in files.selection.stays)
    insert_rows(PublicStay, STAY_COLUMNS, rows)


def stored_zip(release: PublicRelease) -> IO[bytes]:
    """The bytes that were prepared, as an open temporary file at its beginning. The caller closes it.

    Raises ExportRefused when they are not those with the digest of the release.
    """
    stream = tempfile.TemporaryFile()  # noqa: SIM115 - handed to the response, which closes it
    digest = hashlib.sha256()
    for data in _stored_parts(release):
        digest.update(data)
        stream.write(data)
    if digest.hexdigest() != release.digest:
        stream.close()
        raise ExportRefused(f"{_not_as_prepared(release)} {FORGED}", code="not_as_prepared")
    stream.seek(0)
    return stream


def public_faults(project: Project) -> Iterator[str]:
    """One sentence for each public release of the project whose bytes are not those that were prepared or released."""
    releases = PublicRelease.objects.filter(version__gold_set__project=project, parts__number=0).exclude(digest="")
    for release in releases.select_related("version__gold_set").order_by("pk"):
        digest = hashlib.sha256()
        for data in _stored_parts(release):
            digest.update(data)
        recorded = recorded_digests("public_release.prepared", release)
        if digest.hexdigest() != release.digest or release.digest not in recorded:
            yield _not_as_prepared(release)


def _stored_parts(release: PublicRelease) -> Iterator[bytes]:
    for data in release.parts.order_by("number").values_list("data", flat=True).iterator(chunk_size=8):
        yield bytes(data)


def _not_as_prepared(release: PublicRelease) -> str:
    return f"The public release of {release.version}: its files are not those with the digest {release.digest}."


def _parts_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(PART_BYTES):
            yield chunk
