"""The files below paths on disk, and packing them into one zip."""

import io
import os
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from apps.common.errors import InputError
from apps.common.files.faults import fault
from apps.corpus.formats.packages.unpacking import (
    GIT,
    LIMITS,
    TWICE,
    as_comment,
    commit_at,
    common_folder,
    counted,
    hidden_by,
    members_of,
    refusal_of,
    tidy,
)

Opener = Callable[[], BinaryIO]


def linked() -> BinaryIO:
    """The opener of a link to another file, which is packed as a link: whoever reads the package lists it as unread."""
    return io.BytesIO()


NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the earliest that a zip can have."""
PIECE = 1024 * 1024


def pack(files: Mapping[str, Opener], out: BinaryIO, hidden: Counter[str] | None = None) -> None:
    """Write the files, each opened when its turn comes, by their paths with forward slashes.

    The folder that somebody chose is part of the paths; who reads the package leaves it out again. `hidden` are the
    numbers of hidden files that are not among the files; None where those that are among them are all.
    """
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"" if hidden is None else as_comment(hidden)
        for path in sorted(files, key=tidy):
            entry = zipfile.ZipInfo(tidy(path), NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFLNK if files[path] is linked else stat.S_IFREG | 0o600) << 16
            with files[path]() as file, archive.open(entry, "w", force_zip64=True) as member:
                shutil.copyfileobj(file, member, PIECE)


def package_name(paths: Collection[str]) -> str:
    """What a package of these files is called: after their folder, or by the number of those that are not hidden."""
    shown = [path for path in map(tidy, paths) if not hidden_by(path)]
    folder = common_folder(shown).rstrip("/")
    return f"{folder or f'{len(shown)} files'}.zip"


def files_at(paths: Iterable[Path]) -> tuple[dict[str, Opener], Counter[str]]:
    """(the files to pack, by path: of a folder with its name on top, of a zip with the zip's; numbers of hidden ones).

    A folder of a Git checkout brings the commit. Raises InputError for a path that is not there, and for two that would
    have one name.
    """
    found: dict[str, Opener] = {}
    hidden = []
    for path in paths:
        for name, opener in _files(path):
            if hidden_by(name):
                hidden.append(name)
            elif name in found:
                raise fault(name, None, "", "", "this name is given twice; import the folder above both")
            else:
                found[name] = opener
        if path.is_dir() and (commit := commit_at(path)):
            found[f"{path.resolve().name}/{GIT}/HEAD"] = partial(io.BytesIO, commit.encode())
    return found, counted(hidden)


def _files(path: Path) -> Iterator[tuple[str, Opener]]:
    if path.is_dir():
        yield from _files_below(path.resolve())
    elif zipfile.is_zipfile(path) and path.suffix.lower() == ".zip":
        yield from _files_in(path)
    elif path.is_file():
        yield path.name, partial(_open, path)
    else:
        raise fault(str(path), None, "", "", "there is no such file or folder")


def _files_below(folder: Path) -> Iterator[tuple[str, Opener]]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in sorted([*names, *links]):
            path = Path(place) / name
            if path.is_symlink() or path.is_file():
                opener = linked if path.is_symlink() else partial(_open, path)
                yield f"{folder.name}/{path.relative_to(folder).as_posix()}", opener


def _files_in(path: Path) -> Iterator[tuple[str, Opener]]:
    archive = zipfile.ZipFile(path)
    try:
        members, doubles = members_of(archive, path.name, LIMITS)
        shown = ((name, info) for name, info in members.items() if not hidden_by(name))
        reasons = (TWICE for _ in doubles), (refusal_of(name, info, LIMITS) for name, info in shown)
        if reason := next(filter(None, chain(*reasons)), ""):
            message = f"not all of its files can be unpacked ({reason}); import this zip alone, and they are listed"
            raise fault(path.name, None, "", "", message)
    except InputError:
        archive.close()
        raise
    for name, info in members.items():
        yield f"{path.stem}/{name}", partial(_opened, archive, info)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    return cast(BinaryIO, archive.open(info))
