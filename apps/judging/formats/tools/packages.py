"""The files of an export that is a zip, within the limits of every package, or the one file that it is."""

from collections.abc import Iterator

from apps.common.files.filekinds import ZIP_STARTS
from apps.common.files.tabular import TableFile
from apps.corpus.core.documents import UnreadFile
from apps.corpus.formats.packages import open_package


def is_zip(source: TableFile) -> bool:
    return not source.is_gzip and source.head(4) in ZIP_STARTS


def paths_in(source: TableFile) -> list[str]:
    """The paths of a zip on disk, without hidden ones. Raises InputError for a zip that is not read."""
    if source.path is None:
        raise source.error(None, "", "", "a zip is read from a file only, not from standard input")
    with open_package(source.path, source.name) as package:
        return package.paths


def files_in(source: TableFile, endings: tuple[str, ...]) -> Iterator[TableFile]:
    """The files with these endings, by path, one at a time; a file that is no zip is the only one.

    Raises InputError for one that cannot be unpacked.
    """
    if not is_zip(source):
        yield source
        return
    paths_in(source)
    assert source.path is not None
    with open_package(source.path, source.name) as package:
        for file in package.files():
            if not file.path.lower().endswith(endings):
                continue
            if isinstance(file, UnreadFile):
                raise source.error(None, "", file.path, f"this file is not read: {file.reason}")
            yield TableFile(file.path, file.stream, source.caps)
