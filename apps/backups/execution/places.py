"""Where backups are: in a file or a folder of this machine, or in a bucket by an address."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from apps.backups.rules import ENDING
from apps.common.errors import Refusal
from apps.common.files.buckets import Bucket, is_address


def place_of(text: str) -> Path | str:
    """What somebody has typed as the place of a backup: an address, or a path."""
    return text if is_address(text) else Path(text)


def folder_and_name(address: str) -> tuple[Bucket, str]:
    """The folder of an address, and the name of a backup in it; "" for the address of a folder."""
    if not address.endswith(ENDING):
        return Bucket(address), ""
    folder, _, name = address.rpartition("/")
    return Bucket(folder), name


@contextmanager
def opened(place: Path | str) -> Iterator[BinaryIO]:
    """A backup in a bucket or on a disk, to read."""
    if not is_address(place):
        with Path(place).open("rb") as stream:
            yield stream
        return
    bucket, name = folder_and_name(str(place))
    if not name or bucket.size(name) is None:
        raise Refusal(f"There is no backup {place}.", code="backup_unreadable")
    with bucket.opened(name) as stream:
        yield stream
