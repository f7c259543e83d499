"""Many files as one zip: the same files give the same bytes, whenever and in whatever order they come."""

import io
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import BinaryIO

from apps.corpus.formats.packages.hidden import as_comment
from apps.corpus.formats.packages.paths import common_folder, tidy

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
    """What a package of these files is called: after their folder, or by their number."""
    folder = common_folder(map(tidy, paths)).rstrip("/")
    return f"{folder or f'{len(paths)} files'}.zip"
