"""The file of a version for a test: from a server, stored by its digest, or from a folder of exported versions."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from apps.cli.client.client import Client, KaratError
from apps.cli.evaluate.released import ReleaseFiles, reference_in
from apps.goldsets.formats.verification import NotAnExport
from apps.goldsets.formats.zipping import MANIFEST

IN_PROJECT = re.compile(r"(?P<server>.*?)/p/(?P<project>[^/]+)(?:/.*)?\Z")
REFERENCE = re.compile(r"(?P<gold_set>[^/@\s]+)[/@]v(?P<number>[0-9]+)\Z")
DIGEST = re.compile(r"[0-9a-f]{16,128}\Z")


def is_address(place: str) -> bool:
    return place.startswith(("http://", "https://"))


def reference_of(version: str) -> str:
    """`doors@v2` and `doors/v2` as doors/v2. Raises KaratError."""
    match = REFERENCE.match(version.strip())
    if match is None:
        raise KaratError(f"{version!r} is no name of a version. Write GOLDSET@vN, such as doors@v2.")
    return f"{match['gold_set']}/v{match['number']}"


def server_and_project(address: str, project: str) -> tuple[str, str]:
    """The address of the server, and the project: as given, else as in the address of its pages. Raises KaratError."""
    match = IN_PROJECT.match(urlsplit(address)._replace(query="", fragment="").geturl())
    if match is not None:
        return match["server"], project or unquote(match["project"])
    if not project:
        raise KaratError(
            f"{address} names no project. Give the address of its pages, such as {address.rstrip('/')}/p/handbook."
        )
    return address.rstrip("/"), project


def pulled(client: Client, version: str, folder: Path) -> Path:
    """The zip of a version in the folder, downloaded where it is not there yet. Several processes may ask at once.

    Raises KaratError, and OSError where the folder cannot be written.
    """
    digest = str(client.version(version).get("digest") or "")
    if not DIGEST.match(digest):
        raise KaratError(f"{version} has no digest yet: it is not frozen.")
    target = folder / f"{digest}.zip"
    with locked(folder / f"{digest}.lock"):
        if not target.exists():
            client.pull(version, target, form="jsonl")
    return target


def found_in(place: Path, version: str) -> Path:
    """An exported version: the place itself, or what is in it under that name. Raises NotAnExport."""
    if is_export(place):
        name = _name_of(place)
        if version and name and name != version:
            raise NotAnExport(f"{place} is {name}, not {version}.")
        return place
    if not place.is_dir():
        raise NotAnExport(f"{place} is neither a folder nor the zip of an exported version.")
    names = {path: _name_of(path) for path in sorted(place.iterdir()) if is_export(path)}
    for path, name in names.items():
        if name == version:
            return path
    known = f"It has: {', '.join(sorted(filter(None, names.values())))}." if names else "It has no exported version."
    raise NotAnExport(f"{place} has no {version or 'version that is named'}. {known}")


def is_export(path: Path) -> bool:
    return path.suffix == ".zip" if path.is_file() else (path / MANIFEST).is_file()


def _name_of(path: Path) -> str:
    with suppress(ValueError, KeyError, OSError, AttributeError):
        return reference_in(json.loads(ReleaseFiles(path).text(MANIFEST)))
    return ""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Held by one process at a time; a process that dies lets go of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as handle:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
